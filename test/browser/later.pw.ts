import { expectPaid, fillIn, makeOrder, newEmail, payWith, requestsTo, sayNothing, shownOrderId } from './buyer.ts'
import { DEMO_URL, expect, test } from './fixtures.ts'

// The steps after the payment are in a file of their own, which is not part of the first screen.

const AFTER = '**/assets/after-payment-*'

test('a buyer who only looks does not load the steps after the payment, and one who fills in the form has them before the press', async ({
  page,
}) => {
  const files = requestsTo(page, /after-payment/)
  await page.goto(DEMO_URL)
  await expect(page.getByRole('radio', { name: 'Card' })).toBeVisible()
  await page.evaluate(() => new Promise((done) => requestIdleCallback(done)))
  expect(files).toHaveLength(0)
  const arrived = page.waitForResponse(AFTER)
  await page.getByLabel('E-mail').fill(newEmail())
  await (await arrived).finished()
  await page.route('**/assets/**', (route) => route.abort())
  await payWith(page)
  await expectPaid(page)
  expect(files).toHaveLength(1)
})

test('the file does not arrive: a paid buyer reads so, has a link to the order, and gets the files once it is there', async ({
  page,
}) => {
  await page.route(AFTER, (route) => route.abort())
  await fillIn(page)
  await payWith(page)
  const title = page.getByRole('heading', { name: 'Your files are ready.' })
  await expect(title).toBeVisible()
  await expect(title).toBeFocused()
  await expect(page.getByRole('alert')).toContainText('Part of this page did not load.')
  const orderId = await shownOrderId(page)
  await expect(page.getByRole('link', { name: 'View your order' })).toHaveAttribute('href', `/order/?order=${orderId}`)
  await expect(page.getByRole('button', { name: 'Try again' })).toBeVisible()
  // It is asked for again by itself, at an address that the browser does not take for the one that failed.
  const tries = requestsTo(page, /after-payment/)
  await page.waitForRequest(AFTER)
  await page.unroute(AFTER)
  await expectPaid(page)
  expect(new URL(tries.at(-1)!.url()).search).not.toBe('')
  await expect(page.getByRole('heading', { name: 'Paid. It’s yours.' })).toBeFocused()
  await expect(page.getByRole('alert')).toHaveCount(0)
})

test('the file does not arrive before the bank answers: the page says that the payment is being confirmed', async ({
  page,
}) => {
  await page.route(AFTER, (route) => route.abort())
  await fillIn(page)
  const release = await sayNothing(page)
  await payWith(page, { scenario: 'delayed_decline' })
  await expect(page.getByRole('heading', { name: 'Your payment is being confirmed' })).toBeVisible()
  await expect(page.getByRole('link', { name: 'View your order' })).toBeVisible()
  release()
  // Why the bank said no needs no file: the buyer can try again at once.
  await expect(page.getByText('Your bank declined the payment. Nothing was taken.')).toBeVisible()
})

test('a buyer who comes back offline for the file reads where the order is', async ({ page }) => {
  const { orderId } = await makeOrder(page)
  await payWith(page)
  await expectPaid(page)
  await page.route(AFTER, (route) => route.abort())
  await page.reload()
  await expect(page.getByRole('link', { name: 'View your order' })).toHaveAttribute('href', `/order/?order=${orderId}`)
  await page.unroute(AFTER)
  await expectPaid(page)
})
