import type { BrowserContext, Page } from '@playwright/test'
import { newEmail } from './buyer.ts'
import { mailsTo } from './seller.ts'
import { BASE_URL, SIZES, expect, expectAccessible, expectFits, test } from './fixtures.ts'
import { buy, codeIn, demoSeller, order } from './orders.ts'

// In sequence, because the tests share a seller, who signs in once.
test.describe.configure({ mode: 'default' })

let cookies: Awaited<ReturnType<typeof demoSeller>>['cookies']
test.beforeAll(async ({ browser }) => {
  cookies = (await demoSeller(browser)).cookies
})
test.beforeEach(({ context }) => context.addCookies(cookies))

const open = (page: Page, orderId: string) => page.goto(`/shop/#/orders/${orderId}`)
const refundButton = (page: Page) => page.getByRole('button', { name: 'Refund…' })
const refunds = (page: Page) => page.getByRole('region', { name: 'Refunds' }).getByRole('listitem')
/** The lines of the slip with amounts. */
const sums = (page: Page) => page.locator('.slip .lines:not(.facts) > div')

test('an order is found while typing, a late answer changes nothing, and the way back leads to the same list', async ({
  page,
}) => {
  const { email, orderId } = await buy(page.request)
  let late: (() => Promise<void>) | undefined
  await page.route(/\/api\/orders\?q=buyer-?$/, (route) => {
    late = () => route.continue().catch(() => {})
  })
  await page.goto('/shop/#/orders')
  const rows = page.getByRole('main').locator('.orders > li')
  await expect(rows.first()).toBeVisible()
  await page.getByLabel('Search').pressSequentially('buyer-')
  await expect.poll(() => late !== undefined).toBe(true)
  await page.getByLabel('Search').pressSequentially(email.slice('buyer-'.length, -'@example.com'.length))
  await expect(rows).toHaveCount(1)
  await late!()
  await expect(rows).toHaveText(new RegExp(email))
  await expect(page).toHaveURL(/#\/orders\?q=buyer-\w+$/)
  await page.getByLabel('Paid with').selectOption('UPI')
  await expect(page.getByRole('heading', { name: 'No order matches.' })).toBeVisible()
  await page.goBack()
  await expect(rows).toHaveCount(1)
  await page.getByRole('link', { name: email }).press('Enter')
  await expect(page).toHaveURL(new RegExp(orderId))
  await expect(page.getByRole('heading', { level: 1 })).toBeFocused()
  await page.goBack()
  await expect(page.getByLabel('Search')).toHaveValue(/^buyer-\w+$/)
  await expect(rows).toHaveCount(1)
  const [file] = await Promise.all([page.waitForEvent('download'), page.getByRole('link', { name: /CSV/ }).click()])
  expect(file.suggestedFilename()).toMatch(/orders.*\.csv$/)
})

test('an order is listed with the time by which it is filtered, and with the day of its payment', async ({ page }) => {
  const { email, orderId } = await buy(page.request)
  await page.route(/\/api\/orders\?/, async (route) => {
    const response = await route.fetch()
    const list = (await response.json()) as { items: object[] }
    const times = { createdAt: '2026-10-12T12:00:00.000Z', paidAt: '2026-10-15T12:00:00.000Z' }
    await route.fulfill({ json: { ...list, items: list.items.map((one) => ({ ...one, ...times })) } })
  })
  await page.goto(`/shop/#/orders?q=${orderId}`)
  const row = page.getByRole('listitem').filter({ hasText: email })
  await expect(row.locator('.when')).toHaveText(/^Oct 12, 2026, \d.* · paid Oct 15, 2026 · Card$/)
  await page.setViewportSize({ width: 390, height: 844 })
  await expectFits(page, 'an order that was paid on another day')
})

test('a refund whose response is lost is requested again, and made once', async ({ page }) => {
  const { email, orderId } = await buy(page.request)
  await open(page, orderId)
  await expect(sums(page)).toHaveText(['Paid by the buyer₹499.00', /^Fee.*−₹9\.98$/, 'You keep₹489.02'])
  await refundButton(page).click()
  await expect(page.getByRole('dialog', { name: 'Refund this order' })).toContainText('The files end at once')
  await page.getByRole('radio', { name: 'A part of it' }).check()
  await page.getByLabel('Amount in INR').fill('600')
  await page.keyboard.press('Enter')
  await expect(page.getByText('No more than ₹499.00 is left to go back.')).toBeVisible()
  await page.getByLabel('Amount in INR').fill('100')
  const dialog = page.getByRole('dialog')
  for (const words of [`₹100.00 goes back to ${email}`, 'The buyer keeps the files.', '₹2.00 of the fee', '₹98.00'])
    await expect(dialog).toContainText(words)

  // The request arrives, and its answer does not.
  let asked = 0
  await page.route('**/refunds', async (route) => {
    asked += 1
    if (asked > 1) return route.continue()
    await route.fetch()
    await route.abort('connectionreset')
  })
  await dialog.getByRole('button', { name: 'Refund ₹100.00' }).dblclick()
  await expect(dialog.getByRole('alert')).toContainText('We do not know whether the refund of ₹100.00 was made.')
  await expect(dialog.getByRole('textbox')).toHaveCount(0)
  await dialog.getByRole('button', { name: 'Close, and look' }).click()
  await page.reload()
  await refundButton(page).click()
  await expect(dialog.getByRole('alert')).toContainText('We do not know whether the refund of ₹100.00 was made.')
  await dialog.getByRole('button', { name: 'Ask again' }).click()
  await expect(dialog).toHaveCount(0)
  await expect(page.getByText('The refund is on its way. The buyer is told by mail.')).toBeVisible()
  await expect(refundButton(page)).toBeFocused()
  expect(asked).toBe(2)
  await expect(refunds(page)).toHaveCount(1)
  await expect(refunds(page)).toContainText('Done')
  await expect(sums(page)).toHaveText([
    'Paid by the buyer₹499.00',
    /^Fee.*−₹9\.98$/,
    'Refunded−₹100.00',
    'Fee returned₹2.00',
    'You keep₹391.02',
  ])

  await page.getByText('How the fee was computed').click()
  await expect(page.getByText(/of ₹499\.00 is exactly ₹9\.98\./)).toBeVisible()
  await page.getByRole('link', { name: 'Every transfer of this order' }).click()
  const transfers = page.locator('.entry .number')
  await expect(transfers).toHaveCount(4)
  // The newest first, and transfers of one moment in the order of booking.
  expect(await transfers.allTextContents()).toEqual(['−₹100.00', '+₹2.00', '+₹499.00', '−₹9.98'])
})

test('a refund that is refused in the middle moves nothing, says so, and the key Escape leads out', async ({
  page,
}) => {
  const { orderId } = await buy(page.request)
  await open(page, orderId)
  await page.route('**/refunds', (route) =>
    route.fulfill({
      status: 409,
      contentType: 'application/problem+json',
      json: { status: 409, code: 'order_not_refundable', detail: 'All of this order was refunded already.' },
    }),
  )
  await refundButton(page).press('Enter')
  await page.getByRole('button', { name: 'Refund ₹499.00' }).press('Enter')
  await expect(page.getByRole('dialog').getByRole('alert')).toContainText('No money was moved.')
  await page.keyboard.press('Escape')
  await expect(page.getByRole('dialog')).toHaveCount(0)
  await expect(refundButton(page)).toBeFocused()
  await expect(refunds(page)).toHaveCount(0)
})

test('a dialog stays open while its request runs, however often Escape is pressed, and shows the refusal', async ({
  page,
}) => {
  const { orderId } = await buy(page.request)
  await open(page, orderId)
  let answer = () => {}
  const held = new Promise<void>((resolve) => (answer = resolve))
  await page.route('**/refunds', async (route) => {
    await held
    await route.fulfill({
      status: 409,
      json: { status: 409, code: 'order_not_refundable', detail: 'Refunded already.' },
    })
  })
  const dialog = page.getByRole('dialog')
  await refundButton(page).press('Enter')
  await dialog.getByRole('button', { name: 'Refund ₹499.00' }).press('Enter')
  await expect(dialog.getByRole('button', { name: 'Asking for the refund…' })).toBeVisible()
  // The browser itself closes a dialog on the second press.
  for (let presses = 1; presses <= 3; presses += 1) {
    await page.keyboard.press('Escape')
    await expect(dialog).toBeVisible()
  }
  answer()
  await expect(dialog.getByRole('alert')).toContainText('No money was moved.')
  await page.keyboard.press('Escape')
  await expect(dialog).toHaveCount(0)
  await expect(refundButton(page)).toBeFocused()
  await refundButton(page).press('Enter')
  await expect(dialog).toBeVisible()
})

test('an address whose confirmation lost its answer opens the order at the next press', async ({ page, browser }) => {
  const { orderId } = await buy(page.request)
  const right = newEmail()
  await open(page, orderId)
  await page.getByRole('button', { name: 'Change the address…' }).click()
  await page.getByLabel('New address').fill('ann@gmial.com')
  await page.getByLabel('New address').press('Tab')
  await page.getByRole('dialog').getByRole('button', { name: 'ann@gmail.com' }).press('Enter')
  await expect(page.getByLabel('New address')).toBeFocused()
  await expect(page.getByLabel('New address')).toHaveValue('ann@gmail.com')
  await page.getByLabel('New address').fill(right)
  await page.keyboard.press('Enter')
  await expect(page.getByText(`A code is on its way to ${right}.`)).toBeVisible()
  const theirs = await newBuyer(browser)
  const buyer = await theirs.newPage()
  await buyer.goto(`/order/?order=${orderId}#email`)
  await buyer.getByLabel('E-mail').fill(right)
  const code = await codeIn(theirs, right, /confirm your address/)
  await buyer.getByLabel('Code').fill(code)
  // a language that is chosen keeps both
  await buyer.locator('#language select').selectOption('de')
  await expect(buyer.getByLabel('E-Mail')).toHaveValue(right)
  await expect(buyer.locator('#code')).toHaveValue(code)
  await buyer.locator('#language select').selectOption('en')
  await expect(buyer.getByLabel('Code')).toHaveValue(code)
  await buyer.route('**/api/checkout/*/email', async (route) => {
    await route.fetch()
    await route.abort()
  })
  await buyer.getByRole('button', { name: 'Confirm the address' }).click()
  await expect(buyer.getByRole('alert')).toBeVisible()
  await buyer.unroute('**/api/checkout/*/email')
  await buyer.getByRole('button', { name: 'Confirm the address' }).click()
  await expect(buyer.getByRole('heading', { name: 'Thank you. It’s yours.' })).toBeVisible()
})

test('a mistyped address changes after the reader of the right one has confirmed it', async ({ page, browser }) => {
  const { email, orderId } = await buy(page.request)
  const right = newEmail()
  await open(page, orderId)
  await page.getByRole('button', { name: 'Change the address…' }).click()
  const field = page.getByLabel('New address')
  await field.fill('ann@gmial.con')
  await page.keyboard.press('Tab')
  await expect(page.getByRole('button', { name: 'ann@gmail.com' })).toBeVisible()
  await field.fill(right)
  await page.keyboard.press('Enter')
  await expect(page.getByText(`A code is on its way to ${right}.`)).toBeVisible()
  await expect(page.getByText('Another address waits to be confirmed.')).toBeVisible()

  const theirs = await newBuyer(browser)
  const buyer = await theirs.newPage()
  await buyer.goto(`/order/?order=${orderId}#email`)
  const code = await codeIn(theirs, right, /confirm your address/)
  await buyer.getByLabel('E-mail').fill(right)
  await buyer.getByLabel('Code').fill(code === '111111' ? '222222' : '111111')
  await buyer.getByRole('button', { name: 'Confirm the address' }).click()
  await expect(buyer.getByText(/This code is not right for this order and address/)).toBeVisible()
  await expect(buyer.getByLabel('Code')).toBeFocused()
  await expectAccessible(buyer, 'confirming an address')
  // The same code, in the digits of another script.
  await buyer.getByLabel('Code').fill(code.replace(/\d/g, (digit) => '٠١٢٣٤٥٦٧٨٩'[Number(digit)]!))
  await buyer.keyboard.press('Enter')
  await expect(buyer.getByRole('heading', { name: 'Your address is confirmed' })).toBeFocused()
  await expect(buyer.getByText(/unless the owner of the old address keeps it there/)).toBeVisible()
  await expectAccessible(buyer, 'an address that is confirmed')
  const onward = buyer.getByRole('button', { name: 'Open the order' })
  await expect(onward, 'the only action of the page stands out').toHaveClass(/\bmain\b/)
  await onward.click()
  await expect(buyer.getByRole('heading', { name: 'Thank you. It’s yours.' })).toBeFocused()
  await expect(buyer).toHaveURL(new RegExp(`order=${orderId}$`))

  // One press lets the old mailbox keep its order.
  let link: string | undefined
  await expect
    .poll(async () => {
      const mails = await mailsTo(theirs, email, process.env.BASE_URL)
      link = /http\S+#keep=[\w.-]+/.exec(
        mails.find(({ subject }) => /stay at this address/.test(subject))?.text ?? '',
      )?.[0]
      return link
    })
    .toBeDefined()
  await expect(async () => {
    await page.reload()
    await expect(page.getByText(/has confirmed it, and both addresses open the order\. It moves on /)).toBeVisible({
      timeout: 20_000,
    })
  }).toPass()
  const old = await theirs.newPage()
  await old.goto(`/order/${new URL(link!).search}${new URL(link!).hash}`)
  await expect(old.getByRole('heading', { name: 'Does this order stay at your address?' })).toBeVisible()
  await look(old, 'whether an order stays')
  await old.getByRole('button', { name: 'Let the order move' }).click()
  await expect(old.getByText('The code has six digits.')).toBeVisible()
  await expect(old.getByLabel('Code')).toBeFocused()
  await old.getByRole('button', { name: 'Keep the order at my address' }).click()
  await expect(old.getByRole('heading', { name: 'The order stays at your address' })).toBeFocused()
  await old.goto('about:blank')
  await old.goto(`/order/${new URL(link!).search}${new URL(link!).hash}`)
  await old.getByRole('button', { name: 'Keep the order at my address' }).press('Enter')
  await expect(old.getByRole('heading', { name: 'The order stays at your address' })).toBeFocused()
  // A link from the order's former address still leads to the order.
  await old.goto('about:blank')
  await old.goto(`/order/${new URL(link!).search}#keep=another`)
  await old.getByRole('button', { name: 'Keep the order at my address' }).click()
  await expect(old.getByRole('heading', { name: 'The order has another address now' })).toBeFocused()
  await expectAccessible(old, 'an order that has moved')
  await old.getByRole('button', { name: 'Open the order' }).click()
  await expect(old).toHaveURL(new RegExp(`order=${orderId}$`))
  await expect(old.getByLabel('E-mail')).toBeVisible()
  await theirs.close()

  await page.reload()
  await expect(page.locator('.order-detail').getByText(email).first()).toBeVisible()
  await expect(page.getByText(right)).toHaveCount(0)
})

