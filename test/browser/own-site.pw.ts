import type { Page } from '@playwright/test'
import { de } from '../../src/words/de.ts'
import {
  expectNoPayButton,
  expectPaid,
  kept,
  makeOrder,
  newEmail,
  payButton,
  payByCard,
  payWith,
  requestsTo,
  shownOrderId,
  statusOf,
} from './buyer.ts'
import { BASE_URL, DEMO_URL, PRODUCT_ID, expect, test } from './fixtures.ts'
import { type OtherSite, buyLink, changeSite, startOtherSite, waitForEver } from './other-site.ts'

// The checkout in the whole window, reached from the seller's own site and leading back to it.
test.describe.configure({ mode: 'default' })

let site: OtherSite
test.beforeAll(async () => {
  site = await startOtherSite()
  await changeSite('put', site.host)
})
test.afterAll(async () => {
  await changeSite('delete', site.host)
  await site.close()
})
test.beforeEach(({ watch }) => watch.allow(site.origin))

const linkTo = (query: Record<string, string>, url = DEMO_URL) => `${url}&${new URLSearchParams(query)}`

test('after the payment the buyer goes on to the site, which learns the order and nothing else', async ({ page }) => {
  const email = newEmail()
  await page.goto(
    linkTo({ successUrl: `${site.origin}/thanks?a=1%202&order=ord_other&b=%C3%BC#top`, clientReferenceId: 'cart-7' }),
  )
  await page.getByLabel('E-mail').fill(email)
  const arrived = page.waitForRequest(`${site.origin}/thanks**`)
  await payByCard(page)
  const request = await arrived
  expect(await request.headerValue('referer')).toBeNull()
  await expect(page.getByRole('heading', { name: 'Another page' })).toBeVisible()
  const [, orderId] = /^http:\/\/localhost:\d+\/thanks\?a=1%202&b=%C3%BC&order=(ord_[0-9a-z]{26})#top$/.exec(
    page.url(),
  )!
  expect(page.url()).not.toContain('@')
  expect((await statusOf(page, orderId!, email)).status).toBe('paid')

  // a buyer who comes back later wants the files, and is not sent away again
  await page.goto(
    linkTo({ successUrl: `${site.origin}/thanks?a=1%202&order=ord_other&b=%C3%BC#top`, clientReferenceId: 'cart-7' }),
  )
  await expect(page.getByRole('heading', { name: 'Paid. It’s yours.' })).toBeVisible()
  await expect(page.getByRole('link', { name: `Continue to ${site.host}` })).toHaveAttribute(
    'href',
    new RegExp(`order=${orderId}#top$`),
  )
})

test('the way back is there before the order and before the payment', async ({ page }) => {
  await page.goto(linkTo({ cancelUrl: `${site.origin}/cart` }))
  await expect(page.getByLabel('E-mail')).toBeVisible()
  await page.getByRole('link', { name: /^Back to .*Ann’s Field Notes/ }).click()
  await expect(page).toHaveURL(`${site.origin}/cart`)
  await makeOrder(page, newEmail(), linkTo({ cancelUrl: `${site.origin}/cart` }), { cancelUrl: `${site.origin}/cart` })
  await page.getByRole('link', { name: /^Back to .*Ann’s Field Notes/ }).click()
  await expect(page).toHaveURL(`${site.origin}/cart`)
})

for (const [what, url] of [
  ['a stranger’s site', 'https://evil.test/'],
  ['a script', 'javascript:alert(1)'],
  ['no whole address', '//evil.test'],
  ['our own pages', `${BASE_URL}/order/`],
] as const)
  test(`a link that leads to ${what} makes no order, and says why`, async ({ page }) => {
    for (const name of ['successUrl', 'cancelUrl']) {
      await page.goto(linkTo({ [name]: url }))
      await page.getByLabel('E-mail').fill(newEmail())
      await expect(page.getByRole('link', { name: /^Back to / })).toHaveCount(0)
      await payByCard(page)
      await expect(
        page.getByRole('alert').filter({ hasText: `\`${name}\` lies on none of the seller’s sites.` }),
      ).toBeVisible()
      expect(await page.locator('a[href*="evil"], a[href^="javascript:"]').count()).toBe(0)
    }
  })

