import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { attentionOf } from '../../src/shop/attention.ts'
import { razorpayProcessor } from '../../src/processors/razorpay/razorpay.ts'
import { decimalsOf } from '../../src/kit/money.ts'
import { newId } from '../../src/kit/ids.ts'
import { CURRENCIES } from '../../src/kit/currencies.ts'
import { saveFurtherPrices } from '../../src/products/prices.ts'
import { inTransaction } from '../../src/kit/database.ts'
import { atEnd } from '../support/ends.ts'
import { startRazorpayShop, razorpaySettings } from '../support/razorpay-shop.ts'
import { assertProblem, type TestShop } from '../support/shop.ts'
import { intentOf, startStripeShop } from '../support/stripe-shop.ts'
import { loadRates, rateOf, taxSeller } from '../taxes/support.ts'
import { startRazorpayServer } from '../stand-ins/razorpay-server.ts'
import { ACCOUNT } from '../support/razorpay-setup.ts'

/** A product with a price in dollars or rupees, and one in the other. */
async function product(shop: TestShop, currency: 'USD' | 'INR'): Promise<string> {
  const id = await shop.product({ currency, priceMinor: 1900 })
  const further = { currency: currency === 'USD' ? 'INR' : 'USD', leastMinor: 49_900, suggestedMinor: null }
  await inTransaction(shop.db, (tx) => saveFurtherPrices(tx, id, [further]))
  return id
}

const view = async (shop: TestShop, id: string, query = '') => shop.call('GET', `/api/products/${id}/public${query}`)
const order = (shop: TestShop, productId: string, currency?: string) =>
  shop.call('POST', '/api/checkout', { productId, email: 'bob@example.com', currency })

test('a price in a currency that no processor takes is not offered, and the seller is told', async (t: TestContext) => {
  const { shop } = await startRazorpayShop(t)
  const rupeesFirst = await product(shop, 'INR')
  const seen = (await view(shop, rupeesFirst)).body
  assert.deepEqual(
    seen.prices.map(({ currency }: { currency: string }) => currency),
    ['INR'],
  )
  assertProblem(await view(shop, rupeesFirst, '?currency=USD'), 422, 'currency_not_offered')
  assertProblem(await order(shop, rupeesFirst, 'USD'), 422, 'currency_not_offered')
  const made = await order(shop, rupeesFirst, 'INR')
  assert.deepEqual([made.status, made.body.amount, made.body.processor], [201, 1900, 'razorpay'])
  const told = await attentionOf(shop.db, shop.sellerId, (currency) => currency === 'INR')
  assert.deepEqual(
    told.map(({ what, productId }) => [what, productId]),
    [['price_not_offered', rupeesFirst]],
  )

  for (const productId of ['x', 'prod_none', '\u0000', newId('prod')])
    assertProblem(await order(shop, productId, 'USD'), 404, 'product_not_found')

  // an order without a currency still has the default price, and buyers begin with the one that they can pay
  const dollarsFirst = await product(shop, 'USD')
  const other = (await view(shop, dollarsFirst)).body
  assert.deepEqual([other.currency, other.payments.live, other.prices.length], ['USD', false, 2])
  assert.deepEqual([other.prices[0].currency, other.prices[0].payments.live], ['INR', true])
  for (const currency of ['USD', undefined]) {
    const unpayable = await order(shop, dollarsFirst, currency)
    assert.deepEqual([unpayable.status, unpayable.body.currency, unpayable.body.clientSecret], [201, 'USD', undefined])
  }
  const { body: page } = await shop.call('GET', `/pay/?product=${dollarsFirst}`)
  assert.equal(JSON.parse(/id="till-data">(.*?)<\/script>/s.exec(page)![1]!).product.currency, 'INR')
  const what = async (payable: string) =>
    (await attentionOf(shop.db, shop.sellerId, (currency) => currency === payable))
      .filter(({ productId }) => productId === dollarsFirst)
      .map((matter) => matter.what)
  assert.deepEqual(await what('INR'), ['price_not_offered'], 'it sells, in rupees')
  assert.deepEqual(await what('EUR'), ['no_payments'])
})

