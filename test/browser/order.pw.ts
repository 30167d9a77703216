import type { Page } from '@playwright/test'
import { en } from '../../src/words/en.ts'
import { expectDownloads, expectPaid, makeOrder, newEmail, payWith } from './buyer.ts'
import { SIZES, expect, expectAccessible, expectFits, test } from './fixtures.ts'
import { buy } from './orders.ts'

/** An order made on this device. */
async function buyHere(page: Page): Promise<{ email: string; orderId: string }> {
  const order = await makeOrder(page)
  await payWith(page)
  await expectPaid(page)
  return order
}

/** An order made elsewhere and opened on this device, which knows it from then on. */
async function open(page: Page): Promise<Awaited<ReturnType<typeof buy>>> {
  const bought = await buy(page.request)
  await page.goto(`/order/?order=${bought.orderId}`)
  await page.getByLabel('E-mail').fill(bought.email)
  await page.getByRole('button', { name: 'Show the order' }).click()
  await expect(page.getByRole('heading', { name: 'Thank you. It’s yours.' })).toBeVisible()
  return bought
}

test('on the device that bought, the receipt and the files are there at once', async ({ page }) => {
  const { email, orderId } = await buyHere(page)
  await page.goto(`/order/?order=${orderId}`)
  await expect(page.getByRole('heading', { name: 'Thank you. It’s yours.' })).toBeVisible()
  const receipt = page.getByRole('complementary', { name: 'Receipt' })
  for (const fact of ['The Quiet Shop', '₹499.00', 'Card', email, orderId, 'TILL* THE QUIET SHOP']) {
    await expect(receipt.getByText(fact, { exact: true })).toBeVisible()
  }
  for (const step of ['Order created', 'Bank approved', 'Payment confirmed', 'Files ready']) {
    await expect(page.getByRole('listitem').filter({ hasText: `${step}: done` })).toBeVisible()
  }
  await expectDownloads(page, orderId, email)
})

test('on another device the page asks for the address, and the right one opens the order', async ({
  page,
  request,
}) => {
  const { email, orderId } = await buy(request)
  await page.goto(`/order/?order=${orderId}`)
  await page.getByLabel('E-mail').fill(` ${email.toUpperCase()} `)
  await page.getByRole('button', { name: 'Show the order' }).click()
  await expect(page.getByRole('heading', { name: 'Thank you. It’s yours.' })).toBeFocused()
  await expect(page.getByRole('link', { name: /^Download / })).toHaveCount(3)
})

test('a wrong address and a wrong number are answered alike, and reveal nothing', async ({ page, request }) => {
  const { orderId } = await buy(request)
  const answers: string[] = []
  for (const id of [orderId, 'ord_00000000000000000000000000', 'nonsense']) {
    await page.goto(`/order/?order=${id}`)
    await page.getByLabel('E-mail').fill(newEmail())
    await page.getByRole('button', { name: 'Show the order' }).click()
    await expect(page.getByRole('alert')).toContainText('Nothing matches this order number and e-mail.')
    await expect(page.getByText('The Quiet Shop')).toHaveCount(0)
    await expect(page.getByText('₹499.00')).toHaveCount(0)
    answers.push((await page.getByRole('main').innerText()).replaceAll(id, '…'))
  }
  expect(new Set(answers).size).toBe(1)
})

test('where no answer comes, the page does not blame the typing', async ({ page, request, context }) => {
  const { email, orderId } = await buy(request)
  await page.goto(`/order/?order=${orderId}`)
  await page.getByLabel('E-mail').fill(newEmail())
  await page.getByRole('button', { name: 'Show the order' }).click()
  await expect(page.getByRole('alert')).toContainText('Please check for typing errors and try again.')
  await page.getByLabel('E-mail').fill(email)
  await context.setOffline(true)
  await page.getByRole('button', { name: 'Show the order' }).click()
  await expect(page.getByRole('alert')).toContainText('offline')
  await expect(page.getByText('Please check for typing errors')).toHaveCount(0)
})

test('a link in the footer keeps the focus when the page asks for the order again', async ({ page }) => {
  await open(page)
  const link = page.locator('.foot').getByRole('link', { name: 'Till' })
  await link.focus()
  // the next answer differs in a part that the page draws elsewhere
  await page.route(/\/status\?/, async (route) => {
    const response = await route.fetch()
    await route.fulfill({ response, json: { ...(await response.json()), receiptHeld: true } })
  })
  await page.evaluate(() => document.dispatchEvent(new Event('visibilitychange')))
  await expect(page.getByText(en.order.noReceipt, { exact: true })).toBeVisible()
  await expect(link).toBeFocused()
})