test('changing a buyer’s address needs a fresh sign-in, and the typed text is there after it', async ({
  page,
  browser,
}) => {
  const { orderId } = await buy(page.request)
  await page.route(`**/api/orders/${orderId}/email`, (route) =>
    route.fulfill({
      status: 403,
      contentType: 'application/problem+json',
      json: { status: 403, code: 'recent_sign_in_required', detail: 'This can be changed for ten minutes.' },
    }),
  )
  await open(page, orderId)
  await page.getByRole('button', { name: 'Change the address…' }).click()
  const right = newEmail()
  await page.getByLabel('New address').fill(right)
  await page.keyboard.press('Enter')
  await expect(page.getByRole('dialog').getByRole('alert')).toContainText('Please sign in again first.')
  await page.getByRole('dialog').getByRole('button', { name: 'Sign in again' }).click()
  await expect(page).toHaveURL(/\/sign-in\/\?returnTo=\/shop\/&again=1/)
  await page.unrouteAll()
  await page.context().addCookies((await demoSeller(browser)).cookies)
  await page.goto('/shop/')
  await expect(page).toHaveURL(new RegExp(`#/orders/${orderId}$`))
  await expect(page.getByLabel('New address')).toHaveValue(right)
  await page.getByLabel('New address').press('Enter')
  await expect(page.getByText(`A code is on its way to ${right}.`)).toBeVisible()
  // After it was done or closed, the dialog does not open again.
  await page.reload()
  await expect(page.getByText('Another address waits to be confirmed.')).toBeVisible()
  await expect(page.getByRole('dialog')).toHaveCount(0)
})

