import { newEmail, payButton } from './buyer.ts'
import { CARD, expect, payBy } from './element-buyer.ts'
import { test } from './fixtures.ts'
import { askCode, codeField, codeFor, newSellerEmail } from './seller.ts'
import { STRIPE, type StripeStandIn, meetStripe, startStripe } from './stripe-stand-in.ts'

// Buyers pay at the seller's own account at Stripe: the payment form has to be told which one.

let shop: StripeStandIn
test.beforeAll(async () => {
  shop = await startStripe({ PAYOUTS: 'stripe-connect', PROCESSORS: 'stripe' })
})
test.afterAll(() => shop?.stop())

test('a seller opens an account, and a buyer pays there: the form names the account', async ({
  page,
  browser,
  watch,
}) => {
  for (const origin of [shop.url, ...STRIPE, 'https://connect.stripe.com']) watch.allow(origin)
  const seller = await browser.newContext({ baseURL: shop.url })
  const desk = await seller.newPage()
  const email = newSellerEmail()
  await desk.goto(`${shop.url}/sign-in/`)
  await askCode(desk, email)
  await codeField(desk).fill(await codeFor(desk, email, 1, shop.url))
  await expect(desk).toHaveURL(/\/(shop|account)\//)
  const headers = { origin: shop.url }
  const data = { name: 'Field recordings', amount: 1900, currency: 'USD', status: 'draft' }
  const product = await (await desk.request.post('/api/products', { data, headers })).json()
  await desk.request.post(`/api/products/${product.id}/files?name=a.txt`, { data: 'a song', headers: { ...headers, 'content-type': 'text/plain' } }) // oxfmt-ignore
  await desk.request.patch(`/api/products/${product.id}`, { data: { status: 'active' }, headers })

  await desk.goto(`${shop.url}/shop/#/money`)
  await desk.route('https://connect.stripe.com/**', (route) => route.fulfill({ contentType: 'text/html', body: '<title>Stripe</title>' })) // oxfmt-ignore
  await desk
    .getByRole('button', { name: /account/i })
    .first()
    .click()
  await expect(desk).toHaveTitle('Stripe')
  const { connect } = shop.server
  const account = String(connect.links.at(-1)!['account'])
  connect.stand(account, 'active')
  const url = `${shop.url}/pay/?product=${product.id}`
  await expect.poll(async () => (await page.request.get(`${shop.url}/api/products/${product.id}/public`)).status()).toBe(200) // oxfmt-ignore

  const bank = connect.bankOf(account)
  const stripe = await meetStripe(page.context(), { bank }, account)
  await page.goto(url)
  await page.getByLabel('E-mail').fill(newEmail())
  await expect(payButton(page)).toHaveText('Pay $19.00')
  await payBy(page, CARD)
  await expect(page.getByRole('heading', { name: 'Paid. It’s yours.' })).toBeVisible()
  expect(stripe.confirms.map((one) => one['_stripe_account'])).toEqual([account])
  expect(bank.charges.filter(({ status }) => status === 'succeeded')).toHaveLength(1)
  expect(shop.bank.charges).toHaveLength(0)
  await seller.close()
})