test('an order is found by its number and address, typed by hand', async ({ page, request }) => {
  const { email, orderId } = await buy(request)
  await page.goto('/order/')
  await page.getByLabel('Order number').fill(` ${orderId} `)
  await page.getByLabel('E-mail').fill(email)
  await page.getByRole('button', { name: 'Show the order' }).click()
  await expect(page.getByRole('link', { name: /^Download / })).toHaveCount(3)
})

test('a missing number or address is named at its field, which gets the focus', async ({ page }) => {
  await page.goto('/order/')
  const [number, email] = [page.getByLabel('Order number'), page.getByLabel('E-mail')]
  const show = page.getByRole('button', { name: 'Show the order' })
  await show.click()
  await expect(number).toBeFocused()
  await expect(number).toHaveAttribute('aria-invalid', 'true')
  await expect(number).toHaveAccessibleDescription('Please enter the order number.')
  await expect(email).not.toHaveAttribute('aria-invalid')
  await expectAccessible(page, 'a missing order number')
  // the receipt has both, the short one first
  await number.fill('K4QW-6KFZ')
  await show.click()
  await expect(number).toBeFocused()
  await expect(number).toHaveAccessibleDescription(en.order.numberIsShort)
  await number.fill('ord_x')
  await expect(number).not.toHaveAttribute('aria-invalid')
  await show.click()
  await expect(email).toBeFocused()
  await expect(email).toHaveAccessibleDescription('Please enter the e-mail address of the order.')
})

test('the receipt is sent again, and its link opens the order', async ({ page }) => {
  const { email, orderId } = await open(page)
  await page.getByRole('button', { name: 'Send the receipt again' }).click()
  await expect(page.getByText(`The receipt is on its way to ${email}.`)).toBeVisible()
  await page.goto(`/outbox/?to=${email}`)
  await expect(page.getByText('2 mails')).toBeVisible()
  const mail = page.frameLocator('iframe[title="The mail as sent"]')
  await expect(mail.getByText(orderId).first()).toBeVisible()
  await page.getByRole('button', { name: 'Plain text' }).click()
  await page.getByRole('link', { name: `/order/?order=${orderId}` }).click()
  await expect(page.getByRole('heading', { name: 'Thank you. It’s yours.' })).toBeVisible()
})

test('a refund is shown on an open page that is looked at again', async ({ page }) => {
  const { clientSecret } = await open(page)
  await expect(page.getByRole('link', { name: /^Download / })).toHaveCount(3)
  const refund = (amount?: number) => page.request.post('/api/sandbox/refund', { data: { clientSecret, amount } })
  const look = () => page.evaluate(() => document.dispatchEvent(new Event('visibilitychange')))

  expect((await refund(10_000)).status()).toBe(200)
  await expect(async () => {
    await look()
    await expect(page.getByText('−₹100.00')).toBeVisible({ timeout: 1_000 })
  }).toPass()
  await expect(sums(page)).toHaveText(['Total₹499.00', 'Refunded−₹100.00', 'Net paid₹399.00'])
  await expect(page.getByRole('link', { name: /^Download / })).toHaveCount(3)

  expect((await refund()).status()).toBe(200)
  await expect(async () => {
    await look()
    await expect(page.getByRole('heading', { name: 'This order was refunded' })).toBeVisible({ timeout: 1_000 })
  }).toPass()
  await expect(page.getByRole('link', { name: /^Download / })).toHaveCount(0)
  await expect(sums(page)).toHaveText(['Total₹499.00', 'Refunded−₹499.00', 'Net paid₹0.00'])
})

test('the receipt of a payment that the bank took back adds up, and one that stands has its total alone', async ({
  page,
}) => {
  const { orderId } = await open(page)
  let change = {}
  await page.route('**/status?**', async (route) => {
    const response = await route.fetch()
    await route.fulfill({ response, json: { ...(await response.json()), ...change } })
  })
  for (const [told, lines] of [
    [{}, ['Total₹499.00']],
    [
      { status: 'charged_back', chargedBackAmount: 49_900 },
      ['Total₹499.00', 'Reversed by your bank−₹499.00', 'Net paid₹0.00'],
    ],
    [
      { status: 'charged_back', refundedAmount: 9_900, chargedBackAmount: 40_000 },
      ['Total₹499.00', 'Refunded−₹99.00', 'Reversed by your bank−₹400.00', 'Net paid₹0.00'],
    ],
    [
      { status: 'partially_refunded', chargedBackAmount: 9_900 },
      ['Total₹499.00', 'Reversed by your bank−₹99.00', 'Net paid₹400.00'],
    ],
  ] as const) {
    change = told
    await page.goto(`/order/?order=${orderId}`)
    await expect(sums(page)).toHaveText(lines)
  }
})