const newBuyer = (browser: { newContext: (options: object) => Promise<BrowserContext> }) =>
  browser.newContext({ baseURL: process.env.BASE_URL })

/** On a phone and on a desk, in the light and in the dark theme. */
async function look(page: Page, what: string): Promise<void> {
  await expectAccessible(page, what)
  for (const { viewport } of Object.values(SIZES)) {
    await page.setViewportSize(viewport)
    await expectFits(page, what)
  }
}

test('the lists of orders and of transfers are legible to everybody', async ({ page }) => {
  await buy(page.request)
  await page.goto('/shop/#/orders')
  await expect(page.locator('.orders > li').first()).toBeVisible()
  await look(page, 'orders')
  await page.goto('/shop/#/money')
  await expect(page.locator('.entry .number').first()).toBeVisible()
  await look(page, 'money')
})

test('an order and its refund are legible to everybody', async ({ page }) => {
  const { orderId } = await buy(page.request)
  await open(page, orderId)
  await expect(refundButton(page)).toBeVisible()
  await look(page, 'an order')
  await refundButton(page).click()
  await page.getByRole('radio', { name: 'A part of it' }).check()
  await look(page, 'refunding')
})

/** The buyer's statement, with the order open at its seller. */
async function withdraw(page: Page, { email, orderId }: { email: string; orderId: string }): Promise<void> {
  const data = { key: `shop-orders-${orderId}`, name: 'Bob Buyer', contract: orderId, email }
  expect((await page.request.post('/api/withdrawals', { data, headers: { origin: BASE_URL } })).status()).toBe(201)
  await open(page, orderId)
  await expect(async () => {
    await page.reload()
    await expect(page.getByText('A buyer withdraws from the contract.')).toBeVisible({ timeout: 20_000 })
  }).toPass()
}

