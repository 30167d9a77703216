import {
  RAILS,
  RAIL_IDS,
  expectDownloads,
  expectNoPayButton,
  expectPaid,
  fillCard,
  fillIn,
  makeOrder,
  newEmail,
  payButton,
  payByCard,
  payWith,
  requestsTo,
  sayBefore,
  shownOrderId,
  statusOf,
} from './buyer.ts'
import { giveUp, waitForEver } from './other-site.ts'
import { DEMO_URL, SIZES, expect, expectAccessible, expectFits, test } from './fixtures.ts'

for (const [size, rails] of [
  ['phone', RAILS],
  // The rails differ by their names only, so the wide page is tried with one.
  ['desktop', RAILS.slice(0, 1)],
] as const) {
  test.describe(size, () => {
    test.use(SIZES[size])

    for (const rail of rails) {
      test(`the product is bought by ${rail}`, async ({ page }) => {
        if (rail === 'Apple Pay') await page.addInitScript(() => Object.assign(window, { ApplePaySession: Object }))
        const { email } = await fillIn(page)
        await payWith(page, { rail })
        await expectPaid(page)
        const orderId = await shownOrderId(page)
        await expectFits(page, 'paid')
        await expect(page.getByText('TILL* THE QUIET SHOP')).toBeVisible()
        const { status, rail: used, amount, timeline } = await statusOf(page, orderId, email)
        expect({ status, used, amount }).toEqual({ status: 'paid', used: RAIL_IDS[rail], amount: 49_900 })
        expect(timeline.filter(({ what }) => what === 'paid')).toHaveLength(1)
      })
    }
  })
}

// The result of a payment is the same at every width, and most buyers have phones.
test.describe('on a phone', () => {
  test.use(SIZES.phone)

  test('decline: says so, keeps the order, and the next try pays it', async ({ page }) => {
    const { email } = await fillIn(page)
    await payWith(page, { rail: 'Bank debit', scenario: 'decline' })
    const alarm = page.getByRole('alert').filter({ hasText: 'Your bank declined the payment. Nothing was taken.' })
    await expect(alarm).toBeVisible()
    await expect(alarm).toBeFocused()
    await expect(page.getByRole('radio', { name: 'Bank debit' })).toBeChecked()
    const orderId = await shownOrderId(page)
    await payWith(page, { rail: 'Card' })
    await expectPaid(page)
    expect(await shownOrderId(page)).toBe(orderId)
    const { status, rail } = await statusOf(page, orderId, email)
    expect({ status, rail }).toEqual({ status: 'paid', rail: 'card' })
  })

  test('delayed: the bank works, the page may be closed, nothing can be paid, then the files come', async ({
    page,
  }) => {
    const { email } = await fillIn(page)
    const release = await sayBefore(page, 'processing')
    await payWith(page, { rail: 'Bank transfer', scenario: 'delayed' })
    await expect(page.getByRole('heading', { name: 'Your bank is processing the payment' })).toBeVisible()
    await expect(page.getByText('You can close this page.')).toBeVisible()
    await expect(page.getByText(email)).toBeVisible()
    await expectNoPayButton(page)
    await expectFits(page, 'processing')
    release()
    await expectPaid(page)
  })

  test('late_success: declined, and when the bank approves after all the page turns to paid', async ({ page }) => {
    await fillIn(page)
    const release = await sayBefore(page, 'pending')
    await payWith(page, { scenario: 'late_success' })
    await expect(page.getByText('Your bank declined the payment.')).toBeVisible()
    release()
    await expectPaid(page)
  })

  test('wrong_amount: a person looks at it, no files, nothing to pay', async ({ page }) => {
    await fillIn(page)
    await payWith(page, { scenario: 'wrong_amount' })
    await expect(page.getByRole('heading', { name: 'We’re reviewing your payment' })).toBeVisible()
    expect(await shownOrderId(page)).toMatch(/^ord_/)
    await expectNoPayButton(page)
    await expect(page.getByRole('link', { name: /^Download / })).toHaveCount(0)
    await page.reload()
    await expect(page.getByRole('heading', { name: 'We’re reviewing your payment' })).toBeVisible()
    await expectNoPayButton(page)
  })

  test('double_capture: paid, and the page tells the buyer that the second payment was sent back', async ({ page }) => {
    await fillIn(page)
    await payWith(page, { scenario: 'double_capture' })
    await expectPaid(page)
    await expect(async () => {
      await page.reload()
      await expect(page.getByText('Two payments arrived.')).toBeVisible({ timeout: 20_000 })
    }).toPass()
    await expectNoPayButton(page)
  })
})