test('an address cannot bring its own order and key: whoever has the key gets the files', async ({ page }) => {
  const email = newEmail()
  const key = crypto.randomUUID()
  const { orderId } = await madeByProgram(page, { email }, key)
  const orders = requestsTo(page, /^\/api\/checkout/)
  for (const forged of [
    { email, key },
    { email, key, orderId },
  ]) {
    await page.goto('about:blank')
    await page.goto(`${DEMO_URL}#k=${encodeURIComponent(JSON.stringify(forged))}`)
    await expect(page.getByLabel('E-mail')).toHaveValue('')
  }
  expect(await kept(page)).toBeNull()
  expect(orders).toHaveLength(0)
})

/** An order as a seller's program makes it. */
async function madeByProgram(page: Page, fields: object = {}, key = crypto.randomUUID()) {
  const email = newEmail()
  const made = await page.request.post(`${BASE_URL}/api/checkout`, {
    data: { productId: PRODUCT_ID, email, ...fields },
    headers: { 'idempotency-key': key },
  })
  expect(made.status(), await made.text()).toBe(201)
  return { email, ...((await made.json()) as { orderId: string; payUrl: string; clientSecret: string }) }
}
const successUrl = () => `${site.origin}/thanks?cart=7`
const hint = (email: string) => `${email[0]}…@example.com`

test('the link of an order that a program made pays that order, and goes on to the site', async ({ page }) => {
  const { email, orderId, payUrl } = await madeByProgram(page, { successUrl: successUrl(), metadata: { plan: 'team' } })
  // what somebody adds to the address changes nothing about the order
  await page.goto(payUrl.replace('#', '&clientReferenceId=cart-8#'))
  await expect(payButton(page)).toHaveText('Pay ₹499.00')
  await expect(page.getByRole('heading', { name: 'The Quiet Shop' })).toBeVisible()
  await expect(page.getByText(hint(email))).toBeVisible()
  expect(await shownOrderId(page)).toBe(orderId)
  expect(page.url(), 'the secret has left the address').toBe(`${DEMO_URL}&clientReferenceId=cart-8&order=${orderId}`)
  expect(await page.content()).not.toContain(email)
  await expect(page.getByLabel('E-mail'), 'the address of the link cannot be changed').toHaveCount(0)

  await page.reload()
  await expect(payButton(page)).toHaveText('Pay ₹499.00')
  await payWith(page, { scenario: 'decline' })
  await expect(page.getByText('Your bank declined the payment. Nothing was taken.')).toBeVisible()
  const arrived = page.waitForRequest(`${site.origin}/thanks**`)
  await payWith(page)
  expect(await (await arrived).headerValue('referer')).toBeNull()
  await expect(page).toHaveURL(`${successUrl()}&order=${orderId}`)
  expect((await statusOf(page, orderId, email)).status).toBe('paid')

  // paid already: the order's page asks for the address, which opens the files
  await page.goto(payUrl)
  await expect(page).toHaveURL(`${BASE_URL}/order/?order=${orderId}`)
  await expect(page.getByLabel('E-mail')).toHaveValue('')
})

test('without a site to go on to, the page says where the files are and shows none', async ({ page }) => {
  const { email, orderId, payUrl } = await madeByProgram(page)
  await page.goto(payUrl)
  await expect(payButton(page)).toBeVisible()
  await payWith(page)
  await expect(page.getByRole('heading', { name: 'Paid. It’s yours.' })).toBeVisible()
  await expect(page.getByText('Your files are in the receipt')).toBeVisible()
  await expect(page.getByRole('link', { name: /^Download / })).toHaveCount(0)
  await expect(page.getByRole('alert')).toHaveCount(0)
  await page.getByRole('link', { name: 'View your order' }).click()
  await page.getByLabel('E-mail').fill(email)
  await page.getByRole('button', { name: 'Show the order' }).click()
  await expect(page.getByRole('link', { name: /^Download / })).toHaveCount(3)
  expect(page.url()).toContain(orderId)
})