/** The lines of the receipt with amounts. */
const sums = (page: Page) => page.locator('.slip .lines > div').filter({ hasText: '₹' })

test('the order page shows a pending or failed refund until something else happens', async ({ page }) => {
  const { orderId } = await open(page)
  let last = ''
  await page.route('**/status?**', async (route) => {
    const response = await route.fetch()
    const body = (await response.json()) as { timeline: object[] }
    const timeline = [...body.timeline, ...(last ? [{ at: new Date().toISOString(), what: last }] : [])]
    await route.fulfill({ response, json: { ...body, timeline } })
  })
  for (const [what, told] of [
    ['', []],
    ['refund_requested', ['Part of the price is on its way back to you; your bank can take a few days.']],
    ['refund_failed', ['A refund of this order did not go through. The seller knows, and the files stay yours.']],
    ['dispute_won', []],
  ] as const) {
    last = what
    await page.goto(`/order/?order=${orderId}`)
    await expect(page.getByRole('link', { name: /^Download / })).toHaveCount(3)
    await expect(page.locator('main .notice')).toHaveText(told)
  }
})

test('the page shows that a receipt could not be delivered, with its address', async ({ page }) => {
  const { email, orderId } = await open(page)
  await page.route('**/status?**', async (route) => {
    const response = await route.fetch()
    await route.fulfill({ response, json: { ...(await response.json()), receiptBounced: true } })
  })
  await page.goto(`/order/?order=${orderId}`)
  const notice = page.locator('.notice').filter({ hasText: 'We could not deliver your receipt.' })
  await expect(notice).toContainText(email)
  await expect(page.getByRole('link', { name: /^Download / })).toHaveCount(3)
})

test('an order can be forgotten on a shared device', async ({ page }) => {
  const { orderId } = await buyHere(page)
  await page.goto(`/order/?order=${orderId}`)
  await page.getByRole('button', { name: 'Forget this order on this device' }).click()
  await page.reload()
  await expect(page.getByLabel('E-mail')).toHaveValue('')
  expect(await page.evaluate(() => JSON.stringify(localStorage))).not.toContain(orderId)
  await page.goBack()
  await expect(page.getByLabel('E-mail')).toHaveValue('')
  await expect(page.getByText(orderId)).toHaveCount(0)
})

test('an order that was forgotten during a request stays forgotten', async ({ page }) => {
  const { orderId } = await open(page)
  const tell = (event: 'visibilitychange' | 'online') =>
    page.evaluate((name) => (name === 'online' ? window : document).dispatchEvent(new Event(name)), event)
  // One request gets no answer, and the next one gets it late.
  const held: (() => Promise<void>)[] = []
  let isAway = true
  await page.route(/\/status\?/, (route) => (isAway ? route.abort() : void held.push(() => route.continue())))
  await tell('visibilitychange')
  await expect(page.getByRole('alert')).toBeVisible()
  isAway = false
  await tell('visibilitychange')
  await expect.poll(() => held.length).toBeGreaterThan(0)
  await page.getByRole('button', { name: 'Forget this order on this device' }).click()
  await expect(page.getByLabel('E-mail')).toHaveValue('')
  await expect(page.getByRole('alert')).toHaveCount(0)
  const asked = held.length
  const late = page.waitForResponse(/\/status\?/)
  await Promise.all(held.map((goOn) => goOn()))
  await (await late).finished()
  await tell('online')
  // The page has seen the late answer before the answer to a later request.
  await page.evaluate(() => fetch('/'))
  await expect(page.getByLabel('E-mail')).toBeVisible()
  expect(held).toHaveLength(asked)
  expect(await page.evaluate(() => JSON.stringify(localStorage))).not.toContain(orderId)
})

