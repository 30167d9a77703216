import { expectDownloads, expectNoPayButton, expectPaid, newEmail, payButton, shownOrderId } from './buyer.ts'
import {
  CARD,
  CHALLENGED,
  DECLINED,
  REDIRECTED,
  bankPage,
  expect,
  form,
  intentOf,
  paidIntents,
  payBy,
  press,
  test,
  toForm,
  toOrder,
} from './element-buyer.ts'
import { SIZES, expectAccessible, expectFits, tabTo } from './fixtures.ts'

for (const [size, use] of Object.entries(SIZES)) {
  test.describe(size, () => {
    test.use(use)

    test('a card pays, and the files are there', async ({ page, shop, stripe }) => {
      const { email } = await toForm(page, shop)
      await expectFits(page, 'the form')
      await payBy(page, CARD)
      await expectPaid(page)
      const orderId = await shownOrderId(page)
      expect(paidIntents(shop, orderId)).toHaveLength(1)
      expect(stripe.confirms[0]).toMatchObject({ email })
    })
  })
}

// The result of a payment is the same at every width, and most buyers have phones.
test.describe('on a phone', () => {
  test.use(SIZES.phone)

  test('3-D Secure over the page: the form stays, the page does not ask to pay, then the order is paid', async ({
    page,
    shop,
  }) => {
    await toForm(page, shop)
    await payBy(page, CHALLENGED)
    await expect(bankPage(page).getByRole('link', { name: 'Approve' })).toBeVisible()
    await expectNoPayButton(page)
    await bankPage(page).getByRole('link', { name: 'Approve' }).click()
    await expectPaid(page)
  })

  test('3-D Secure on the bank’s page: the buyer comes back, and the address tells no secrets', async ({
    page,
    shop,
  }) => {
    await toForm(page, shop)
    await payBy(page, REDIRECTED)
    await page.getByRole('link', { name: 'Approve' }).click()
    await page.waitForURL(`${shop.url}/pay/**`)
    await expectPaid(page)
    expect(paidIntents(shop, await shownOrderId(page))).toHaveLength(1)
    expect(new URL(page.url()).search).toBe(new URL(shop.demoUrl).search)
  })

  test('a declined card: says so in the bank’s words, keeps the order, and the next card pays it', async ({
    page,
    shop,
  }) => {
    await toForm(page, shop)
    await payBy(page, DECLINED)
    const alarm = page.getByRole('alert').filter({ hasText: 'Your bank declined the payment. Nothing was taken.' })
    await expect(alarm).toBeVisible()
    await expect(alarm).toContainText('Your card was declined.')
    await expect(alarm).toBeFocused()
    const orderId = await shownOrderId(page)
    await payBy(page, CARD)
    await expectPaid(page)
    expect(await shownOrderId(page)).toBe(orderId)
  })

  test('a bank debit is processed for days: the page may be closed, and nothing can be paid', async ({
    page,
    shop,
  }) => {
    await toForm(page, shop)
    await form(page).getByLabel('Bank debit').check()
    await press(page)
    await expect(page.getByRole('heading', { name: 'Your bank is processing the payment' })).toBeVisible()
    await expect(page.getByText('You can close this page.')).toBeVisible()
    await expectNoPayButton(page)
    await page.reload()
    await expect(page.getByRole('heading', { name: 'Your bank is processing the payment' })).toBeVisible()
    await expectNoPayButton(page)
    const intent = intentOf(shop, await shownOrderId(page))
    shop.bank.finish(intent['id'], 'succeed')
    await expectPaid(page)
  })
})

test('nothing in the page itself takes a card number', async ({ page, shop }) => {
  await toForm(page, shop)
  // the first is hidden, and says whether the buyer has changed something
  expect(await page.locator('main input').evaluateAll((all) => all.map(({ id }) => id))).toEqual(['typed', 'email'])
})

test('the keyboard is enough, and the files that are downloaded are the files that were sold', async ({
  page,
  shop,
}) => {
  const { email } = await toForm(page, shop)
  await form(page).getByLabel('Card number').focus()
  await page.keyboard.type(CARD)
  // The Tab key passes the expiry date and the security code before the button.
  await tabTo(page, payButton(page))
  await page.keyboard.press('Enter')
  await expectPaid(page)
  await expect(page.getByRole('heading', { name: 'Paid. It’s yours.' })).toBeFocused()
  await expectDownloads(page, await shownOrderId(page), email, shop.url)
})

test('the form follows the page into the dark', async ({ page, shop }) => {
  await page.emulateMedia({ colorScheme: 'light' })
  await toForm(page, shop)
  const ground = () =>
    form(page)
      .locator('body')
      .evaluate((body) => getComputedStyle(body).backgroundColor)
  expect(await ground()).toBe('rgb(255, 254, 252)')
  await page.emulateMedia({ colorScheme: 'dark' })
  await expect.poll(ground).toBe('rgb(24, 28, 27)')
})

test('the form marks missing fields, and sends nothing', async ({ page, shop, stripe }) => {
  await toForm(page, shop)
  await payBy(page, '4242')
  const alarm = page.getByRole('alert').filter({ hasText: 'Something is missing in the payment form.' })
  await expect(alarm).toContainText('Your card number is incomplete.')
  await expect(form(page).getByLabel('Card number')).toBeFocused()
  expect(stripe.confirms).toHaveLength(0)
  await payBy(page, CARD)
  await expectPaid(page)
})

