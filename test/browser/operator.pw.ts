import type { Page, Route } from '@playwright/test'
import { SIZES, expect, expectFine, test } from './fixtures.ts'
import { askCode, codeField, codeFor, newSellerEmail } from './seller.ts'
import { startService, type Service } from './service.ts'

const OPERATOR = 'ann@operator.test'
const OTHER_OPERATOR = 'zoe@operator.test'

// One service for all of these, because each start makes a database.
test.describe.configure({ mode: 'default' })

let service: Service
test.beforeAll(async () => {
  service = await startService({ OPERATORS: `${OPERATOR},${OTHER_OPERATOR}`, SIGNUP: 'approval' })
})
test.afterAll(async () => {
  await service?.stop()
})
test.beforeEach(({ watch }) => watch.allow(service.url))

/** Orders of the demo: one that is paid, and one for which another amount was paid. */
async function buy(page: Page, scenario: string): Promise<string> {
  const productId = new URL(service.demoUrl).searchParams.get('product')
  const { request } = page.context()
  const order = await (
    await request.post(`${service.url}/api/checkout`, { data: { productId, email: 'bob@example.com' } })
  ).json()
  const confirmed = await request.post(`${service.url}/api/sandbox/confirm`, {
    data: { clientSecret: order.clientSecret, rail: 'card', scenario },
  })
  expect(confirmed.ok()).toBe(true)
  const status = async () =>
    (await (await request.get(`${service.url}/api/checkout/${order.orderId}/status`)).json()).status as string
  await expect.poll(status).toBe(scenario === 'success' ? 'paid' : 'needs_review')
  return order.orderId as string
}

let codes = 0
async function signInAsOperator(page: Page): Promise<void> {
  await page.goto(`${service.url}/sign-in/?returnTo=/operator/`)
  await askCode(page, OPERATOR)
  await codeField(page).fill(await codeFor(page, OPERATOR, (codes += 1), service.url))
  await expect(page.getByRole('heading', { name: 'Overview' })).toBeVisible()
}

