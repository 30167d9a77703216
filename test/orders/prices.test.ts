import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { sql } from 'kysely'
import { reconcileBooks } from '../../src/payments/reconciliation/reconcile.ts'
import { newBrowser } from '../support/seller.ts'
import { type Answer, type TestShop, assertProblem, sharedShop } from '../support/shop.ts'

const shared = sharedShop({ env: { COUNTRY_HEADER: 'x-country', TRUST_PROXY: 'loopback' } })
const PRICES = [
  { currency: 'USD', amount: 1900 },
  { currency: 'INR', amount: 49_900 },
  { currency: 'JPY', amount: 2500 },
]

/** A seller with a session, and a product of theirs that is for sale. */
async function sold(fields: object = { prices: PRICES }) {
  const shop = shared()
  const ann = newBrowser(shop)
  await ann.signInByCode()
  const made = await ann.call('POST', '/api/products', { name: 'Guide', ...fields })
  assert.equal(made.status, 201, JSON.stringify(made.body))
  const { id } = made.body
  await shop.file(id)
  const change = (body: object) => ann.call('PATCH', `/api/products/${id}`, body)
  assert.equal((await change({ status: 'active' })).status, 200)
  return { ann, id, change, product: async () => (await ann.call('GET', `/api/products/${id}`)).body }
}

const order = (body: object, headers: Record<string, string> = {}): Promise<Answer> =>
  shared().call('POST', '/api/checkout', { email: `${randomUUID()}@example.com`, ...body }, headers)
const view = async (id: string, query = '', headers: Record<string, string> = {}) =>
  (await shared().call('GET', `/api/products/${id}/public${query}`, undefined, headers)).body
const codes = ({ prices }: { prices: { currency: string }[] }) => prices.map(({ currency }) => currency)
const fieldOf = (answer: Answer) => {
  assertProblem(answer, 400, 'validation_failed')
  return answer.body.fields[0].path
}
const ordersOf = async ({ db }: TestShop, productId: string) =>
  (await sql<{ n: number }>`select count(*)::int as n from orders where product_id = ${productId}`.execute(db)).rows[0]!
    .n

test('wrong prices are refused at their field, and nothing is saved', async () => {
  const { ann, change, product } = await sold()
  const before = await product()
  const price = (currency: unknown, amount: unknown, more = {}) => ({ currency, amount, ...more })
  for (const [prices, field] of [
    [[], 'prices'],
    [null, 'prices'],
    [[price('USD', -1)], 'prices.0.amount'],
    [[price('USD', 1.5)], 'prices.0.amount'],
    [[price('USD', 1e12)], 'prices.0.amount'],
    [[price('USD', '5')], 'prices.0.amount'],
    [[{ currency: 'USD' }], 'prices.0.amount'],
    [[price('usd', 5)], 'prices.0.currency'],
    [[price('XAU', 5)], 'prices.0.currency'],
    [[price('USD', 5), price('EUR', 5), price('USD', 6)], 'prices.2.currency'],
    [[price('USD', 5), price('EUR', 0)], 'prices'],
    [[price('USD', 0), price('EUR', 5)], 'prices'],
    [[price('USD', 500), price('EUR', 500, { minimum: 600 })], 'prices.1.minimum'],
    [[price('USD', 500), price('EUR', 500, { minimum: 100 })], 'prices'],
    [Array.from({ length: 13 }, (_, at) => price(['USD', 'EUR', 'GBP'][at % 3], at)), 'prices'],
  ] as const) {
    assert.equal(fieldOf(await change({ prices })), field, JSON.stringify(prices))
    assert.equal(fieldOf(await ann.call('POST', '/api/products', { name: 'B', prices })), field)
  }
  for (const [body, field] of [
    [{ prices: PRICES, amount: 5 }, 'amount'],
    [{ prices: PRICES, currency: 'EUR' }, 'currency'],
    [{ prices: PRICES, suggestedAmount: 5 }, 'suggestedAmount'],
    // the product has a rupee price already
    [{ currency: 'INR' }, 'currency'],
    [{ amount: 0 }, 'prices'],
  ] as const)
    assert.equal(fieldOf(await change(body)), field)
  assert.equal(fieldOf(await ann.call('POST', '/api/products', { name: 'B', currency: 'USD' })), 'amount')
  assert.equal(fieldOf(await ann.call('POST', '/api/products', { name: 'B', amount: 5 })), 'currency')
  assert.deepEqual(await product(), before)
})

