import path from 'node:path'
import pg from 'pg'
import { findEmbedded } from '../../src/kit/embedded.ts'
import {
  expectNoPayButton,
  expectPaid,
  fillCard,
  fillIn,
  kept,
  makeOrder,
  newEmail,
  payButton,
  payByCard,
  payWith,
  requestsTo,
  sayBefore,
  sayNothing,
  shownOrderId,
  statusOf,
  tryAgain,
} from './buyer.ts'
import { DEMO_URL, expect, test } from './fixtures.ts'

const CARD = '4242424242424242'

let client: pg.Client
test.beforeAll(async () => {
  client = new pg.Client({ connectionString: findEmbedded(path.join(process.env.SERVICE_DATA_DIR!, 'postgres')) })
  await client.connect()
})
test.afterAll(() => client.end())

test('a reload keeps the order before, during and after the payment', async ({ page }) => {
  const { orderId } = await makeOrder(page)
  await page.reload()
  await expect(payButton(page)).toBeVisible()
  expect(await shownOrderId(page)).toBe(orderId)

  const release = await sayBefore(page, 'processing')
  await payWith(page, { scenario: 'delayed' })
  await expect(page.getByRole('heading', { name: 'Your bank is processing the payment' })).toBeVisible()
  await page.reload()
  await expectNoPayButton(page)
  await expect(page.getByRole('heading', { name: 'Your bank is processing the payment' })).toBeVisible()
  await expectNoPayButton(page)
  release()
  await expectPaid(page)

  await page.reload()
  await expectPaid(page)
  expect(await shownOrderId(page)).toBe(orderId)
})

test('the link with other terms makes no order by itself: the kept one is shown until the buyer presses', async ({
  page,
}) => {
  const { orderId } = await makeOrder(page)
  const created = requestsTo(page, /^\/api\/checkout$/)
  await page.goto(`${DEMO_URL}&clientReferenceId=cart-9`)
  await expect(payButton(page)).toBeVisible()
  expect(await shownOrderId(page)).toBe(orderId)
  const { clientReferenceId } = created[0]!.postDataJSON() as { clientReferenceId?: string }
  expect([created.length, clientReferenceId]).toEqual([1, undefined])
  for (const cart of ['cart-9', 'cart-10']) {
    await page.goto(`${DEMO_URL}&clientReferenceId=${cart}`)
    await payWith(page, { scenario: 'decline' })
    // the page can say from the beginning that the payment before was declined
    await expect.poll(() => created.at(-1)!.postDataJSON().clientReferenceId).toBe(cart)
    await expect(payButton(page)).toBeEnabled()
    await expect(page.getByText('Your bank declined the payment.')).toBeVisible()
  }
  await page.goto(DEMO_URL)
  const last = await shownOrderId(page)
  await payWith(page)
  await expectPaid(page)
  expect(await shownOrderId(page), 'an address without terms pays the order as it was made').toBe(last)
})

test('a page that is reloaded while it creates the order gets that order, not a second one', async ({ page }) => {
  const created = requestsTo(page, /^\/api\/checkout$/)
  await page.route('**/api/checkout', async (route) => {
    await route.fetch()
    // The service has made the order, and its answer never arrives.
    await route.abort()
  })
  await fillIn(page)
  await fillCard(page, CARD)
  await payButton(page).click()
  await expect(page.getByRole('alert')).toContainText('We cannot reach the shop')
  await page.unroute('**/api/checkout')
  await page.reload()
  expect(await shownOrderId(page)).toMatch(/^ord_/)
  await expect(payButton(page)).toBeVisible()
  expect(created).toHaveLength(2)
  const keys = new Set(await Promise.all(created.map((request) => request.headerValue('idempotency-key'))))
  expect(keys.size).toBe(1)
})