test('after the press the page lets the service wait for the payment', async ({ page }) => {
  const asked = requestsTo(page, /\/status$/)
  await fillIn(page)
  await payWith(page)
  await expectPaid(page)
  expect(asked[0]?.url()).toContain('wait=1')
})

// The screen is the same in whatever way the service learns of a payment.
for (const scenario of ['lost_webhook', 'repeated_webhook', 'reordered_webhook']) {
  test(`${scenario}: paid, and the files are there`, async ({ page }) => {
    const { email } = await fillIn(page)
    await payWith(page, { scenario })
    await expectPaid(page)
    const orderId = await shownOrderId(page)
    expect((await statusOf(page, orderId, email)).timeline.filter(({ what }) => what === 'paid')).toHaveLength(1)
  })
}

test('the files that are downloaded are the files that were sold', async ({ page }) => {
  const { email } = await fillIn(page)
  await payWith(page)
  await expectPaid(page)
  await expectDownloads(page, await shownOrderId(page), email)
})

test('a link that is about to end is renewed before it is followed', async ({ page }) => {
  await page.route('**/status?**', async (route) => {
    const response = await route.fetch()
    const answer = (await response.json()) as { downloads: { expiresAt: string; url: string }[] }
    const old = answer.downloads.map((one) => ({ ...one, expiresAt: new Date(Date.now() + 5_000).toISOString() }))
    await route.fulfill({ response, json: { ...answer, downloads: old } })
  })
  await fillIn(page)
  await payWith(page)
  await expectPaid(page)
  const asked = page.waitForRequest('**/status?**')
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('link', { name: 'Download The Quiet Shop.pdf' }).click(),
  ])
  await asked
  expect(download.suggestedFilename()).toBe('The Quiet Shop.pdf')
})

test('one screen has product, total, e-mail, ways to pay and the line of the bank, and no order exists before the press', async ({
  page,
}) => {
  const orders = requestsTo(page, /^\/api\/checkout$/)
  await fillIn(page)
  await expect(page.getByRole('heading', { name: 'The Quiet Shop' })).toBeVisible()
  await expect(page.getByRole('region', { name: 'What you are buying' }).getByText('₹499.00')).toBeVisible()
  for (const rail of ['Card', 'UPI']) await expect(page.getByRole('radio', { name: rail })).toBeVisible()
  await expect(page.getByText('Appears on your statement as TILL* THE QUIET SHOP')).toBeVisible()
  expect(orders).toHaveLength(0)
  await payWith(page)
  await expectPaid(page)
  expect(orders).toHaveLength(1)
})

test('a buyer who comes back sees the order’s id before the page asks for the money', async ({ page }) => {
  const { orderId } = await makeOrder(page)
  await expect(page.getByText(orderId)).toBeVisible()
  await expect(page.getByText('Appears on your statement as TILL* THE QUIET SHOP')).toBeVisible()
})

test('a mistyped address is noticed and corrected by one press', async ({ page }) => {
  await page.goto(DEMO_URL)
  const field = page.getByLabel('E-mail')
  await field.fill('ann@gmial.con')
  await field.blur()
  await page.getByRole('button', { name: 'ann@gmail.com' }).click()
  await expect(field).toHaveValue('ann@gmail.com')
  await expect(page.getByText('Did you mean')).toBeHidden()
})

test('a mistyped address and Enter: no order is made before the buyer has seen the suggestion', async ({
  page,
  context,
}) => {
  await waitForEver(context)
  await page.goto(DEMO_URL)
  await fillCard(page, '4242424242424242')
  const orders = requestsTo(page, /^\/api\/checkout$/)
  const field = page.getByLabel('E-mail')
  const better = page.getByRole('button', { name: 'ann@gmail.com' })
  await field.fill('ann@gmial.com')
  await field.press('Enter')
  await expect(page.getByText('Did you mean')).toContainText('Press again to keep yours.')
  expect(orders).toHaveLength(0)
  await expectAccessible(page, 'a suggestion')
  await field.press('Tab')
  await expect(better).toBeFocused()
  await better.press('Enter')
  await expect(field).toBeFocused()
  await expect(field).toHaveValue('ann@gmail.com')
  await field.press('Enter')
  await expectPaid(page)
  expect(orders.map((one) => one.postDataJSON().email)).toEqual(['ann@gmail.com'])
})