test.describe('on a phone', () => {
  test.use(SIZES.phone)

  test('an operator sees what needs a person, accepts a payment, and finds it in the log', async ({ page }) => {
    await buy(page, 'success')
    const orderId = await buy(page, 'wrong_amount')
    await signInAsOperator(page)
    await expect(page.getByText('No backup is set up.')).toBeVisible()
    await expect(page.getByText('Conversion', { exact: true }).first()).toBeVisible()
    await expectFine(page, 'the overview')
    for (const days of ['365', '7']) {
      await page.getByLabel('Period').selectOption(days)
      await expect(page.getByText(days === '365' ? /by week/ : /by day/).first()).toBeVisible()
    }

    await page.locator(`a[href="#/orders/${orderId}"]`).click()
    await page.getByRole('button', { name: /^Accept/ }).click()
    await expectFine(page, 'accepting a payment')
    await page
      .getByRole('dialog')
      .getByRole('button', { name: /^Accept/ })
      .click()
    await expect(page.locator('.head').getByText('Paid')).toBeVisible()
    await expect(page.getByText(`${OPERATOR} accepted a payment`)).toBeVisible()
    await expectFine(page, 'an order')

    await page.getByRole('button', { name: 'Refund' }).click()
    await page
      .getByRole('dialog')
      .getByLabel(/^Amount/)
      .fill('x')
    await expect(page.getByText('Please enter an amount such as 12.50.')).toBeVisible()
    await page
      .getByRole('dialog')
      .getByLabel(/^Amount/)
      .fill('1')
    await page.getByRole('dialog').getByRole('button', { name: 'Refund' }).click()
    await expect(page.getByText(`${OPERATOR} refunded an order`)).toBeVisible()

    await page.getByRole('button', { name: 'Recall' }).first().click()
    await page.getByRole('dialog').getByRole('button', { name: 'Recall' }).click()
    await expect(page.getByRole('dialog').getByRole('alert')).toBeVisible()
    await expectFine(page, 'a recall without a reason')
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click()

    await page.getByRole('link', { name: 'Orders', exact: true }).first().click()
    await page.getByLabel('Search all orders').fill('bob@example.com')
    await page.getByRole('button', { name: 'Search' }).click()
    await expect(page.locator(`a[href="#/orders/${orderId}"]`)).toBeVisible()
    await expectFine(page, 'the orders')
    await page.getByLabel('State', { exact: true }).selectOption('expired')
    await expect(page.getByText('No order was found.')).toBeVisible()

    await page.getByRole('link', { name: 'Log' }).click()
    await expect(page.getByText(`${OPERATOR} accepted a payment`).first()).toBeVisible()
    await expectFine(page, 'the log')
  })

  test('an operator approves and suspends a seller, whose shop says so', async ({ page, browser }) => {
    const context = await browser.newContext({ ...SIZES.phone, baseURL: service.url })
    const shop = await context.newPage()
    const email = newSellerEmail()
    await shop.goto('/sign-in/')
    await askCode(shop, email)
    await codeField(shop).fill(await codeFor(shop, email, 1, service.url))
    await expect(shop).toHaveURL(/\/(shop|account)\//)
    await shop.goto('/shop/')
    await expect(shop.getByText('Your shop awaits its approval')).toBeVisible()
    await expect(shop.getByRole('heading', { name: 'Three steps to your first sale' })).toBeVisible()
    await expectFine(shop, 'a shop that awaits its approval')
    await shop.goto('/operator/')
    await expect(shop.getByRole('heading', { name: 'There is nothing here' })).toBeVisible()

    await signInAsOperator(page)
    await page.getByRole('link', { name: /waits? for your approval/ }).click()
    await expect(page.getByLabel('Standing')).toHaveValue('awaiting_approval')
    await expectFine(page, 'the sellers')
    await page.getByLabel('Search sellers').fill(email)
    await page.getByRole('button', { name: 'Search' }).click()
    await page.getByRole('link', { name: 'New seller' }).click()
    await page.getByRole('button', { name: 'Approve' }).click()
    await expect(page.getByRole('dialog')).toContainText('The seller sells from now on.')
    await page.getByRole('dialog').getByRole('button', { name: 'Approve' }).click()
    await expect(page.locator('.head').getByText('May sell')).toBeVisible()
    await expectFine(page, 'a seller')
    await shop.goto('/shop/')
    await expect(shop.getByRole('heading', { name: 'Three steps to your first sale' })).toBeVisible()
    await expect(shop.getByText('Your shop awaits its approval')).toHaveCount(0)

    await page.getByRole('button', { name: 'Suspend' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Suspend' }).click()
    await expect(page.locator('.head').getByText('Suspended')).toBeVisible()
    await shop.reload()
    await expect(shop.getByText('Your shop is suspended')).toBeVisible()

    // a suspended seller who loses the approval sells nothing after either decision alone
    await page.getByRole('button', { name: 'Take the approval back' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Take the approval back' }).click()
    await page.getByRole('button', { name: 'Approve' }).click()
    await expect(page.getByRole('dialog')).toContainText('The seller is suspended, and sells nothing until that ends.')
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click()
    await page.getByRole('button', { name: 'End the suspension' }).click()
    await expect(page.getByRole('dialog')).toContainText(
      'The seller awaits your approval, and sells nothing until then.',
    )
    await context.close()
  })
})

test('a second payment that did not go back is sent back from its order, which stays as it is', async ({ page }) => {
  const orderId = await buy(page, 'success')
  // The sandbox always sends a second payment back. This one stands for a processor that could not.
  const addSecond = async (route: Route) => {
    const order = await (await route.fetch()).json()
    const [{ captures }] = order.payments
    captures.push({ ...captures[0], captureId: 'second', purpose: 'duplicate' })
    await route.fulfill({ json: order })
  }
  await page.context().route(`**/api/operator/orders/${orderId}`, addSecond, { times: 1 })
  const posts: string[] = []
  await page.context().route('**/send-back', (route) => {
    posts.push(new URL(route.request().url()).pathname)
    return route.fulfill({ status: 202, json: { items: [] } })
  })
  await signInAsOperator(page)
  await page.goto(`${service.url}/operator/#/orders/${orderId}`)
  await page.getByRole('button', { name: 'Send the other payment back' }).click()
  const dialog = page.getByRole('dialog')
  await expect(dialog).toContainText('goes back to bob@example.com, who gets a mail. The order stays as it is.')
  await expectFine(page, 'sending a second payment back')
  await dialog.getByRole('button', { name: 'Send the other payment back' }).click()
  await expect(dialog).toHaveCount(0)
  await expect(page.getByRole('button', { name: 'Send the other payment back' })).toHaveCount(0)
  await expect(page.getByRole('button', { name: 'Refund' })).toBeVisible()
  expect(posts).toEqual([`/api/operator/orders/${orderId}/send-back`])
})

/** Lets the first request arrive and loses its answer. Returns the keys of all requests. */
async function loseFirstAnswer(page: Page, address: string): Promise<string[]> {
  const keys: string[] = []
  await page.context().route(address, async (route) => {
    keys.push(route.request().headers()['idempotency-key']!)
    if (keys.length > 1) return route.continue()
    await route.fetch()
    await route.abort('connectionreset')
  })
  return keys
}

test('an operator’s refund whose answer was lost is made once, also after a new sign-in', async ({ page }) => {
  const orderId = await buy(page, 'success')
  await signInAsOperator(page)
  await page.goto(`${service.url}/operator/#/orders/${orderId}`)
  const keys = await loseFirstAnswer(page, '**/api/operator/orders/*/refunds')
  const dialog = page.getByRole('dialog')
  const unknown = dialog.getByText(/^We do not know whether the refund of \D*1\.00 was made\.$/)
  await page.getByRole('button', { name: 'Refund' }).click()
  await dialog.getByLabel(/^Amount/).fill('1')
  await dialog.getByRole('button', { name: 'Refund' }).click()
  await expect(unknown).toBeVisible()
  await page.reload()
  await page.getByRole('button', { name: 'Refund' }).click()
  await expect(unknown).toBeVisible()
  await expect(dialog.getByRole('textbox')).toHaveCount(0)
  await expectFine(page, 'a refund whose answer was lost')
  await page.context().clearCookies()
  await dialog.getByRole('button', { name: 'Refund' }).click()
  await expect(page).toHaveURL(/\/sign-in\//)
  await askCode(page, OPERATOR)
  await codeField(page).fill(await codeFor(page, OPERATOR, (codes += 1), service.url))
  await page.getByRole('button', { name: 'Refund' }).click()
  await expect(unknown).toBeVisible()
  await dialog.getByRole('button', { name: 'Refund' }).click()
  await expect(dialog).toHaveCount(0)
  expect([keys.length, new Set(keys).size]).toEqual([3, 1])
  const order = await (await page.context().request.get(`${service.url}/api/operator/orders/${orderId}`)).json()
  expect(order.refunds).toHaveLength(1)
  // the next one is another refund
  await page.getByRole('button', { name: 'Refund' }).click()
  await dialog.getByLabel(/^Amount/).fill('1')
  await dialog.getByRole('button', { name: 'Refund' }).click()
  await expect(dialog).toHaveCount(0)
  expect(new Set(keys).size).toBe(2)
})

test('an adjustment whose answer was lost is booked once, also after a reload', async ({ page }) => {
  await signInAsOperator(page)
  await page.goto(`${service.url}/operator/#/sellers`)
  await page.locator('.found a').first().click()
  const keys = await loseFirstAnswer(page, '**/api/operator/sellers/*/adjustments')
  const dialog = page.getByRole('dialog')
  await page.getByRole('button', { name: 'Adjust the balance' }).click()
  await dialog.getByLabel('Currency').fill('USD')
  await dialog.getByLabel('Amount in USD').fill('5')
  await dialog.getByLabel('Reason').fill('The bank gave a fee back')
  await dialog.getByRole('button', { name: 'Adjust the balance' }).click()
  const unknown = dialog.getByText('We do not know whether the adjustment of $5.00 was made.')
  await expect(unknown).toBeVisible()
  await page.reload()
  await page.getByRole('button', { name: 'Adjust the balance' }).click()
  await expect(unknown).toBeVisible()
  await dialog.getByRole('button', { name: 'Adjust the balance' }).click()
  await expect(dialog).toHaveCount(0)
  expect([keys.length, new Set(keys).size]).toEqual([2, 1])
  await expect(page.getByText(/corrected a seller’s balance/)).toHaveCount(1)
})

test('an operator’s form names the fields that are empty or cannot be read, and sends nothing', async ({ page }) => {
  const orderId = await buy(page, 'success')
  await signInAsOperator(page)
  const sent: string[] = []
  page.on('request', (request) => request.method() !== 'GET' && sent.push(request.url()))
  await page.goto(`${service.url}/operator/#/orders/${orderId}`)
  const dialog = page.getByRole('dialog')
  const press = (name: string) => dialog.getByRole('button', { name }).click()
  await page.getByRole('button', { name: 'Refund' }).click()
  await dialog.getByLabel(/^Amount/).fill('x')
  await press('Refund')
  await expect(dialog.getByLabel(/^Amount/)).toBeFocused()
  await expect(dialog.getByRole('alert')).toHaveCount(0)
  await press('Cancel')

  await page.locator('.facts a').click()
  await page.getByRole('button', { name: 'Set the quota' }).click()
  await dialog.getByLabel('Gigabytes').fill('x')
  await press('Set the quota')
  await expect(dialog.getByLabel('Gigabytes')).toBeFocused()
  // a thousand to one reader, and one to another
  await dialog.getByLabel('Gigabytes').fill('1,000')
  await press('Set the quota')
  await expect(dialog.getByText('Please enter a number such as 20 or 1.5, without separators.')).toBeVisible()
  await expect(dialog.getByRole('alert')).toHaveCount(0)
  await press('Cancel')

  await page.getByRole('button', { name: 'Adjust the balance' }).click()
  await press('Adjust the balance')
  for (const fault of ['a code such as EUR', 'an amount such as 12.50', 'the reason'])
    await expect(dialog.getByText(`Please enter ${fault}.`)).toBeVisible()
  await expect(dialog.getByLabel('Currency')).toBeFocused()
  await expectFine(page, 'an adjustment with faults')
  await dialog.getByLabel('Currency').fill('USD')
  await press('Adjust the balance')
  await expect(dialog.getByLabel('Amount in USD')).toBeFocused()
  await expect(dialog.getByRole('alert')).toHaveCount(0)
  expect(sent).toEqual([])
})

test('an operator whose session has ended is led to the sign-in, and back to the same view', async ({ page }) => {
  await signInAsOperator(page)
  await page.goto(`${service.url}/operator/#/sellers`)
  await expect(page.getByRole('heading', { name: 'Sellers' })).toBeVisible()
  // the list still on its way would lead to the sign-in before the search does
  await expect(page.locator('.found li').first()).toBeVisible()
  await page.context().clearCookies()
  await page.getByLabel('Search sellers').fill('nobody')
  await page.getByRole('button', { name: 'Search' }).click()
  await expect(page).toHaveURL(/\/sign-in\//)
  await askCode(page, OPERATOR)
  await codeField(page).fill(await codeFor(page, OPERATOR, (codes += 1), service.url))
  await expect(page.getByRole('heading', { name: 'Sellers' })).toBeVisible()
  expect(new URL(page.url()).hash).toContain('q=nobody')
})

test('a page of one operator does nothing in the session of another account that signed in elsewhere', async ({
  page,
  context,
}) => {
  const orderId = await buy(page, 'wrong_amount')
  await signInAsOperator(page)
  await page.goto(`${service.url}/operator/#/orders/${orderId}`)
  await page.getByRole('button', { name: /^Accept/ }).click()
  const [other, headers] = [OTHER_OPERATOR, { origin: service.url }]
  const post = (path: string, data: object) =>
    context.request.post(`${service.url}/api/auth/${path}`, { data, headers })
  expect((await post('otp', { email: other })).ok()).toBe(true)
  expect((await post('otp/verify', { email: other, code: await codeFor(page, other, 1, service.url) })).ok()).toBe(true)
  const reloaded = page.waitForEvent('load')
  await page
    .getByRole('dialog')
    .getByRole('button', { name: /^Accept/ })
    .click()
  await reloaded
  await expect(page.getByRole('button', { name: /^Accept/ })).toBeVisible()
  await expect(page.getByText('accepted a payment')).toHaveCount(0)
})

test('a search keeps the seller of the address, and the focus', async ({ page }) => {
  await signInAsOperator(page)
  await page.goto(`${service.url}/operator/#/payouts?sellerId=sel_00000000000000000000000000`)
  const field = page.getByLabel('Search payouts')
  await field.fill('PO1')
  await field.press('Enter')
  await expect(page).toHaveURL(/q=PO1/)
  await expect(page.getByText('No payout was found.')).toBeVisible()
  await expect(field).toBeFocused()
  await page.getByLabel('State', { exact: true }).selectOption('paid')
  await expect(page).toHaveURL(/status=paid/)
  await expect(page).toHaveURL(/sellerId=sel_/)
  await page.goBack()
  await page.goBack()
  await expect(field).toHaveValue('')
})

test('signing out while a list is read says that, and keeps no way back', async ({ page }) => {
  await signInAsOperator(page)
  const list = /\/api\/operator\/orders/
  const { promise: ended, resolve: end } = Promise.withResolvers<void>()
  await page.route(list, async (route) => {
    await ended
    await route.continue()
  })
  // the session has ended, and the held request hears of it before the page does
  await page.route('**/api/auth/session', async (route) => {
    if (route.request().method() !== 'DELETE') return route.continue()
    const response = await route.fetch()
    const refused = page.waitForResponse(list)
    end()
    await (await refused).finished()
    await page.evaluate(() => new Promise(requestAnimationFrame)).catch(() => {})
    await route.fulfill({ response })
  })
  const asked = page.waitForRequest(list)
  await page.getByRole('link', { name: 'Orders' }).click()
  await asked
  await page.getByRole('button', { name: 'Sign out' }).click()
  await expect(page.getByText('You are signed out.')).toBeVisible()
  expect(await page.evaluate(() => JSON.stringify(sessionStorage))).not.toContain('way-back')
})

test('signing out asks before it deletes a text that the tab keeps for the shop', async ({ page }) => {
  await signInAsOperator(page)
  await page.evaluate(() => sessionStorage.setItem('till:shop-draft:api-key', '{}'))
  await page.getByRole('button', { name: 'Sign out' }).click()
  await expect(page.getByRole('alert')).toContainText('Unsaved text will be lost.')
  await expect(page.getByRole('alert')).toBeInViewport()
  await expectFine(page, 'signing out with unsaved text')
  await page.getByRole('button', { name: 'Sign out' }).click()
  await expect(page.getByText('You are signed out.')).toBeVisible()
})

test('signing out says when it does not succeed, and deletes the unsaved texts of the tab', async ({ page }) => {
  await signInAsOperator(page)
  const drafts = () => page.evaluate(() => Object.keys(sessionStorage).filter((name) => name.includes('draft')))
  await page.evaluate(() => sessionStorage.setItem('till:shop-draft:refund:ord_1', '{}'))
  // The overview may still be asking at the same address who is signed in.
  let lost = 0
  await page.route('**/api/auth/session', (route) =>
    route.request().method() === 'DELETE' && ++lost === 1 ? route.abort('connectionreset') : route.continue(),
  )
  await page.getByRole('button', { name: 'Sign out' }).click()
  await expect(page.getByRole('alert')).toContainText('The service cannot be reached right now.')
  await expectFine(page, 'a sign-out that did not succeed')
  expect(await drafts()).toHaveLength(1)
  await page.getByRole('button', { name: 'Sign out' }).click()
  await expect(page).toHaveURL(/\/sign-in\//)
  expect(await drafts()).toEqual([])
})