test('a product that is gone while its buyer is away leads to the order, not to a dead end', async ({ page }) => {
  const { orderId } = await makeOrder(page)
  await page.evaluate(() => {
    const place = Object.keys(localStorage).find((name) => name.startsWith('till:product:'))
    localStorage.setItem('till:product:prod_gone', localStorage.getItem(place!)!)
  })
  await page.goto('/pay/?product=prod_gone')
  await expect(page).toHaveURL(new RegExp(`/order/\\?order=${orderId}`))
  // the way back to pay it would lead here again
  await expect(page.getByRole('link', { name: 'Go on to the payment' })).toHaveAttribute(
    'href',
    /^\/pay\/\?product=\w+#pay$/,
  )
  await page.goto('/pay/?product=prod_gone#pay')
  await expect(page.getByRole('heading', { name: 'This product is not for sale' })).toBeVisible()
})

test('the back button brings the paid order back, never a way to pay it again', async ({ page }) => {
  await makeOrder(page)
  await payWith(page)
  await expectPaid(page)
  await page.getByRole('link', { name: 'View your order' }).click()
  await expect(page.getByRole('heading', { name: 'Thank you. It’s yours.' })).toBeVisible()
  await page.goBack()
  await expectPaid(page)
  await page.goto(DEMO_URL)
  await expectPaid(page)
})

test('a page from the back-forward cache asks the service again', async ({ page }) => {
  const { email, orderId } = await makeOrder(page)
  // Chromium restores a page from its cache with the old screen and this event.
  await page.route('**/status?**', (route) => route.fulfill({ json: paidAnswer(orderId) }))
  await page.evaluate(() => dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true })))
  await expect(page.getByRole('heading', { name: 'Paid. It’s yours.' })).toBeVisible()
  await expectNoPayButton(page)
  expect(email).toBeTruthy()
})

test('a double click makes one order and one payment', async ({ page }) => {
  const created = requestsTo(page, /^\/api\/checkout$/)
  const confirmed = requestsTo(page, /^\/api\/sandbox\/confirm$/)
  await fillIn(page)
  await fillCard(page, CARD)
  await payButton(page).dblclick()
  await expectPaid(page)
  expect(created).toHaveLength(1)
  expect(confirmed).toHaveLength(1)
})

test('two tabs share one order, and the one that waits follows the one that pays', async ({ page, context }) => {
  const { email, orderId } = await makeOrder(page)
  const other = await context.newPage()
  await other.goto(DEMO_URL)
  await expect(payButton(other)).toBeVisible()
  expect(await shownOrderId(other)).toBe(orderId)

  await payWith(page, { scenario: 'delayed' })
  await expectNoPayButton(other)
  await expectPaid(page)
  await expectPaid(other)
  expect((await statusOf(page, orderId, email)).timeline.map(({ what }) => what)).toEqual([
    'created',
    'payment_processing',
    'paid',
  ])
})

test('two tabs that pay at the same moment end with one order, which is paid once', async ({ page, context }) => {
  const other = await context.newPage()
  const email = newEmail()
  const created = [page, other].map((tab) => requestsTo(tab, /^\/api\/checkout$/))
  for (const tab of [page, other]) {
    await fillIn(tab, email)
    await fillCard(tab, CARD)
  }
  // Neither is answered before both have asked: a tab that hears of an order has no form any more.
  const { promise: asked, resolve } = Promise.withResolvers<void>()
  await context.route('**/api/checkout', async (route) => {
    await asked
    await route.continue()
  })
  await Promise.all([page, other].map((tab) => tab.evaluate(() => document.forms[0]!.requestSubmit())))
  await expect.poll(() => created.flat().length).toBeGreaterThan(0)
  resolve()
  // A tab that took over the order of the other one asks for another press, which finds it paid.
  await expect(async () => {
    for (const tab of [page, other])
      if (await payButton(tab).isVisible()) await payButton(tab).click({ timeout: 1_000 })
    for (const tab of [page, other])
      await expect(tab.getByRole('heading', { name: 'Paid. It’s yours.' })).toBeVisible({ timeout: 4_000 })
  }).toPass()
  const orderId = await shownOrderId(page)
  expect(await shownOrderId(other)).toBe(orderId)
  const { timeline } = await statusOf(page, orderId, email)
  expect(timeline.map(({ what }) => what)).toEqual(['created', 'paid'])
})