test('rails and processor follow the currency of the order, and the page may show either form', async (t: TestContext) => {
  const bank = await startRazorpayServer(ACCOUNT)
  atEnd(t, () => bank.close())
  const { shop } = await startStripeShop(t, { env: { ...razorpaySettings(bank), PROCESSORS: 'stripe,razorpay' } })
  const id = await product(shop, 'USD')
  const { prices } = (await view(shop, id)).body
  const processors = prices.map(({ currency, payments }: any) => `${currency} ${payments.processor}`)
  assert.deepEqual(processors, ['USD stripe', 'INR razorpay'])
  assert(prices[1].rails.includes('upi') && !prices[0].rails.includes('upi'))
  assert.equal((await order(shop, id, 'INR')).body.processor, 'razorpay')
  assert.equal((await order(shop, id)).body.processor, 'stripe')
  const policy = async (productId: string) =>
    (await shop.call('GET', `/pay/?product=${productId}`)).headers.get('content-security-policy')!
  // an order in rupees is still paid after the seller has removed the price in rupees
  for (const one of [id, await shop.product()]) {
    const scripts = /script-src ([^;]*)/.exec(await policy(one))![1]!
    assert.match(scripts, /js\.stripe\.com/)
    assert.match(scripts, /checkout\.razorpay\.com/)
  }
})

/** Orders of prices at Stripe, of a seller in Oman with 5 % of tax: as the page shows them, as they are, and as Stripe takes them. */
async function ordersAtStripe(t: TestContext) {
  const { shop, bank } = await startStripeShop(t)
  await loadRates(shop, [rateOf('OM', 5)])
  return async (
    currency: string,
    priceMinor: number,
    prices: string,
    off?: { percentOff?: number; amountOff?: number },
  ) => {
    const seller = await taxSeller(shop, { country: 'OM', prices })
    const productId = await seller.product(priceMinor, { currency })
    const discountCode = 'SUMMER'
    if (off) await seller.browser.call('POST', '/api/discounts', { code: discountCode, ...off, ...(off.amountOff && { currency }) }) // oxfmt-ignore
    const query = new URLSearchParams({ country: 'OM', ...(off && { discountCode }) })
    const { discount, tax } = (await view(shop, productId, `?${query}`)).body
    const made = await seller.order(productId, { country: 'OM', ...(off && { discountCode }) })
    assert.equal(made.status, 201, JSON.stringify(made.body))
    const { amount } = bank.find(bank.paymentIntents, 'payment_intent', intentOf(made.body))
    return {
      off: discount?.amountOff,
      tax: tax.amount,
      ordered: made.body.tax.amount,
      amount: made.body.amount,
      taken: amount,
    }
  }
}

test('a price of three decimals that Stripe takes can also be paid with a code, and with tax on top', async (t: TestContext) => {
  const pay = await ordersAtStripe(t)
  // 33 % are 6.5967, and 5 % are 0.0975
  assert.deepEqual(await pay('KWD', 19_990, 'inclusive', { percentOff: 33 }), { off: 6590, tax: 952, ordered: 638, amount: 13_400, taken: 13_400 }) // oxfmt-ignore
  assert.deepEqual(await pay('OMR', 1950, 'exclusive'), { off: undefined, tax: 100, ordered: 100, amount: 2050, taken: 2050 }) // oxfmt-ignore
  assert.deepEqual(await pay('OMR', 19_990, 'exclusive', { percentOff: 33 }), { off: 6590, tax: 1000, ordered: 670, amount: 14_070, taken: 14_070 }) // oxfmt-ignore
  assert.deepEqual(await pay('KWD', 12_340, 'inclusive', { amountOff: 1855 }), { off: 1850, tax: 588, ordered: 500, amount: 10_490, taken: 10_490 }) // oxfmt-ignore
})

test('a price in ariary that Stripe takes can also be paid with a code, and with tax on top', async (t: TestContext) => {
  const pay = await ordersAtStripe(t)
  // 33 % of 1,950 ariary are 643.50, and 5 % of 1,350 are 67.50. Stripe counts no hundredths of them
  assert.deepEqual(await pay('MGA', 195_000, 'inclusive', { percentOff: 33 }), { off: 60_000, tax: 9286, ordered: 6429, amount: 135_000, taken: 1350 }) // oxfmt-ignore
  assert.deepEqual(await pay('MGA', 195_000, 'exclusive', { percentOff: 33 }), { off: 60_000, tax: 10_000, ordered: 5000, amount: 140_000, taken: 1400 }) // oxfmt-ignore
  assert.deepEqual(await pay('MGA', 195_000, 'inclusive', { amountOff: 102_050 }), { off: 100_000, tax: 9286, ordered: 4524, amount: 95_000, taken: 950 }) // oxfmt-ignore
})

test('Razorpay gets rupees alone, and counts them as we do', () => {
  const razorpay = razorpayProcessor({ ...ACCOUNT, webhookSecrets: [''], apiUrl: undefined } as never)
  assert.deepEqual(
    [...CURRENCIES].filter((currency) => razorpay.takes(currency)),
    ['INR'],
  )
  // paise, as `amount` of its orders has them: an amount is sent as it is
  assert.equal(decimalsOf('INR'), 2)
})