test('after a withdrawal, a refund that the bank refused is asked for again as a new one', async ({ page }) => {
  const bought = await buy(page.request, newEmail(), 'failed_refund')
  await withdraw(page, bought)
  const refund = page.getByRole('button', { name: 'Refund ₹499.00 now' })
  // The second press of a double-click finds the button busy.
  await refund.dblclick()
  await expect(page.getByText('The refund is on its way. The buyer is told by mail.')).toBeVisible()
  await expect(refunds(page)).toHaveText([/Failed/])
  await expect(refund).not.toHaveAttribute('aria-disabled')
  await refund.click()
  await expect(refunds(page)).toHaveCount(2)
})

test('a withdrawal from an order that is not paid offers no refund', async ({ page }) => {
  const unpaid = await order(page.request)
  const data = { clientSecret: unpaid.clientSecret, rail: 'card', scenario: 'wrong_amount' }
  expect((await page.request.post('/api/sandbox/confirm', { data })).status()).toBe(200)
  await expect
    .poll(async () => {
      const answer = await page.request.get(`/api/checkout/${unpaid.orderId}/status?email=${unpaid.email}&sync=1`)
      return ((await answer.json()) as { status: string }).status
    })
    .toBe('needs_review')
  await withdraw(page, unpaid)
  await expect(page.getByText('The order is not paid yet, so there is nothing to refund.')).toBeVisible()
  await expect(page.getByRole('button', { name: 'Nothing is left to do' })).toBeVisible()
  await expect(page.getByRole('button', { name: /^Refund/ })).toHaveCount(0)
})