test('a tab that does not know of the payment in another one cannot take the money again', async ({
  page,
  context,
}) => {
  const { orderId, email } = await makeOrder(page)
  const other = await context.newPage()
  await other.addInitScript(() => addEventListener('storage', (event) => event.stopImmediatePropagation(), true))
  await other.goto(DEMO_URL)
  await expect(payButton(other)).toBeVisible()
  await payWith(page)
  await expectPaid(page)
  await payByCard(other)
  await expectPaid(other)
  expect((await statusOf(page, orderId, email)).timeline.map(({ what }) => what)).toEqual(['created', 'paid'])
})

test('offline in the middle: the order stays, the buyer is not asked to pay twice, and the page continues by itself', async ({
  page,
  context,
}) => {
  const { orderId } = await makeOrder(page)
  await fillCard(page, CARD)
  await context.setOffline(true)
  await payButton(page).click()
  await expect(page.getByText('You are offline.')).toBeVisible()
  await expectNoPayButton(page)
  await context.setOffline(false)
  // The service asks the processor, which holds nothing. Only then may the buyer try again.
  await expect(page.getByText('Your payment did not go through. Nothing was taken.')).toBeVisible()
  expect(await shownOrderId(page)).toBe(orderId)
  await payWith(page)
  await expectPaid(page)
})

test('offline at the first step: the page says that there is no order, and makes it when it is back', async ({
  page,
  context,
}) => {
  const confirmed = requestsTo(page, /^\/api\/sandbox\/confirm$/)
  await fillIn(page)
  await fillCard(page, CARD)
  await expect(page.getByRole('radio', { name: 'Card', exact: true })).toBeVisible()
  await context.setOffline(true)
  await payButton(page).click()
  await expect(page.getByRole('alert')).toHaveText(
    'You are offline.Your order is not created yet. We create it as soon as you are back online.',
  )
  await context.setOffline(false)
  expect(await shownOrderId(page)).toMatch(/^ord_/)
  await expect(payButton(page)).toHaveText('Pay ₹499.00')
  expect(confirmed, 'only a press pays').toHaveLength(0)
})

test('a request that failed is not sent again by itself after the address was changed', async ({ page, context }) => {
  await fillIn(page)
  await fillCard(page, CARD)
  const field = page.getByLabel('E-mail')
  await expect(page.getByRole('radio', { name: 'Card', exact: true })).toBeVisible()
  await context.setOffline(true)
  await payButton(page).click()
  await expect(page.getByText('Your order is not created yet')).toBeVisible()
  const to = newEmail()
  await field.fill(to)
  await expect(page.getByText('Your order is not created yet')).toBeHidden()
  const orders = requestsTo(page, /^\/api\/checkout$/)
  await context.setOffline(false)
  await page.evaluate(() => new Promise((done) => setTimeout(done, 0)))
  expect(orders).toHaveLength(0)
  await payButton(page).click()
  await expectPaid(page)
  expect(orders.map((one) => one.postDataJSON().email)).toEqual([to])
})

test('a mistyped address that could not be sent is not sent by a reload after it was corrected', async ({
  page,
  context,
}) => {
  const orders = requestsTo(page, /^\/api\/checkout$/)
  await fillIn(page)
  await fillCard(page, CARD)
  const field = page.getByLabel('E-mail')
  await expect(page.getByRole('radio', { name: 'Card', exact: true })).toBeVisible()
  await context.setOffline(true)
  await payButton(page).click()
  await expect(page.getByText('Your order is not created yet')).toBeVisible()
  const tried = orders.length
  await field.fill(newEmail())
  expect(await kept(page)).toBeNull()
  await context.setOffline(false)
  await page.reload()
  await expect(payButton(page)).toBeVisible()
  await expect(field).toHaveValue('')
  expect(orders).toHaveLength(tried)
})