test('a seller adds, changes and removes prices, and the default one stays `amount` and `currency`', async () => {
  const { ann, id, change, product } = await sold({ amount: 1900, currency: 'USD' })
  assert.deepEqual((await product()).prices, [{ currency: 'USD', amount: 1900 }])
  const added = await change({ prices: PRICES })
  assert.deepEqual([added.body.prices, added.body.amount, added.body.currency], [PRICES, 1900, 'USD'])
  const listed = await ann.call('GET', '/api/products')
  assert.deepEqual(listed.body.items[0].prices, PRICES)
  // an earlier client changes the default price alone
  assert.deepEqual((await change({ amount: 2100 })).body.prices, [
    { currency: 'USD', amount: 2100 },
    ...PRICES.slice(1),
  ])
  // a client can send the whole product back
  assert.equal((await change(await product())).status, 200)
  const turned = await change({ prices: PRICES.toReversed() })
  assert.deepEqual([turned.body.prices, turned.body.currency], [PRICES.toReversed(), 'JPY'])
  const one = await change({ prices: [PRICES[1]!] })
  assert.deepEqual([one.body.prices, one.body.amount], [[PRICES[1]], 49_900])
  assert.deepEqual(codes(await view(id)), ['INR'])
})

test('an order has the price of its currency, pinned, and without a currency the default one', async () => {
  const shop = shared()
  const { id, change } = await sold()
  const email = 'bob@example.com'
  for (const [currency, amount] of [
    ['INR', 49_900],
    ['JPY', 2500],
    ['USD', 1900],
    [undefined, 1900],
  ] as const) {
    // other fields that a client sends set no price
    const { status, body } = await order({
      productId: id,
      email,
      currency,
      amount: 1,
      prices: [{ currency, amount: 1 }],
    })
    assert.deepEqual([status, body.amount, body.currency], [201, amount, currency ?? 'USD'])
    const changed = await change({ prices: PRICES.map((one) => ({ ...one, amount: one.amount + 1 })) })
    assert.equal(changed.status, 200)
    assert.equal((await shop.confirm(body)).status, 200)
    const paid = await shop.until(body.orderId, (seen) => seen.paid)
    assert.deepEqual([paid.amount, paid.currency], [amount, currency ?? 'USD'])
    assert.equal((await shop.transfers(body.orderId))[0]!.amountMinor, amount)
    await change({ prices: PRICES })
  }
  const result = await reconcileBooks({
    database: { connectionString: shop.databaseUrl },
    processors: new Map(),
    from: new Date(Date.now() - 86_400_000),
    to: new Date(),
    graceMs: 0,
  })
  assert.deepEqual(result.differences, [])
})

test('a currency that the product does not have makes no order, also when it was removed a moment ago', async () => {
  const { id, change } = await sold()
  for (const currency of ['EUR', 'GBP'])
    assertProblem(await order({ productId: id, currency }), 422, 'currency_not_offered')
  for (const currency of ['inr', '', 'RUPEE', 5, null, ['INR']])
    assert.equal(fieldOf(await order({ productId: id, currency })), 'currency')
  await change({ prices: PRICES.slice(0, 1) })
  assertProblem(await order({ productId: id, currency: 'INR' }), 422, 'currency_not_offered')
  assertProblem(await shared().call('GET', `/api/products/${id}/public?currency=INR`), 422, 'currency_not_offered')
  assert.equal(await ordersOf(shared(), id), 0)
  // the one price can be named too
  assert.equal((await order({ productId: id, currency: 'USD' })).status, 201)
})

test('one key makes one order in one currency, and another currency with it is refused', async () => {
  const { id } = await sold()
  const key = { 'idempotency-key': randomUUID() }
  const body = { productId: id, email: 'bob@example.com', currency: 'INR' }
  const answers = await Promise.all(Array.from({ length: 5 }, () => order(body, key)))
  assert.equal(new Set(answers.map(({ status, body: { orderId } }) => `${status} ${orderId}`)).size, 1)
  for (const other of ['JPY', undefined])
    assertProblem(await order({ ...body, currency: other }, key), 409, 'idempotency_key_reused')
  assert.equal(await ordersOf(shared(), id), 1)
})