test('the order’s page leads on to the payment of the same order, before and after a failed payment', async ({
  page,
}) => {
  const { email, orderId, payUrl } = await madeByProgram(page, { clientReferenceId: 'cart-9' })
  await page.goto(payUrl)
  await expect(payButton(page)).toBeVisible()
  const orders = requestsTo(page, /^\/api\/checkout$/)
  await page.goto(`/order/?order=${orderId}`)
  await page.getByLabel('E-mail').fill(email)
  await page.getByRole('button', { name: 'Show the order' }).click()
  await page.getByRole('link', { name: 'Go on to the payment' }).click()
  await expect(page).toHaveURL(`${DEMO_URL}&order=${orderId}#pay`)
  await payWith(page, { scenario: 'delayed_decline' })
  await expect(page.getByText('Nothing was taken.')).toBeVisible()
  await page.goto(`/order/?order=${orderId}`)
  await page.getByRole('link', { name: 'Pay again' }).click()
  await expect(payButton(page)).toBeVisible()
  expect(await shownOrderId(page)).toBe(orderId)
  await payWith(page)
  await expect(page.getByRole('heading', { name: 'Paid. It’s yours.' })).toBeVisible()
  expect((await statusOf(page, orderId, email)).status).toBe('paid')
  expect(orders).toHaveLength(0)
  // the button of the order's page leads to no page that leads back
  await page.goto(`/pay/?product=prod_gone&order=${orderId}#pay`)
  await expect(page.getByRole('heading', { name: 'This product is not for sale' })).toBeVisible()
})

test('after a refund of a part the page of a link names no amount, because it is told none', async ({ page }) => {
  const { orderId, payUrl } = await madeByProgram(page)
  const asked = page.waitForRequest('**/api/sandbox/confirm')
  await page.goto(payUrl)
  await payWith(page)
  await expect(page.getByRole('heading', { name: 'Paid. It’s yours.' })).toBeVisible()
  const { clientSecret } = (await asked).postDataJSON() as { clientSecret: string }
  const refund = await page.request.post('/api/sandbox/refund', { data: { clientSecret, amount: 10_000 } })
  expect(refund.status()).toBe(200)
  await expect(async () => {
    await page.evaluate(() => document.dispatchEvent(new Event('visibilitychange')))
    await expect(page.getByText('You keep the files.')).toBeVisible({ timeout: 1_000 })
  }).toPass()
  await expect(page.getByText('went back to you')).toHaveCount(0)
  expect(await shownOrderId(page)).toBe(orderId)
})

test('the link opens its order also where the browser has another order of the product', async ({ page }) => {
  const first = await madeByProgram(page)
  const second = await madeByProgram(page)
  await makeOrder(page)
  for (const { payUrl, orderId } of [first, second, first]) {
    await page.goto('about:blank')
    await page.goto(payUrl)
    await expect(page.getByText(orderId).first()).toBeVisible()
    await expect(payButton(page)).toBeVisible()
  }
})

test('under another product the link shows its own product before it asks for money', async ({ page }) => {
  const { orderId, payUrl } = await madeByProgram(page)
  const [, other] = [...(await (await page.request.get('/')).text()).matchAll(/"id":"(prod_[0-9a-z]{26})"/g)].find(
    ([, id]) => id !== PRODUCT_ID,
  )!
  const forged = payUrl.replace(PRODUCT_ID, other!)
  expect(forged).not.toBe(payUrl)
  const answer = Promise.withResolvers<void>()
  await page.route('**/payment', async (route) => {
    const response = await route.fetch()
    await answer.promise
    await route.fulfill({ response })
  })
  await page.goto(forged)
  await expect(page.getByRole('heading', { name: 'Looking up your order' })).toBeVisible()
  await expectNoPayButton(page)
  answer.resolve()
  await expect(page).toHaveURL(`${DEMO_URL}&order=${orderId}`)
  await expect(page.getByRole('heading', { name: 'The Quiet Shop', exact: true })).toBeVisible()
  await expect(payButton(page)).toHaveText('Pay ₹499.00')
  await page.goto(`/pay/?product=${other}`)
  await expect(page.getByLabel('E-mail'), 'the other product has no order').toHaveValue('')
})