test('an order whose address is being corrected meanwhile is not paid, and the next press is about the new address', async ({
  page,
}) => {
  const confirmed = requestsTo(page, /^\/api\/sandbox\/confirm$/)
  const answer = Promise.withResolvers<void>()
  await page.route('**/api/checkout', async (route) => {
    const response = await route.fetch()
    await answer.promise
    await route.fulfill({ response })
  })
  const orders = requestsTo(page, /^\/api\/checkout$/)
  await fillIn(page)
  await fillCard(page, CARD)
  const field = page.getByLabel('E-mail')
  await payButton(page).click()
  await expect(page.getByRole('button', { name: 'Creating your order…' })).toBeVisible()
  const right = newEmail()
  await field.fill(right)
  answer.resolve()
  await expect(page.getByRole('button', { name: 'Creating your order…' })).toHaveCount(0)
  expect(confirmed).toHaveLength(0)
  await expect(field).toHaveValue(right)
  await payButton(page).click()
  await expectPaid(page)
  expect(orders.map((one) => one.postDataJSON().email).at(-1)).toBe(right)
  expect((await statusOf(page, await shownOrderId(page), right)).status).toBe('paid')
})

test('a corrected address stays corrected in another language, and after the press no earlier text comes back', async ({
  page,
}) => {
  const [wrong, right, last] = [newEmail(), newEmail(), newEmail()]
  await makeOrder(page, wrong)
  const orders = requestsTo(page, /^\/api\/checkout$/)
  const field = page.locator('#email')
  const choice = page.locator('.language select')
  await field.fill(right)
  for (const language of ['fr', 'en']) {
    await choice.selectOption(language)
    await expect(page.locator('html')).toHaveAttribute('lang', language)
    await expect(field).toHaveValue(right)
  }
  await field.fill(last)
  await payWith(page, { scenario: 'decline' })
  await expect(page.getByText('Your bank declined the payment.')).toBeVisible()
  await expect(field).toHaveValue(last)
  await payWith(page)
  await expectPaid(page)
  const made = orders.map((one) => one.postDataJSON().email)
  expect([made.at(-1), made.includes(right)]).toEqual([last, false])
  expect((await statusOf(page, await shownOrderId(page), last)).status).toBe('paid')
})

test('an order that has moved to another address leads to its own page, and is asked for once', async ({ page }) => {
  const { orderId } = await makeOrder(page)
  await payWith(page)
  await expectPaid(page)
  // a paid page looks again by itself
  await page.goto('/pricing/')
  // the seller has corrected the address, and its reader has confirmed it
  const right = newEmail()
  await client.query('update orders set email = $2 where id = $1', [orderId, right])
  const askedBy: string[] = []
  page.on('request', (one) => /\/status\?/.test(one.url()) && askedBy.push(new URL(page.url()).pathname))
  await page.goto(DEMO_URL)
  await expect(page).toHaveURL(`/order/?order=${orderId}`)
  expect(askedBy.filter((path) => path === '/pay/')).toHaveLength(1)
  await page.getByLabel('E-mail').fill(right)
  await page.getByRole('button', { name: 'Show the order' }).click()
  await expect(page.getByRole('link', { name: /^Download / })).toHaveCount(3)
  // this browser knows the address now, and the product can be bought again
  await page.goto(DEMO_URL)
  await expect(payButton(page)).toBeVisible()
  expect(await kept(page)).toBeNull()
})

test('open pages show a second payment that is found after the files came', async ({ page, context }) => {
  const { orderId } = await makeOrder(page)
  await payWith(page, { scenario: 'double_capture' })
  await expectPaid(page)
  const receipt = await context.newPage()
  await receipt.goto(`/order/?order=${orderId}`)
  for (const one of [page, receipt]) await expect(one.getByText('Two payments arrived.')).toBeVisible()
})

test('the answer to the payment is lost on the way: the page finds out by itself that it is paid', async ({ page }) => {
  const { email, orderId } = await makeOrder(page)
  await page.route('**/api/sandbox/confirm', async (route) => {
    await route.fetch()
    await route.abort()
  })
  const release = await sayNothing(page)
  await payWith(page, { scenario: 'lost_webhook' })
  await expect(page.getByRole('heading', { name: 'Checking with your bank' })).toBeVisible()
  await expectNoPayButton(page)
  await page.reload()
  await expect(page.getByRole('heading', { name: 'Checking with your bank' })).toBeVisible()
  await expectNoPayButton(page)
  release()
  await expectPaid(page)
  expect((await statusOf(page, orderId, email)).timeline.map(({ what }) => what)).toEqual(['created', 'paid'])
})