test('a refund in a withdrawal’s notice whose answer was lost is named by its own amount, and its failure is said', async ({
  page,
}) => {
  const bought = await buy(page.request, newEmail(), 'failed_refund')
  await withdraw(page, bought)
  await page.route('**/refunds', async (route) => {
    await route.fetch()
    await route.abort('connectionreset')
  })
  await refundButton(page).click()
  await page.getByRole('radio', { name: 'A part of it' }).check()
  await page.getByLabel('Amount in INR').fill('100')
  await page.keyboard.press('Enter')
  await expect(page.getByRole('dialog').getByRole('alert')).toContainText('We do not know whether')
  await page.getByRole('button', { name: 'Close, and look' }).click()
  const again = page.getByRole('button', { name: 'Ask again for the refund of ₹100.00' })
  await expect(again).toBeVisible()
  await expect(refundButton(page)).toBeFocused()
  await page.reload()
  await expect(page.getByText('We do not know whether this refund was made')).toBeVisible()
  await expect(refunds(page)).toHaveText([/Failed/])
  await page.unroute('**/refunds')
  await again.click()
  await expect(page.getByText('This refund did not go through: the money stayed with you.')).toBeVisible()
  await expect(page.getByText('The refund is on its way.')).toHaveCount(0)
  await expect(page.getByRole('button', { name: 'Refund ₹499.00 now' })).toBeEnabled()
  await expect(refunds(page)).toHaveCount(1)
})