test('the order of a link leaves the product’s own address and its order alone', async ({ page, context }) => {
  const stranger = await madeByProgram(page)
  await page.goto(stranger.payUrl)
  await expect(page.getByText(hint(stranger.email))).toBeVisible()
  await page.goto(DEMO_URL)
  await expect(page.getByLabel('E-mail')).toHaveValue('')

  const own = await makeOrder(page)
  const before = await kept(page)
  await page.goto(stranger.payUrl)
  await expect(page.getByText(stranger.orderId).first()).toBeVisible()
  expect(await kept(page)).toEqual(before)
  // the address names the order, so another tab of this browser finds it again
  const other = await context.newPage()
  await other.goto(page.url())
  await expect(other.getByText(hint(stranger.email))).toBeVisible()
  await other.getByLabel('Language').selectOption('de')
  await expect(other.getByText(stranger.orderId).first()).toBeVisible()
  await page.goto(DEMO_URL)
  await expect(page.getByLabel('E-mail')).toHaveValue(own.email)

  // an earlier version of the page kept the order of a link in the place of the product
  await page.evaluate(
    ([name, { orderId, payUrl }]) => {
      const link = new URL(payUrl).hash.slice(3)
      localStorage.setItem(name, JSON.stringify({ email: '…', key: link, orderId, link }))
    },
    [`till:product:${PRODUCT_ID}`, stranger] as const,
  )
  await page.reload()
  await expect(page.getByLabel('E-mail')).toHaveValue('')
})

test('the buyer of a link whose order has ended can start a new one', async ({ page }) => {
  const { orderId, payUrl } = await madeByProgram(page)
  await page.route('**/status?**', async (route) => {
    const json = {
      orderId,
      status: 'expired',
      paid: false,
      amount: 49_900,
      currency: 'INR',
      downloads: [],
      nextPollMs: null,
    }
    await route.fulfill({ json })
  })
  await page.goto(payUrl)
  await expect(page.getByRole('heading', { name: 'This order has expired' })).toBeVisible()
  await page.getByRole('button', { name: 'Start a new order' }).click()
  await expect(page).toHaveURL(DEMO_URL)
  await page.unroute('**/status?**')
  await page.getByLabel('E-mail').fill(newEmail())
  await payByCard(page)
  await expectPaid(page)
  expect((await kept(page))!.orderId).not.toBe(orderId)
})

test('a link to an unknown order makes no other order', async ({ page }) => {
  const { payUrl, orderId } = await madeByProgram(page)
  const unknown = `ord_${'0'.repeat(26)}`
  await page.goto(payUrl.replace(orderId, unknown))
  await expect(page).toHaveURL(`${BASE_URL}/order/?order=${unknown}`)
})

test('the ways to the site are in the language of the page', async ({ page }) => {
  const { payUrl, orderId } = await madeByProgram(page, { cancelUrl: `${site.origin}/cart` })
  await page.goto(`${payUrl.replace('#', '&locale=de#')}`)
  const seller = 'Ann’s Field Notes'
  await expect(
    page.getByRole('link', { name: de.pay.backToSeller.replace('{seller}', `\u2068${seller}\u2069`) }),
  ).toBeVisible()
  // a bank has brought the buyer to another browser
  await page.route('**/status?**', (route) => route.abort())
  await page.evaluate(() => localStorage.clear())
  await page.goto(`${DEMO_URL}&locale=de&order=${orderId}&back=x`)
  await expect(page.getByText(de.pay.confirming)).toBeVisible()
})

test('a damaged link takes no payment, and makes no other order', async ({ page }) => {
  const { payUrl, orderId } = await madeByProgram(page)
  const requests: string[] = []
  page.on('request', (request) => void requests.push(`${request.method()} ${new URL(request.url()).pathname}`))
  await page.goto(`${payUrl.slice(0, -2)}xx`)
  await expect(page).toHaveURL(`${BASE_URL}/order/?order=${orderId}`)
  expect(requests).not.toContain('POST /api/checkout')
})

test('in a frame the link pays the order too', async ({ page, context }) => {
  await waitForEver(context)
  const { orderId, payUrl } = await madeByProgram(page, { successUrl: successUrl() })
  site.show('/linked', buyLink({ url: payUrl }))
  await page.goto(`${site.origin}/linked`)
  await page.getByRole('link', { name: 'Buy the book' }).click()
  const frame = page.frameLocator('iframe[title="Checkout"]')
  // the page reloads by itself when a part of it did not come, and a frame has no storage
  await expect(frame.getByText(orderId).first()).toBeVisible()
  await frame.locator('html').evaluate((html) => {
    html.dataset.former = ''
    location.reload()
  })
  await expect(frame.locator('html[data-former]')).toHaveCount(0)
  await expect(frame.getByText(orderId).first()).toBeVisible()
  await payByCard(frame)
  await expect(frame.getByRole('heading', { name: 'Paid. It’s yours.' })).toBeVisible()
  await frame.getByRole('link', { name: `Continue to ${site.host}` }).click()
  await expect(page).toHaveURL(`${successUrl()}&order=${orderId}`)
})