test('a paid order stays paid on the screen when the service cannot be reached', async ({ page, context }) => {
  await makeOrder(page)
  await payWith(page)
  await expectPaid(page)
  await page.route('**/api/**', (route) => route.abort())
  await page.evaluate(() => document.dispatchEvent(new Event('visibilitychange')))
  await expectPaid(page)
  await page.reload()
  // The state is unknown now, so the page offers nothing.
  await expect(page.getByRole('heading', { name: 'Looking up your order' })).toBeVisible()
  await expect(page.getByRole('alert')).toBeVisible()
  await expectNoPayButton(page)
  await page.unroute('**/api/**')
  await tryAgain(page)
  await expectPaid(page)
  expect(context.pages()).toHaveLength(1)
})

test('where the status of a repeated order does not come, the typed card stays, and the next press pays', async ({
  page,
}) => {
  await fillIn(page)
  await fillCard(page, CARD)
  await page.route('**/api/checkout', (route) => route.abort(), { times: 1 })
  await payButton(page).click()
  await expect(page.getByRole('alert')).toBeVisible()
  const asked = page.waitForRequest('**/status?**')
  await page.route('**/status?**', (route) => route.abort(), { times: 1 })
  await payButton(page).click()
  await asked
  await expect(page.getByRole('alert')).toBeVisible()
  await expect(page.locator('#card-number')).toHaveValue('4242 4242 4242 4242')
  await payButton(page).click()
  await expectPaid(page)
})

test('the service is busy: the page says so, keeps the order and tries again', async ({ page }) => {
  await fillIn(page)
  await fillCard(page, CARD)
  await page.route('**/api/checkout', (route) =>
    route.fulfill({
      status: 503,
      headers: { 'content-type': 'application/problem+json', 'retry-after': '7' },
      json: { status: 503, code: 'processor_unavailable', title: '', detail: '' },
    }),
  )
  await payButton(page).click()
  await expect(page.getByRole('alert')).toContainText('Nothing was taken; please try again in 7 seconds.')
  await page.unroute('**/api/checkout')
  await payButton(page).click()
  await expectPaid(page)
})

test('a request that the service did not read in time is sent again by itself, with its key', async ({ page }) => {
  const created = requestsTo(page, /^\/api\/checkout$/)
  await fillIn(page)
  await fillCard(page, CARD)
  await page.route(
    '**/api/checkout',
    (route) => route.fulfill({ status: 408, json: { status: 408, code: 'request_timeout' } }),
    {
      times: 1,
    },
  )
  await payButton(page).click()
  await expect(page.getByRole('alert')).toContainText('The shop is busy right now.')
  await page.evaluate(() => dispatchEvent(new Event('online')))
  expect(await shownOrderId(page)).toMatch(/^ord_/)
  const keys = new Set(await Promise.all(created.map((request) => request.headerValue('idempotency-key'))))
  expect([created.length, keys.size]).toEqual([2, 1])
})

test('a key that belongs to another request is replaced by a new one', async ({ page }) => {
  await page.goto(DEMO_URL)
  let refused = 0
  await page.route('**/api/checkout', (route) =>
    refused++ === 0
      ? route.fulfill({
          status: 409,
          contentType: 'application/problem+json',
          json: { status: 409, code: 'idempotency_key_reused', detail: '' },
        })
      : route.continue(),
  )
  await page.getByLabel('E-mail').fill(newEmail())
  await payByCard(page)
  await expectPaid(page)
})

test('an order that the service no longer knows is dropped, and the buyer starts again', async ({ page }) => {
  await makeOrder(page)
  await page.evaluate(() => {
    for (const name of Object.keys(localStorage)) {
      if (name.startsWith('till:product:'))
        localStorage.setItem(name, localStorage[name].replace(/ord_[0-9a-z]{4}/, 'ord_0000'))
    }
  })
  await page.reload()
  await expect(payButton(page)).toBeVisible()
  await expect(page.getByText(/^ord_/)).toHaveCount(0)
})

