import type { Page } from '@playwright/test'
import { expectNoPayButton, expectPaid, fillIn, makeOrder, newEmail, payButton, shownOrderId } from './buyer.ts'
import { SIZES, expect, expectAccessible, expectFits, test } from './fixtures.ts'
import { RAZORPAY, type RazorpayStandIn, meetRazorpay, startRazorpay } from './razorpay-stand-in.ts'

// One service for all of these. Razorpay takes its rupees. Each test is a buyer of its own.
test.describe.configure({ mode: 'default' })

const NOTHING_PAID = 'Nothing has been paid so far.'

let shop: RazorpayStandIn
let razorpay: Awaited<ReturnType<typeof meetRazorpay>>

test.beforeAll(async () => {
  shop = await startRazorpay()
})
test.afterAll(() => shop?.stop())
test.beforeEach(async ({ context, watch }) => {
  for (const origin of [shop.url, ...RAZORPAY]) watch.allow(origin)
  shop.bank.notifying.when = 'now'
  razorpay = await meetRazorpay(context, shop)
})

const checkoutWindow = (page: Page) => page.frameLocator('iframe.razorpay-checkout-frame')
const choose = (page: Page, name: string) => checkoutWindow(page).getByRole('button', { name }).click()

/** The page before there is an order. */
async function toForm(page: Page): Promise<void> {
  await fillIn(page, newEmail(), shop.demoUrl)
  await expect(page.locator('.form-place')).toHaveAttribute('data-stage', 'ready')
}

async function toOrder(page: Page): Promise<string> {
  const { orderId } = await makeOrder(page, newEmail(), shop.demoUrl)
  await expect(page.locator('.form-place')).toHaveAttribute('data-stage', 'ready')
  return orderId
}

async function openWindow(page: Page): Promise<void> {
  await payButton(page).click()
  await expect(checkoutWindow(page).getByRole('button', { name: 'Close' })).toBeVisible()
}

const orderOf = (orderId: string) => [...shop.bank.orders.values()].find(({ notes }) => notes.order_id === orderId)!
const captured = (orderId: string) =>
  [...shop.bank.payments.values()].filter((one) => one.order_id === orderOf(orderId).id && one.captured)

function approve(orderId: string): void {
  const one = [...shop.bank.payments.values()].find(
    (payment) => payment.order_id === orderOf(orderId).id && payment.status === 'created',
  )
  shop.bank.authorize(one!.id)
}

for (const [size, way] of [
  ['phone', 'Pay by QR code'],
  ['desktop', 'Pay by netbanking'],
] as const) {
  test.describe(size, () => {
    test.use(SIZES[size])

    test(`${way}: paid, and the files are there`, async ({ page }) => {
      await toForm(page)
      await expectFits(page, 'the choice')
      await openWindow(page)
      await expectNoPayButton(page)
      await choose(page, way)
      await expectPaid(page)
      expect(captured(await shownOrderId(page))).toHaveLength(1)
    })
  })
}

test('Razorpay and the bank choose the line on the statement, so no page names ours', async ({ page }) => {
  const named = page.getByText(/On your statement|Appears on your statement|TILL\*/)
  await toForm(page)
  await expect(payButton(page)).toBeVisible()
  await expect(named).toHaveCount(0)
  await openWindow(page)
  await choose(page, 'Pay by QR code')
  await expectPaid(page)
  const orderId = await shownOrderId(page)
  await expect(named).toHaveCount(0)
  await page.goto(`${shop.url}/order/?order=${orderId}`)
  await expect(page.getByText('Paid with')).toBeVisible()
  await expect(named).toHaveCount(0)
})

test('the window is closed without paying: the page asks the service, then the buyer can choose again', async ({
  page,
}) => {
  await toForm(page)
  await openWindow(page)
  const orderId = await shownOrderId(page)
  await choose(page, 'Close')
  const alarm = page.getByRole('alert').filter({ hasText: NOTHING_PAID })
  await expect(alarm).toBeVisible()
  await expect(alarm).toBeFocused()
  await openWindow(page)
  await choose(page, 'Pay by QR code')
  await expectPaid(page)
  expect(await shownOrderId(page)).toBe(orderId)
})

test('the window has seller, product and e-mail, and no field for a UPI address', async ({ page }) => {
  await toForm(page)
  await openWindow(page)
  await expect(checkoutWindow(page).getByRole('heading')).toHaveText('Ann’s Field Notes')
  await expect(checkoutWindow(page).getByText('The Quiet Shop, for buyer-')).toBeVisible()
  await expect(checkoutWindow(page).getByRole('button', { name: 'Type your UPI address' })).toHaveCount(0)
})

test('a try that fails in the window can be repeated there', async ({ page }) => {
  const orderId = await toOrder(page)
  await openWindow(page)
  await choose(page, 'Card that is declined')
  await expect(checkoutWindow(page).getByText('Your bank said no.')).toBeVisible()
  await expectNoPayButton(page)
  await choose(page, 'Pay by QR code')
  await expectPaid(page)
  expect(captured(orderId)).toHaveLength(1)
})