test('3-D Secure refused: nothing was taken, and the buyer may try again', async ({ page, shop }) => {
  await toForm(page, shop)
  await payBy(page, CHALLENGED)
  await bankPage(page).getByRole('link', { name: 'Refuse' }).click()
  await expect(page.getByText('Your bank declined the payment. Nothing was taken.')).toBeVisible()
  await payBy(page, REDIRECTED)
  await page.getByRole('link', { name: 'Refuse' }).click()
  await expect(page.getByText('Your bank declined the payment. Nothing was taken.')).toBeVisible()
  await payBy(page, CARD)
  await expectPaid(page)
})

test('a bank that pays by its own page', async ({ page, shop }) => {
  const { orderId } = await toOrder(page, shop)
  await form(page).getByLabel('Bank', { exact: true }).check()
  await press(page)
  await page.getByRole('link', { name: 'Approve' }).click()
  await expectPaid(page)
  expect(paidIntents(shop, orderId)).toHaveLength(1)
})

test('a voucher is paid in a shop: the page says where it is, until another try, also after a reload, and shows the arrived money', async ({
  page,
  shop,
}) => {
  const { orderId } = await toOrder(page, shop)
  await form(page).getByLabel('Voucher').check()
  await press(page)
  const alarm = page.getByRole('alert').filter({ hasText: 'Nothing has been paid so far.' })
  const instructions = alarm.getByRole('link', { name: 'This order still has to be paid' })
  await expect(instructions).toBeVisible()
  await page.reload()
  const { id } = intentOf(shop, orderId)
  await expect(instructions).toHaveAttribute('href', `https://pay.stripe.com/voucher/${id}`)
  await expectAccessible(page, 'a voucher that waits')
  // Another try replaces the voucher.
  await form(page).getByLabel('Card', { exact: true }).check()
  await payBy(page, DECLINED)
  await expect(page.getByText('Your bank declined the payment.')).toBeVisible()
  await page.reload()
  await expect(alarm).toBeVisible()
  await expect(instructions).toHaveCount(0)
  shop.server.knobs.notify = 'never'
  shop.bank.confirm(id, { method: 'oxxo' })
  await expectPaid(page)
  expect(await shownOrderId(page)).toBe(orderId)
})

test('a payment that was closed at the processor is opened again under the same order', async ({ page, shop }) => {
  const { orderId } = await toOrder(page, shop)
  const intent = intentOf(shop, orderId)
  shop.server.knobs.notify = 'never'
  shop.bank.cancel(intent['id'])
  await payBy(page, CARD)
  await expect(payButton(page)).toBeVisible()
  expect(await shownOrderId(page)).toBe(orderId)
  await payBy(page, CARD)
  await expectPaid(page)
  expect(paidIntents(shop, orderId)).toHaveLength(1)
})

test('axe finds nothing in any state of the form', async ({ page, shop, stripe }) => {
  stripe.faults.script = 'blocked'
  await page.goto(shop.demoUrl)
  await page.getByLabel('E-mail').fill(newEmail())
  await expect(page.getByText('The payment form cannot be loaded.')).toBeVisible()
  await expectAccessible(page, 'blocked')
  stripe.faults.script = undefined
  const { promise: scriptAfter, resolve: release } = Promise.withResolvers<void>()
  stripe.faults.scriptAfter = scriptAfter
  await page.getByRole('button', { name: 'Try again' }).click()
  await expect(page.getByText('Loading the payment form…')).toBeVisible()
  await expectAccessible(page, 'loading')
  release()
  await expect(payButton(page)).toBeVisible()
  await expectAccessible(page, 'the form')
  await payBy(page, DECLINED)
  await expect(page.getByText('Your card was declined.')).toBeVisible()
  await expectAccessible(page, 'declined')
})

test('a payment that is not what the form was told is not sent again in the same way: the next form is the order’s own', async ({
  page,
  shop,
  stripe,
}) => {
  await toForm(page, shop)
  await page.route('**/api/checkout', async (route) => {
    const response = await route.fetch()
    const { orderId } = (await response.json()) as { orderId: string }
    intentOf(shop, orderId)['excluded_payment_method_types'] = ['oxxo']
    await route.fulfill({ response })
  })
  await payBy(page, CARD)
  await expect(page.getByText('Nothing has been paid so far.')).toBeVisible()
  const orderId = await shownOrderId(page)
  expect(paidIntents(shop, orderId)).toHaveLength(0)
  await expect(page.locator('.form-place')).toHaveAttribute('data-stage', 'ready')
  await payBy(page, CARD)
  await expectPaid(page)
  expect(stripe.confirms.map(({ due }) => due !== undefined)).toEqual([true, false])
  expect(paidIntents(shop, orderId)).toHaveLength(1)
})

test('where the form waits for the order, one press makes the order, and the form appears in its place', async ({
  page,
  shop,
}) => {
  // As for a currency with BLIK.
  await page.route(`${shop.url}/pay/**`, async (route) => {
    const response = await route.fetch()
    const body = (await response.text()).replace(/,"form":\{[^}]*\}/, '')
    await route.fulfill({ response, body })
  })
  await page.goto(shop.demoUrl)
  const email = newEmail()
  await page.getByLabel('E-mail').fill(email)
  await expect(page.locator('.form-place')).toHaveCount(0)
  await page.getByRole('button', { name: 'Continue to payment' }).click()
  await expect(payButton(page)).toHaveText('Pay ₹499.00')
  const orderId = await shownOrderId(page)
  await expect(page.getByLabel('E-mail')).toHaveValue(email)
  await payBy(page, CARD)
  await expectPaid(page)
  expect(paidIntents(shop, orderId)).toHaveLength(1)
})