test('with a mouse a suggestion does not move the button, and a second press keeps a correct address', async ({
  page,
  context,
}) => {
  await waitForEver(context)
  await page.goto(DEMO_URL)
  await fillCard(page, '4242424242424242')
  const orders = requestsTo(page, /^\/api\/checkout$/)
  const next = payButton(page)
  await page.getByLabel('E-mail').fill('ann.of.the.shop.books@gmial.com')
  // The press scrolls to the button, so its place is taken in the document.
  const place = () => next.evaluate((one) => one.getBoundingClientRect().top + scrollY)
  const before = await place()
  await next.click()
  await expect(page.getByText('Did you mean')).toBeVisible()
  expect(await place()).toBe(before)
  expect(orders).toHaveLength(0)
  await expect(async () => {
    if (await next.isVisible()) await next.click({ timeout: 1_000 })
    await expect.poll(() => orders.length, { timeout: 5_000 }).toBe(1)
  }).toPass()
  expect(orders[0]!.postDataJSON().email).toBe('ann.of.the.shop.books@gmial.com')
})

test('an address that is corrected while the suggestion is on its way is not ordered to as it was', async ({
  page,
  context,
}) => {
  await waitForEver(context)
  const sent = Promise.withResolvers<void>()
  await page.route('**/assets/email-suggestion-*', async (route) => {
    await sent.promise
    await route.continue()
  })
  await page.goto(DEMO_URL)
  await fillCard(page, '4242424242424242')
  const orders = requestsTo(page, /^\/api\/checkout$/)
  const field = page.getByLabel('E-mail')
  await field.fill('buyer@exmaple.com')
  await field.press('Enter')
  await expect(page.getByRole('button', { name: 'One moment…' })).toHaveAttribute('aria-disabled', 'true')
  await field.fill('buyer@example.com')
  const next = payButton(page)
  await expect(next).toBeVisible()
  const script = page.waitForResponse('**/assets/email-suggestion-*')
  sent.resolve()
  await (await script).finished()
  await page.evaluate(() => new Promise((done) => setTimeout(done, 0)))
  await next.click()
  await expectPaid(page)
  expect(orders.map((one) => one.postDataJSON().email)).toEqual(['buyer@example.com'])
})

test('a suggestion that does not arrive does not delay the buyer', async ({ page, context }) => {
  await waitForEver(context)
  await page.route('**/assets/email-suggestion-*', () => {})
  await page.goto(DEMO_URL)
  await page.getByLabel('E-mail').fill('ann@example.com')
  await payByCard(page)
  await expect(page.getByRole('button', { name: 'One moment…' })).toBeVisible()
  await giveUp(page)
  await expectPaid(page)
})

test('an invalid address is refused beside the field, which gets the focus', async ({ page }) => {
  await page.goto(DEMO_URL)
  const field = page.getByLabel('E-mail')
  for (const [typed, said] of [
    ['', 'Please enter your e-mail.'],
    ['ann', 'This is not a complete e-mail address.'],
  ] as const) {
    await field.fill(typed)
    await payButton(page).click()
    await expect(field).toHaveAccessibleDescription(new RegExp(said.replaceAll('.', '\\.')))
    await expect(field).toHaveAttribute('aria-invalid', 'true')
    await expect(field).toBeFocused()
  }
})

test('another address is another order', async ({ page }) => {
  const { orderId } = await makeOrder(page)
  const other = newEmail()
  await page.getByLabel('E-mail').fill(other)
  await payWith(page)
  await expectPaid(page)
  const paid = await shownOrderId(page)
  expect(paid).not.toBe(orderId)
  expect((await statusOf(page, paid, other)).status).toBe('paid')
})