for (const isRefused of [false, true])
  test(`a withdrawal’s answer that ${isRefused ? 'fails' : 'comes'} while a dialog is open leaves the dialog alone`, async ({
    page,
  }) => {
    await withdraw(page, await buy(page.request))
    const [asked, answered] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    await page.route('**/withdrawals/done', async (route) => {
      asked.resolve()
      await answered.promise
      return isRefused ? route.abort('connectionreset') : route.continue()
    })
    const done = page.getByRole('button', { name: 'Nothing is left to do' })
    await done.click()
    await asked.promise
    await page.getByRole('button', { name: 'Change the address…' }).click()
    const typed = newEmail()
    await page.getByLabel('New address').fill(typed)
    await expect(page.locator('button', { hasText: 'Nothing is left to do' })).toHaveAttribute('aria-disabled', 'true')
    answered.resolve()
    const answer = isRefused ? 'The service cannot be reached right now.' : 'Noted: nothing is left to do'
    await expect(page.getByText(answer)).toBeVisible()
    await expect(page.getByLabel('New address')).toHaveValue(typed)
    await page.keyboard.press('Escape')
    await expect(page.getByRole('dialog')).toHaveCount(0)
    await expect(page.getByText(answer)).toBeVisible()
  })

for (const [size, options] of Object.entries(SIZES))
  test.describe(size, () => {
    test.use(options)

    test('a withdrawal needs attention, and one press refunds the order', async ({ page }) => {
      const { email, orderId } = await buy(page.request)
      await withdraw(page, { email, orderId })
      await expect(page.getByText('Bob Buyer')).toBeVisible()
      await expectFits(page, 'an order that was withdrawn from')
      await expectAccessible(page, 'an order that was withdrawn from')
      // as when nothing is on sale any more
      await page.route('**/api/products?limit=25', async (route) => {
        const response = await route.fetch()
        const { items, ...rest } = (await response.json()) as { items: object[] }
        await route.fulfill({ response, json: { ...rest, items: items.map((one) => ({ ...one, status: 'draft' })) } })
      })
      await page.goto('/shop/#/')
      await expect(page.getByRole('link', { name: /^A buyer withdraws from the contract/ }).first()).toBeVisible()
      await open(page, orderId)
      await page.getByRole('button', { name: 'Refund ₹499.00 now' }).click()
      await expect(page.getByText('The refund is on its way. The buyer is told by mail.')).toBeVisible()
      await expect(page.getByText('A buyer withdrew from the contract.')).toBeVisible()
      await expect(page.getByRole('button', { name: /^Refund/ })).toHaveCount(0)
    })
  })