test('with pay what you want each currency has its own minimum', async () => {
  const { id, change, product } = await sold({
    payWhatYouWant: true,
    prices: [
      { currency: 'USD', amount: 900, minimum: 500 },
      { currency: 'JPY', amount: 300 },
      { currency: 'INR', amount: 20_000, minimum: 0 },
    ],
  })
  assert.deepEqual([(await product()).amount, (await product()).suggestedAmount], [500, 900])
  const seen = await view(id, '?currency=INR')
  assert.deepEqual([seen.amount, seen.suggestedAmount, seen.currency, seen.free], [0, 20_000, 'INR', false])
  for (const [currency, chosenAmount] of [
    ['USD', 499],
    ['JPY', 299],
  ] as const)
    assertProblem(await order({ productId: id, currency, chosenAmount }), 422, 'amount_too_small')
  for (const [currency, chosenAmount, amount] of [
    ['USD', 500, 500],
    ['JPY', 400, 400],
    ['JPY', undefined, 300],
    ['INR', 1, 1],
  ] as const) {
    const { body } = await order({ productId: id, currency, chosenAmount })
    assert.deepEqual([body.amount, body.currency, body.status], [amount, currency, 'pending'])
  }
  const free = await order({ productId: id, currency: 'INR', chosenAmount: 0 })
  assert.deepEqual([free.body.status, free.body.currency], ['paid', 'INR'])
  // a price of its own cannot be nothing in one currency alone
  assert.equal(fieldOf(await change({ payWhatYouWant: false })), 'prices')
  await change({
    prices: [
      { currency: 'USD', amount: 900, minimum: 500 },
      { currency: 'JPY', amount: 400, minimum: 300 },
    ],
  })
  const fixed = await change({ payWhatYouWant: false })
  assert.deepEqual(fixed.body.prices, [
    { currency: 'USD', amount: 500 },
    { currency: 'JPY', amount: 300 },
  ])
})

test('a fixed discount has an amount in each currency, and in no other currency the code is valid', async () => {
  const { ann, id } = await sold()
  const amounts = [
    { currency: 'USD', amount: 400 },
    { currency: 'INR', amount: 60_000 },
  ]
  const make = (body: object) => ann.call('POST', '/api/discounts', { code: `C${randomUUID().slice(0, 8)}`, ...body })
  for (const wrong of [
    { amounts, percentOff: 5 },
    { amounts, amountOff: 5, currency: 'USD' },
    { amounts: [] },
    { amounts: [amounts[0], amounts[0]] },
    { amounts: [{ currency: 'XAU', amount: 5 }] },
    { amounts: [{ currency: 'USD', amount: 0 }] },
    { amounts, currency: 'USD' },
    // the product is not sold in euros
    { amounts: [{ currency: 'EUR', amount: 5 }], productId: id },
  ])
    assertProblem(await make(wrong), 400, 'validation_failed')
  const { status, body } = await make({ amounts, productId: id, limit: 2 })
  assert.deepEqual([status, body.amounts, body.amountOff, body.currency], [201, amounts, 400, 'USD'])
  const { code } = body
  assert.deepEqual((await ann.call('GET', '/api/discounts')).body.items[0].amounts, amounts)
  const off = async (currency: string) =>
    (await shared().call('GET', `/api/products/${id}/public?currency=${currency}&discountCode=${code}`)).body
  assert.deepEqual((await off('USD')).discount, { code, amountOff: 400, amount: 1500 })
  assert.deepEqual((await off('INR')).discount, { code, amountOff: 49_900, amount: 0 })
  assert.equal((await off('JPY')).code, 'discount_not_valid')
  assertProblem(await order({ productId: id, currency: 'JPY', discountCode: code }), 422, 'discount_not_valid')
  const dollars = await order({ productId: id, discountCode: code })
  assert.deepEqual([dollars.body.amount, dollars.body.discountAmount], [1500, 400])
  const rupees = await order({ productId: id, currency: 'INR', discountCode: code })
  assert.deepEqual([rupees.body.amount, rupees.body.discountAmount, rupees.body.status], [0, 49_900, 'paid'])
  // the limit counts over all currencies
  assertProblem(await order({ productId: id, discountCode: code }), 422, 'discount_not_valid')
  const percent = await make({ percentOff: 10 })
  assert.equal((await order({ productId: id, currency: 'JPY', discountCode: percent.body.code })).body.amount, 2250)
})

test('buyers in one statement get their own currency and amount off, with one code', async () => {
  const { ann, id } = await sold()
  const { body } = await ann.call('POST', '/api/discounts', {
    code: 'BOTH',
    amounts: [
      { currency: 'JPY', amount: 500 },
      { currency: 'INR', amount: 900 },
    ],
    limit: 3,
  })
  const answers = await Promise.all(
    ['INR', 'JPY', 'USD', 'INR', 'JPY', 'EUR'].map((currency) =>
      order({ productId: id, currency, discountCode: 'both' }),
    ),
  )
  const made = answers
    .filter(({ status }) => status === 201)
    .map(({ body: { amount, currency } }) => `${currency} ${amount}`)
  assert.equal(made.length, 3)
  for (const one of made) assert.match(one, /^(INR 49000|JPY 2000)$/)
  assert.deepEqual([answers[2]!.body.code, answers[5]!.body.code], ['discount_not_valid', 'currency_not_offered'])
  assert.equal(
    (await ann.call('GET', '/api/discounts')).body.items.find((one: { id: string }) => one.id === body.id).uses,
    3,
  )
})