test('only test numbers pay in the sandbox: any other is refused in the browser, is sent nowhere, and is taken off the screen', async ({
  page,
}) => {
  const sent: string[] = []
  page.on('request', (request) => sent.push(`${request.method()} ${request.url()} ${request.postData() ?? ''}`))
  await fillIn(page)
  const number = page.getByLabel('Card number')
  await expect(number).toHaveAttribute('autocomplete', 'off')
  for (const [typed, said] of [
    ['', /Please enter a test number/],
    ['4111 1111 1111 1111', /not one of the test numbers, so nothing was sent/],
    ['5555555555554444', /never type the number of a real card/],
  ] as const) {
    await fillCard(page, typed)
    await payButton(page).click()
    await expect(number).toHaveAccessibleDescription(said)
    await expect(number).toHaveAttribute('aria-invalid', 'true')
    await expect(number).toBeFocused()
    await expect(number).toHaveValue('')
  }
  await fillCard(page, '4242424242424242')
  await page.getByLabel('Expiry').fill('01 / 20')
  await payButton(page).click()
  await expect(page.getByLabel('Expiry')).toHaveAccessibleDescription('This date has passed.')
  await page.getByLabel('Security code').fill('')
  await page.getByLabel('Expiry').fill('1234')
  await payButton(page).click()
  await expect(page.getByLabel('Security code')).toBeFocused()
  expect(sent.filter((one) => one.startsWith('POST'))).toEqual([])
  await page.getByLabel('Security code').fill('123')
  await payButton(page).click()
  await expectPaid(page)
  const stored = await page.evaluate(() => JSON.stringify([{ ...localStorage }, { ...sessionStorage }]))
  // eight digits: four can stand in a token or a time by chance
  expect(`${sent.join(' ')} ${stored}`).not.toMatch(/41111111|4111 1111|55555555|5555 5555|42424242|4242 4242/)
})

test('the list of test numbers fills one in, and says what the bank does with it', async ({ page }) => {
  await fillIn(page)
  await page.getByText('How the bank behaves').click()
  await expectAccessible(page, 'the list of test numbers')
  await page.getByRole('button', { name: /^4000 0000 0000 0002/ }).click()
  await expect(page.getByLabel('Card number')).toHaveValue('4000 0000 0000 0002')
  await payButton(page).click()
  await expect(page.getByText('Your bank declined the payment. Nothing was taken.')).toBeVisible()
  await page.getByRole('button', { name: /^Use the test card/ }).click()
  await payButton(page).click()
  await expectPaid(page)
})

test('a UPI code is drawn beside a desk', async ({ page }) => {
  await fillIn(page)
  await page.getByRole('radio', { name: 'UPI' }).check()
  const code = page.getByRole('img', { name: 'UPI code' })
  await expect(code).toBeVisible()
  expect(
    await code.evaluate((image: HTMLImageElement) => image.decode().then(() => image.naturalWidth)),
  ).toBeGreaterThan(0)
})

test.describe('on a phone', () => {
  test.use(SIZES.phone)
  test('UPI opens the app, with payee, amount and order', async ({ page }) => {
    const { orderId } = await makeOrder(page)
    await page.getByRole('radio', { name: 'UPI' }).check()
    const link = new URL((await page.getByRole('link', { name: 'Open your UPI app' }).getAttribute('href'))!)
    expect(link.protocol + link.hostname).toBe('upi:pay')
    expect(Object.fromEntries(link.searchParams)).toMatchObject({ am: '499.00', cu: 'INR', tr: orderId })
  })
})

test('a product that is not for sale, and a link without a product, say so plainly', async ({ page }) => {
  await page.goto('/pay/?product=prod_nothing"><script>alert(1)</script>')
  await expect(page.getByRole('heading', { name: 'This product is not for sale' })).toBeVisible()
  await page.goto('/pay/')
  await expect(page.getByRole('heading', { name: 'This link is not complete' })).toBeVisible()
  await expectNoPayButton(page)
})

test('Back leads away from the shop, and Forward brings the order and its address back', async ({ page }) => {
  const { email, orderId } = await makeOrder(page)
  await page.goBack()
  await expect(page).toHaveURL(/\/pricing\//)
  await page.goForward()
  await expect(page.getByLabel('E-mail')).toHaveValue(email)
  await expect(payButton(page)).toHaveText('Pay ₹499.00')
  expect(await shownOrderId(page)).toBe(orderId)
})

test.describe('on a phone held sideways', () => {
  test.use({ viewport: { width: 667, height: 375 }, isMobile: true, hasTouch: true })

  test('the price, the e-mail and the ways to pay are there without scrolling', async ({ page }) => {
    await page.goto(DEMO_URL)
    for (const place of [
      page.getByText('₹499.00').first(),
      page.getByLabel('E-mail'),
      page.getByRole('radio', { name: 'Card', exact: true }),
    ])
      await expect(place).toBeInViewport({ ratio: 1 })
    await expectFits(page, 'the ways to pay, sideways')
  })
})