test('an order that another tab forgets leaves every page, and none writes it back', async ({ page, context }) => {
  const { orderId, email } = await open(page)
  const other = await context.newPage()
  const held: (() => Promise<void>)[] = []
  await other.goto(`/order/?order=${orderId}`)
  await expect(other.getByRole('heading', { name: 'Thank you. It’s yours.' })).toBeVisible()
  await other.route(/\/status\?/, (route) => void held.push(() => route.continue()))
  const look = () => other.evaluate(() => document.dispatchEvent(new Event('visibilitychange')))
  const stored = () => other.evaluate(() => JSON.stringify(localStorage))

  await look()
  await expect.poll(() => held.length).toBeGreaterThan(0)
  await page.getByRole('button', { name: 'Forget this order on this device' }).click()
  await expect(other.getByLabel('E-mail')).toHaveValue('')
  await expect(other.getByText(email)).toHaveCount(0)
  const late = other.waitForResponse(/\/status\?/)
  await Promise.all(held.map((goOn) => goOn()))
  await (await late).finished()
  await other.evaluate(() => fetch('/'))
  await expect(other.getByLabel('E-mail')).toBeVisible()
  expect(await stored()).not.toContain(orderId)

  // opened again, it is remembered again
  await other.unrouteAll()
  await other.getByLabel('E-mail').fill(email)
  await other.getByRole('button', { name: 'Show the order' }).click()
  await expect(other.getByRole('link', { name: /^Download / })).toHaveCount(3)
  expect(await stored()).toContain(orderId)

  // A page that the browser keeps for the back button hears of no other tab.
  const forgetUnheard = () => other.evaluate(() => localStorage.removeItem('till:orders'))
  await forgetUnheard()
  await look()
  await expect(other.getByLabel('E-mail')).toHaveValue('')
  expect(await stored()).not.toContain(orderId)
  await other.getByLabel('E-mail').fill(email)
  await other.getByRole('button', { name: 'Show the order' }).click()
  await expect(other.getByRole('link', { name: /^Download / })).toHaveCount(3)
  await other.route(/\/status\?/, () => {})
  await forgetUnheard()
  await other.evaluate(() => dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true })))
  await expect(other.getByLabel('E-mail')).toHaveValue('')
})

test('the printed page is the receipt', async ({ page }) => {
  await open(page)
  await expect(page.getByText('Receipt', { exact: true })).toBeVisible()
  await page.emulateMedia({ media: 'print' })
  await expect(page.getByRole('complementary', { name: 'Receipt' })).toBeVisible()
  await expect(page.getByRole('link', { name: /^Download / }).first()).toBeHidden()
  await expect(page.getByRole('button', { name: 'Print' })).toBeHidden()
})

test('a file that was recalled is named with its reason, and the others can be downloaded', async ({ page }) => {
  const { orderId } = await open(page)
  let left = 2
  await page.route(/\/status\?/, async (route) => {
    const response = await route.fetch()
    const status = await response.json()
    const [bad, ...others] = status.downloads
    const reason = 'It holds <b>a virus</b>.'
    const withdrawnFiles = [{ id: bad.fileId, name: bad.name, reason, withdrawnAt: status.createdAt }]
    await route.fulfill({ response, json: { ...status, downloads: others.slice(0, left), withdrawnFiles } })
  })
  await page.setViewportSize(SIZES.phone.viewport)
  await page.goto(`/order/?order=${orderId}`)
  await expect(page.getByText('The Quiet Shop.pdf was recalled.')).toBeVisible()
  await expect(page.getByText('“It holds <b>a virus</b>.”')).toBeVisible()
  await expect(page.getByRole('link', { name: /^Download / })).toHaveCount(2)
  await expectAccessible(page, 'an order with a file that was recalled')
  await expectFits(page, 'an order with a file that was recalled')
  left = 0
  await page.reload()
  await expect(page.getByRole('heading', { name: 'There is nothing left to download' })).toBeVisible()
})

test('every page shows a payment that the bank declined after a while, and the buyer can pay again', async ({
  page,
}) => {
  const { orderId } = await makeOrder(page)
  await payWith(page, { scenario: 'delayed_decline' })
  await expect(page.getByText('Your bank declined the payment.')).toBeVisible()
  await page.goto(`/order/?order=${orderId}`)
  await expect(page.getByRole('heading', { name: 'Your payment did not go through' })).toBeVisible()
  await expect(page.getByRole('listitem').filter({ hasText: 'Your bank declined the payment: stopped' })).toBeVisible()
  for (const size of Object.values(SIZES)) {
    await page.setViewportSize(size.viewport)
    await expectFits(page, 'payment failed')
  }
  await expectAccessible(page, 'payment failed')
  await page.getByRole('link', { name: 'Pay again' }).click()
  await payWith(page)
  await expectPaid(page)
  await page.goto(`/order/?order=${orderId}`)
  await expect(page.getByRole('heading', { name: 'Thank you. It’s yours.' })).toBeVisible()
})