test('a try that fails, and the window is closed: another one in it may still be approved', async ({ page }) => {
  shop.bank.notifying.when = 'never'
  const orderId = await toOrder(page)
  await openWindow(page)
  await choose(page, 'Card that is declined')
  await expect(checkoutWindow(page).getByText('Your bank said no.')).toBeVisible()
  await choose(page, 'Pay by app later')
  await expect(checkoutWindow(page).getByText('Approve it in your UPI app')).toBeVisible()
  await choose(page, 'Close')
  await expect(page.getByText(NOTHING_PAID)).toBeVisible()
  await expect(payButton(page)).toBeVisible()
  approve(orderId)
  await expectPaid(page)
  expect(captured(orderId)).toHaveLength(1)
})

test('approved in the UPI app after the window was closed: the page turns to paid by itself', async ({ page }) => {
  shop.bank.notifying.when = 'never'
  const orderId = await toOrder(page)
  await openWindow(page)
  await choose(page, 'Pay by app later')
  await expect(checkoutWindow(page).getByText('Approve it in your UPI app')).toBeVisible()
  await choose(page, 'Close')
  await expect(page.getByText(NOTHING_PAID)).toBeVisible()
  // A phone drops pages while another app is in front.
  await page.reload()
  await expect(page.getByText(NOTHING_PAID)).toBeVisible()
  approve(orderId)
  await expectPaid(page)
  expect(captured(orderId)).toHaveLength(1)
})

test('without a notification the page finds out itself that the order is paid', async ({ page }) => {
  shop.bank.notifying.when = 'never'
  await toForm(page)
  await openWindow(page)
  await choose(page, 'Pay by QR code')
  await expectPaid(page)
})

test('the shop hears of it while the window is still open: paid wins, and the window goes', async ({ page }) => {
  const orderId = await toOrder(page)
  await openWindow(page)
  shop.bank.pay(orderOf(orderId).id, { method: 'upi', outcome: 'captured' })
  await expectPaid(page)
  await expect(page.locator('iframe.razorpay-checkout-frame')).toHaveCount(0)
})

test('a reload while the window is open: the page offers nothing before it has asked the processor', async ({
  page,
}) => {
  const orderId = await toOrder(page)
  await openWindow(page)
  await page.reload()
  await expectNoPayButton(page)
  await expect(page.getByText(NOTHING_PAID)).toBeVisible()
  await openWindow(page)
  await choose(page, 'Pay by QR code')
  await expectPaid(page)
  expect(await shownOrderId(page)).toBe(orderId)
})

test('a double click opens one window, and a second tab does not offer to pay meanwhile', async ({ page, context }) => {
  const orderId = await toOrder(page)
  const other = await context.newPage()
  await other.goto(shop.demoUrl)
  await expect(payButton(other)).toBeVisible()
  const synced = other.waitForResponse(/sync=1/)
  await payButton(page).dblclick()
  await expect(page.locator('iframe.razorpay-checkout-frame')).toHaveCount(1)
  await expectNoPayButton(other)
  await synced
  // the page asks again only after it has taken the answer
  await other.waitForRequest(/\/status/)
  await expectNoPayButton(other)
  await choose(page, 'Pay by QR code')
  await expectPaid(page)
  await expectPaid(other)
  expect(captured(orderId)).toHaveLength(1)
})

test('only a page that asks for money loads the script', async ({ page }) => {
  for (const path of ['/', '/pricing/', '/order/', '/pay/', '/sign-in/']) await page.goto(shop.url + path)
  expect(razorpay.scripts).toBe(0)
  await toForm(page)
  expect(razorpay.scripts).toBe(1)
  expect(await page.locator('main input').evaluateAll((all) => all.map(({ id }) => id))).toEqual(['typed', 'email'])
})

test('the script is blocked: a plain message, and the page can be tried again', async ({ page }) => {
  razorpay.faults.script = 'blocked'
  await page.goto(shop.demoUrl)
  await page.getByLabel('E-mail').fill(newEmail())
  await expect(page.getByRole('alert').filter({ hasText: 'The payment form cannot be loaded.' })).toBeVisible()
  await expectNoPayButton(page)
  razorpay.faults.script = undefined
  await page.getByRole('button', { name: 'Try again' }).click()
  await openWindow(page)
  await choose(page, 'Pay by QR code')
  await expectPaid(page)
})

test('axe finds nothing before and after the window', async ({ page }) => {
  await toForm(page)
  await expectAccessible(page, 'the choice')
  await openWindow(page)
  await choose(page, 'Close')
  await expect(page.getByText(NOTHING_PAID)).toBeVisible()
  await expectAccessible(page, 'closed')
})