test('buying once more is a choice of its own, and makes a new order', async ({ page }) => {
  const { orderId } = await makeOrder(page)
  await payWith(page)
  await expectPaid(page)
  await page.getByRole('button', { name: 'Buy another copy' }).click()
  await page.getByLabel('E-mail').fill(newEmail())
  await payWith(page)
  await expectPaid(page)
  expect(await shownOrderId(page)).not.toBe(orderId)
  expect((await kept(page))?.orderId).toBe(await shownOrderId(page))
})

test('a browser without storage can buy too', async ({ page }) => {
  await page.addInitScript(() => {
    Object.defineProperty(window, 'localStorage', {
      get() {
        throw new DOMException('forbidden', 'SecurityError')
      },
    })
  })
  await fillIn(page)
  await fillCard(page, CARD)
  await payWith(page)
  await expectPaid(page)
})

for (const [status, title] of [
  ['expired', 'This order has expired'],
  ['refunded', 'This order was refunded'],
  ['disputed', 'This payment is disputed'],
  ['charged_back', 'Your bank reversed this payment'],
  ['needs_review', 'We’re reviewing your payment'],
] as const) {
  test(`${status}: the page explains it, and offers neither files nor a second payment`, async ({ page }) => {
    const { orderId } = await makeOrder(page)
    await page.route('**/status?**', (route) =>
      route.fulfill({ json: { ...paidAnswer(orderId), status, paid: false } }),
    )
    await page.reload()
    await expect(page.getByRole('heading', { name: title })).toBeVisible()
    await expectNoPayButton(page)
    await expect(page.getByRole('link', { name: /^Download / })).toHaveCount(0)
  })
}

test('a payment that the operator has sent back: both pages say so, and the buyer can order again', async ({
  page,
}) => {
  const { orderId } = await makeOrder(page)
  const timeline = ['created', 'needs_review', 'payment_returned'].map((what, at) => ({ at: `2026-11-24T12:00:0${at}Z`, what })) // oxfmt-ignore
  await page.route('**/status?**', (route) =>
    route.fulfill({
      json: {
        ...paidAnswer(orderId),
        status: 'needs_review',
        paid: false,
        paymentReturned: true,
        timeline,
        downloads: [],
      },
    }),
  )
  await page.reload()
  await expect(page.getByRole('heading', { name: 'Your payment was sent back' })).toBeVisible()
  await expect(page.getByRole('button', { name: 'Buy it again' })).toBeVisible()
  await page.getByRole('link', { name: 'View your order' }).click()
  await expect(page.getByRole('heading', { name: 'Your payment was sent back' })).toBeVisible()
  await expect(page.getByText('It did not match the price of this order.')).toBeVisible()
  await expect(page.getByText('reviewing')).toHaveCount(0)
})

test('a price that changed between page and order is shown before the payment', async ({ page }) => {
  await page.route('**/api/checkout', async (route) => {
    const response = await route.fetch()
    await route.fulfill({ response, json: { ...(await response.json()), amount: 59_900 } })
  })
  const confirmed = requestsTo(page, /^\/api\/sandbox\/confirm$/)
  await fillIn(page)
  await fillCard(page, CARD)
  await payButton(page).click()
  await expect(page.getByRole('alert')).toContainText('The price is now ₹599.00.')
  await expect(payButton(page)).toHaveText('Pay ₹599.00')
  expect(confirmed).toHaveLength(0)
  await payButton(page).click()
  await expectPaid(page)
})

const paidAnswer = (orderId: string) => ({
  orderId,
  status: 'paid',
  paid: true,
  amount: 49_900,
  currency: 'INR',
  downloads: [],
  nextPollMs: null,
  statusToken: 'token',
})

test('a browser without room keeps the newer order while the page is open', async ({ page }) => {
  const { orderId } = await makeOrder(page)
  await page.evaluate(() => {
    Storage.prototype.setItem = () => {
      throw new DOMException('The quota has been exceeded.', 'QuotaExceededError')
    }
  })
  const to = newEmail()
  await page.getByLabel('E-mail').fill(to)
  await payWith(page)
  await expectPaid(page)
  const made = await shownOrderId(page)
  expect([made === orderId, (await statusOf(page, made, to)).status]).toEqual([false, 'paid'])
})
