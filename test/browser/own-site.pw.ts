import type { Page } from '@playwright/test'
import { makeOrder, newEmail, payButton, payByCard, payWith, shownOrderId, statusOf } from './buyer.ts'
import { BASE_URL, DEMO_URL, expect, test } from './fixtures.ts'
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
  await page.getByRole('link', { name: 'Back to Ann’s Field Notes' }).click()
  await expect(page).toHaveURL(`${site.origin}/cart`)
  await makeOrder(page, newEmail(), linkTo({ cancelUrl: `${site.origin}/cart` }), { cancelUrl: `${site.origin}/cart` })
  await page.getByRole('link', { name: 'Back to Ann’s Field Notes' }).click()
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

test('an order that comes along with the address is taken, once, and a damaged one is not', async ({ page }) => {
  const email = newEmail()
  const key = crypto.randomUUID()
  const productId = new URL(DEMO_URL).searchParams.get('product')!
  const made = await page.request.post(`${BASE_URL}/api/checkout`, {
    data: { productId, email },
    headers: { 'idempotency-key': key },
  })
  const { orderId } = (await made.json()) as { orderId: string }
  const damaged = ['{', '{"email":"x"}', '[]', 'null', '%', JSON.stringify({ email, key, orderId: '<img src=x>' })]
  for (const text of damaged) {
    await page.goto('about:blank')
    await page.goto(`${DEMO_URL}#k=${text === '%' ? text : encodeURIComponent(text)}`)
    await expect(page.getByLabel('E-mail')).toHaveValue('')
    expect(new URL(page.url()).hash).toBe('')
  }
  await page.goto('about:blank')
  await page.goto(`${DEMO_URL}#k=${encodeURIComponent(JSON.stringify({ email, key, orderId }))}`)
  await expect(payButton(page)).toBeVisible()
  await expect(page.getByText(orderId).first()).toBeVisible()
  expect(new URL(page.url()).hash).toBe('')
})

/** An order as a seller's program makes it. */
async function madeByProgram(page: Page, fields: object = {}) {
  const productId = new URL(DEMO_URL).searchParams.get('product')!
  const email = newEmail()
  const made = await page.request.post(`${BASE_URL}/api/checkout`, { data: { productId, email, ...fields } })
  expect(made.status(), await made.text()).toBe(201)
  return { email, ...((await made.json()) as { orderId: string; payUrl: string; clientSecret: string }) }
}
const successUrl = () => `${site.origin}/thanks?cart=7`
const hint = (email: string) => `${email[0]}…@example.com`

test('the link of an order that a program made pays that order, and goes on to the site', async ({ page }) => {
  const { email, orderId, payUrl } = await madeByProgram(page, { successUrl: successUrl(), metadata: { plan: 'team' } })
  await page.goto(payUrl)
  await expect(payButton(page)).toHaveText('Pay ₹499.00')
  await expect(page.getByRole('heading', { name: 'The Quiet Shop' })).toBeVisible()
  await expect(page.getByText(hint(email))).toBeVisible()
  expect(await shownOrderId(page)).toBe(orderId)
  expect(page.url(), 'the secret has left the address').not.toMatch(/#|order=/)
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
  await payByCard(frame)
  await expect(frame.getByRole('heading', { name: 'Paid. It’s yours.' })).toBeVisible()
  await frame.getByRole('link', { name: `Continue to ${site.host}` }).click()
  await expect(page).toHaveURL(`${successUrl()}&order=${orderId}`)
})