test('the view begins with the buyer’s currency, its own fields stay the default price', async () => {
  const { id } = await sold()
  const first = async (headers: Record<string, string>) => {
    const seen = await view(id, '', headers)
    assert.deepEqual([seen.currency, seen.amount, seen.prices.length], ['USD', 1900, 3])
    return codes(seen)[0]
  }
  assert.equal(await first({}), 'USD')
  assert.equal(await first({ 'accept-language': 'hi-IN' }), 'INR')
  assert.equal(await first({ 'accept-language': 'de-DE' }), 'USD')
  assert.equal(await first({ 'x-country': 'JP', 'accept-language': 'hi-IN' }), 'JPY')
  assert.equal(await first({ 'x-country': 'BT' }), 'INR')
  for (const country of ['XX', 'T1', 'EU', 'ZZ', 'jpx', '']) assert.equal(await first({ 'x-country': country }), 'USD')
  const asked = await view(id, '?currency=JPY', { 'x-country': 'IN' })
  assert.deepEqual([asked.currency, asked.amount, codes(asked)], ['JPY', 2500, ['JPY', 'USD', 'INR']])
  assertProblem(await shared().call('GET', `/api/products/${id}/public?currency=yen`), 400, 'validation_failed')
})

test('the hosted page begins with the currency of its address, else of the country, else the default', async () => {
  const { id } = await sold()
  const page = async (query: string, headers: Record<string, string> = {}) => {
    const { status, body } = await shared().call('GET', `/pay/?product=${id}${query}`, undefined, headers)
    assert.equal(status, 200)
    const data = JSON.parse(/id="till-data">(.*?)<\/script>/s.exec(body)![1]!)
    const offers = JSON.parse(/application\/ld\+json">(.*?)<\/script>/s.exec(body)![1]!).offers
    const price = /product:price:currency" content="(\w+)"/.exec(body)![1]
    return { currency: codes(data.product)[0], home: data.home?.currency, offers, price }
  }
  const rupees = await page('&currency=INR', { 'x-country': 'JP' })
  assert.deepEqual([rupees.currency, rupees.price, rupees.home], ['INR', 'INR', 'JPY'])
  assert.deepEqual(
    rupees.offers.map(({ price, priceCurrency, url }: Record<string, string>) => [
      price,
      priceCurrency,
      new URL(url!).search,
    ]),
    [
      ['499.00', 'INR', `?product=${id}&currency=INR`],
      ['19.00', 'USD', `?product=${id}&currency=USD`],
      ['2500', 'JPY', `?product=${id}&currency=JPY`],
    ],
  )
  assert.equal((await page('', { 'x-country': 'IN' })).currency, 'INR')
  // an address with a currency that is gone, or none, still sells
  for (const currency of ['EUR', 'inr', 'x', '%00', 'INR&currency=JPY'])
    assert.equal((await page(`&currency=${currency}`)).currency, 'USD')
  const german = await page('', { 'x-country': 'DE' })
  assert.deepEqual([german.currency, german.home], ['USD', undefined])
  assert.equal((await page('', { 'x-country': 'CA' })).home, 'CAD')
})

test('the view lists cards first, then the rails that are usual in the currency and the buyer’s country', async () => {
  const id = await shared().product({ currency: 'EUR', priceMinor: 1900 })
  const rails = async (headers: Record<string, string>) => {
    const { rails, prices } = await view(id, '', headers)
    assert.deepEqual(prices[0].rails, rails)
    return rails.slice(0, 2).join()
  }
  assert.equal(await rails({}), 'card,wallet')
  assert.equal(await rails({ 'x-country': 'NL' }), 'card,bank_transfer')
  assert.equal(await rails({ 'accept-language': 'nl-NL,nl;q=0.9' }), 'card,bank_transfer')
  assert.equal(await rails({ 'x-country': 'DE', 'accept-language': 'nl-NL' }), 'card,wallet')
  assert.equal(await rails({ 'x-country': 'IN' }), 'card,wallet')
})
