import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import fc from 'fast-check'
import { sql } from 'kysely'
import { inTransaction } from '../../src/kit/database.ts'
import { newId } from '../../src/kit/ids.ts'
import { decimalsOf, share } from '../../src/kit/money.ts'
import { insertOffers } from '../../src/orders/discounts/offers.ts'
import { saveFurtherPrices } from '../../src/products/prices.ts'
import { EU, taxMinorOf, taxOf } from '../../src/taxes/sale-tax.ts'
import { query, times } from '../stand-ins/processor.ts'
import { newMailbox } from '../support/seller.ts'
import { SEED, sample } from '../support/seed.ts'
import { assertProblem, eventually, sharedShop } from '../support/shop.ts'
import { loadRates, rateOf, taxSeller } from './support.ts'

// The tax of an order: whose, how much, and that it is pinned when the order is made.

const shared = sharedShop({ env: { COUNTRY_HEADER: 'cf-ipcountry', TRUST_PROXY: 'loopback' } })
const from = (country: string) => ({ 'cf-ipcountry': country })
const RATES = [rateOf('DE', 19), rateOf('FR', 20), rateOf('GB', 20), rateOf('CH', 8.1), rateOf('IN', 18)]
before(async () => {
  const others = EU.filter((code) => !RATES.some(({ country }) => country === code)).map((code) => rateOf(code, 21))
  await loadRates(shared(), [...RATES, ...others])
})

const pinned = async (orderId: string) =>
  (
    await query<{ amount: number; fee: number; tax: number | null; rate: number | null; country: string | null; treatment: string | null }>(
      shared().db,
      sql`select amount_minor as amount, fee_minor as fee, tax_minor as tax, tax_rate::float8 as rate, tax_country as country, tax_treatment as treatment
        from orders where id = ${orderId}`,
    )
  )[0]! // oxfmt-ignore
const evidence = async (orderId: string) =>
  (
    await query<{ said: string }>(
      shared().db,
      sql`select source || ' ' || country as said from place_evidence where order_id = ${orderId} order by 1`,
    )
  ).map(({ said }) => said)

test(`the tax in an amount and on top of it is the same in the database as here, half to even (seed ${SEED})`, async () => {
  const amounts = fc.integer({ min: 1, max: 999_999_999_999 })
  const rates = fc.integer({ min: 0, max: 99_999 })
  const cases = sample(fc.tuple(amounts, rates, fc.boolean(), fc.constantFrom('EUR', 'JPY', 'KWD', 'IQD', 'MGA')), 500)
  const rows = await query<{ minor: number }>(
    shared().db,
    sql`select ${taxMinorOf(sql`c.amount`, sql`c.rate`, sql`c.incl`, sql`c.currency`)} as minor
      from unnest(${cases.map(([amount]) => amount)}::bigint[], ${cases.map(([, rate]) => rate / 1000)}::numeric[],
        ${cases.map(([, , incl]) => incl)}::boolean[], ${cases.map(([, , , currency]) => currency)}::text[])
        with ordinality as c(amount, rate, incl, currency, at) order by at`,
  )
  for (const [at, [amount, rate, incl, currency]] of cases.entries()) {
    const tax = taxOf(amount, rate / 1000, incl, currency)
    assert.equal(rows[at]!.minor, tax, `${amount} ${currency} at ${rate}, ${incl}`)
    // of three decimals the processors take two, and of ariary whole ones whose 2 % are whole
    const step = incl ? 1 : currency === 'MGA' ? 5000 : decimalsOf(currency) === 3 ? 10 : 1
    assert.equal(tax, share(amount, rate, incl ? 100_000 + rate : 100_000 * step) * step)
  }
  const euros = (amount: number, rate: number, incl: boolean) => taxOf(amount, rate, incl, 'EUR')
  assert.deepEqual([euros(1900, 19, true), euros(1900, 19, false), euros(50, 1, false), euros(150, 1, false)], [303, 361, 0, 2]) // oxfmt-ignore
  assert.deepEqual([taxOf(1950, 5, false, 'OMR'), taxOf(1900, 5, false, 'OMR'), taxOf(1950, 5, true, 'OMR')], [100, 100, 93]) // oxfmt-ignore
})

test('an order without a country takes no use of a code from the next one in its round', async () => {
  const shop = shared()
  const seller = await taxSeller(shop, { country: 'DE', prices: 'inclusive' })
  const productId = await seller.product()
  const { body: code } = await seller.browser.call('POST', '/api/discounts', { code: 'ONE', percentOff: 50, limit: 1 })
  const settings = {
    ttlHours: 1,
    firstLookSeconds: 60,
    statementPrefix: 'TILL',
    freeMail: {},
  }
  const round = (places: (string | undefined)[]) =>
    inTransaction(shop.db, async (tx) => {
      const rows = places.map((declared) => ({ id: newId('ord'), productId, email: 'bob@example.com', discountCode: 'ONE', place: { declared }, keyHash: null, plainKeyHash: null, requestHash: null })) // oxfmt-ignore
      const made = await insertOffers(tx, shop.jobs, settings, rows)
      return made.map((one) => (typeof one === 'object' ? one.amountMinor : one))
    })
  assert.deepEqual(await round([undefined, 'DE', undefined, 'DE']), ['country_required', 950, 'country_required', 'discount_not_valid']) // oxfmt-ignore
  // a code that is used up gets the same refusal as an unknown one, which must not tell whether a code exists
  assert.deepEqual(await round([undefined, 'DE']), ['discount_not_valid', 'discount_not_valid'])
  const [used] = await query<{ uses: number }>(shop.db, sql`select uses from discounts where id = ${code.id}`)
  assert.equal(used!.uses, 1)
})

test('whose tax it is follows from where seller and buyer are, and from the one-stop-shop', async () => {
  const ways: [profile: object, buyer: string, tax: [country: string, treatment: string, rate: number]][] = [
    [{ country: 'DE' }, 'DE', ['DE', 'domestic', 19]],
    [{ country: 'DE' }, 'FR', ['DE', 'domestic', 19]],
    [{ country: 'DE', oss: true }, 'FR', ['FR', 'oss', 20]],
    [{ country: 'DE', oss: true }, 'DE', ['DE', 'domestic', 19]],
    [{ country: 'DE', oss: true }, 'MC', ['FR', 'oss', 20]],
    [{ country: 'DE', oss: true }, 'IC', ['IC', 'outside', 0]],
    [{ country: 'DE', oss: true }, 'GB', ['GB', 'outside', 0]],
    [{ country: 'DE' }, 'US', ['US', 'outside', 0]],
    [{ country: 'GB' }, 'IM', ['GB', 'domestic', 20]],
    // sellers in Monaco and on the Isle of Man charge as those in France and the United Kingdom
    [{ country: 'MC' }, 'MC', ['FR', 'domestic', 20]],
    [{ country: 'MC' }, 'FR', ['FR', 'domestic', 20]],
    [{ country: 'MC' }, 'DE', ['FR', 'domestic', 20]],
    [{ country: 'MC', oss: true }, 'DE', ['DE', 'oss', 19]],
    [{ country: 'FR' }, 'MC', ['FR', 'domestic', 20]],
    [{ country: 'IM' }, 'GB', ['GB', 'domestic', 20]],
    [{ country: 'IM' }, 'DE', ['DE', 'outside', 0]],
    [{ country: 'GB' }, 'DE', ['DE', 'outside', 0]],
    [{ country: 'GB', oss: true }, 'DE', ['DE', 'oss', 19]],
    [{ country: 'IN' }, 'IN', ['IN', 'domestic', 18]],
    [{ country: 'CH' }, 'CH', ['CH', 'domestic', 8.1]],
    [{ country: 'DE', exempt: true }, 'FR', ['DE', 'exempt', 0]],
  ]
  const seller = await taxSeller(shared())
  const productId = await seller.product(10_000)
  for (const [profile, buyer, [country, treatment, rate]] of ways) {
    const said = `${JSON.stringify(profile)} ${buyer}`
    await seller.save({ ...profile, prices: 'inclusive' })
    const { status, body } = await seller.order(productId, { country: buyer })
    assert.equal(status, 201, said)
    const tax = share(10_000, rate * 1000, 100_000 + rate * 1000)
    assert.deepEqual(body.tax, { amount: tax, rate, country, treatment }, said)
    assert.deepEqual(await pinned(body.orderId), { amount: 10_000, fee: 200, tax, rate, country, treatment }, said)
    await seller.save({ ...profile, prices: 'exclusive' })
    const upon = await seller.order(productId, { country: buyer })
    const more = (10_000 * rate) / 100
    assert.equal(upon.body.amount, 10_000 + more, said)
    const amount = 10_000 + more
    assert.deepEqual(await pinned(upon.body.orderId), { amount, fee: Math.round(amount / 50), tax: more, rate, country, treatment }, said) // oxfmt-ignore
  }
})

test('a discount comes off before the tax, and a free order has none and needs no country', async () => {
  const seller = await taxSeller(shared(), { country: 'DE', prices: 'exclusive' })
  const productId = await seller.product(1000)
  await seller.browser.call('POST', '/api/discounts', { code: 'TAX20', percentOff: 20 })
  await seller.browser.call('POST', '/api/discounts', { code: 'TAX100', percentOff: 100 })
  const { body } = await seller.order(productId, { discountCode: 'tax20', country: 'DE' })
  assert.deepEqual([body.amount, body.discountAmount, body.tax.amount], [952, 200, 152])
  const free = await seller.order(productId, { discountCode: 'TAX100' })
  assert.deepEqual([free.status, free.body.status, free.body.tax], [201, 'paid', undefined])
  const { tax, treatment } = await pinned(free.body.orderId)
  assert.deepEqual([tax, treatment, await evidence(free.body.orderId)], [null, null, []])
  const open = await seller.product(500, { payWhatYouWant: true })
  assert.equal((await seller.order(open, { chosenAmount: 700, country: 'DE' })).body.amount, 833)
  assertProblem(await seller.order(open, { chosenAmount: 499, country: 'DE' }), 422, 'amount_too_small')
  // with the tax it would be more than an order can be, and nobody else's order fails with it
  const [large, right] = await Promise.all([
    seller.order(open, { chosenAmount: 999_999_999_999, country: 'DE' }),
    seller.order(open, { chosenAmount: 900, country: 'DE' }),
  ])
  assertProblem(large, 422, 'amount_not_payable')
  assert.equal(right.body.amount, 1071)
})

test('a receipt states the price before a discount where it is the product’s, and no other price', async () => {
  const shop = shared()
  const facts = async (profile: object | undefined, paidText: string) => {
    const seller = await taxSeller(shop, profile)
    const productId = await seller.product(1000)
    await seller.browser.call('POST', '/api/discounts', { code: 'TAX20', percentOff: 20 })
    const email = newMailbox()
    const { body } = await seller.order(productId, { discountCode: 'TAX20', country: 'DE', email })
    assert.equal((await shop.confirm(body)).status, 200)
    const mails = await eventually(
      () => shop.mails(email),
      (all) => all.length > 0,
    )
    const text = mails[0]!.text.replaceAll(/ +/g, ' ')
    assert.match(text, /^Discount -€2\.00$/m)
    assert(text.includes(`Amount ${paidText}`), text)
    return /^Price (.*)$/m.exec(text)?.[1]
  }
  // the discount comes off 10.00, and an order does not keep whether its tax was in that or came after
  assert.equal(await facts({ country: 'DE', prices: 'exclusive' }, '€9.52'), undefined)
  assert.equal(await facts({ country: 'DE', prices: 'inclusive' }, '€8.00'), undefined)
  assert.equal(await facts({ country: 'DE', prices: 'exclusive', exempt: true }, '€8.00'), '€10.00')
  assert.equal(await facts(undefined, '€8.00'), '€10.00')
})

test('in another currency the tax is that of its price, in the view and in the order', async () => {
  const seller = await taxSeller(shared(), { country: 'DE', prices: 'exclusive' })
  const productId = await seller.product(1000)
  const further = { currency: 'JPY', leastMinor: 2500, suggestedMinor: null }
  await inTransaction(shared().db, (tx) => saveFurtherPrices(tx, productId, [further]))
  await seller.browser.call('POST', '/api/discounts', { code: 'YEN20', percentOff: 20 })
  const see = async (asked: string) => (await shared().call('GET', `/api/products/${productId}/public?${asked}`)).body
  for (const [asked, amount, tax] of [
    ['country=DE', 1000, 190],
    ['country=DE&currency=JPY', 2500, 475],
    ['country=DE&currency=JPY&discountCode=YEN20', 2500, 475],
  ] as const) {
    const view = await see(asked)
    assert.deepEqual([view.amount, view.tax.amount, view.tax.rate], [amount, tax, 19], asked)
  }
  const { body } = await seller.order(productId, { country: 'DE', currency: 'JPY', discountCode: 'YEN20' })
  assert.deepEqual([body.currency, body.amount, body.discountAmount, body.tax.amount], ['JPY', 2380, 500, 380])
  assertProblem(await seller.order(productId, { country: 'DE', currency: 'USD' }), 422, 'currency_not_offered')
  // the country that the buyer chooses decides with which price the page begins
  assert.equal((await see('country=JP')).prices[0].currency, 'JPY')
})

test('without a tax profile nothing changes: no tax, no country, no evidence', async () => {
  const seller = await taxSeller(shared())
  const productId = await seller.product()
  for (const more of [{}, { country: 'DE' }, { country: 'DE', countryConfirmed: true }]) {
    const { status, body } = await seller.order(productId, more, from('FR'))
    assert.deepEqual([status, body.amount, body.tax], [201, 1900, undefined])
    assert.deepEqual([(await pinned(body.orderId)).treatment, await evidence(body.orderId)], [null, []])
  }
  assert.equal((await shared().call('GET', `/api/products/${productId}/public?country=DE`)).body.tax, undefined)
})

test('an order needs the buyer’s country, from the buyer or from the proxy; both are kept, and no guess from a language is', async () => {
  const seller = await taxSeller(shared(), { country: 'DE', prices: 'inclusive', oss: true })
  const productId = await seller.product()
  assertProblem(await seller.order(productId), 422, 'country_required')
  assertProblem(await seller.order(productId, {}, { 'accept-language': 'de-DE' }), 422, 'country_required')
  const declared = (await seller.order(productId, { country: 'FR' }, { 'accept-language': 'de-DE' })).body
  assert.deepEqual(await evidence(declared.orderId), ['declared FR'])
  const seen = (await seller.order(productId, {}, from('FR'))).body
  assert.deepEqual([seen.tax.country, await evidence(seen.orderId)], ['FR', ['proxy FR']])
  const both = (await seller.order(productId, { country: 'FR' }, from('FR'))).body
  assert.deepEqual(await evidence(both.orderId), ['declared FR', 'proxy FR'])
  // where nothing differs, there is nothing to confirm
  for (const [headers, kept] of [
    [from('FR'), ['declared FR', 'proxy FR']],
    [{}, ['declared FR']],
  ] as const) {
    const { orderId } = (await seller.order(productId, { country: 'FR', countryConfirmed: true }, headers)).body
    assert.deepEqual(await evidence(orderId), kept)
  }
})

test('a contradiction is asked about once, and all that was said is kept for ten years', async () => {
  const seller = await taxSeller(shared(), { country: 'DE', prices: 'inclusive', oss: true })
  const productId = await seller.product()
  assertProblem(await seller.order(productId, { country: 'FR' }, from('DE')), 422, 'country_unconfirmed')
  const { body } = await seller.order(productId, { country: 'FR', countryConfirmed: true }, from('DE'))
  assert.equal(body.tax.country, 'FR')
  assert.deepEqual(await evidence(body.orderId), ['confirmed FR', 'declared FR', 'proxy DE'])
  const { db } = shared()
  await assert.rejects(sql`update place_evidence set country = 'DE' where order_id = ${body.orderId}`.execute(db))
  await assert.rejects(sql`delete from place_evidence where order_id = ${body.orderId}`.execute(db), /append-only/)
  await sql`insert into place_evidence (order_id, source, country, noted_at)
    select id, 'proxy', 'DE', now() - interval '11 years' from orders where tax_treatment is null and seller_id <> ${seller.sellerId} limit 1`.execute(db) // oxfmt-ignore
  const { sweepEvidence } = await import('../../src/taxes/evidence.ts')
  await sweepEvidence(db)
  assert.equal((await query(db, sql`select from place_evidence where noted_at < now() - interval '10 years'`)).length, 0) // oxfmt-ignore
  assert.equal((await evidence(body.orderId)).length, 3)
})

test('where the rate is missing, the order is refused, and seller and operator see which one', async () => {
  const seller = await taxSeller(shared(), { country: 'DE', prices: 'inclusive', oss: true })
  const productId = await seller.product()
  const { db } = shared()
  await sql`update tax_rates set valid_to = '2025-12-31' where country = 'FR'`.execute(db)
  try {
    assertProblem(await seller.order(productId, { country: 'FR' }), 409, 'tax_rate_missing')
    assert.equal((await seller.order(productId, { country: 'DE' })).status, 201)
    assert.deepEqual((await seller.browser.call('GET', '/api/tax/profile')).body.missingRates, ['FR'])
    const { items } = (await seller.browser.call('GET', '/api/attention')).body
    assert.deepEqual(items.map(({ what, name }: { what: string; name: string }) => [what, name]), [['tax_rate_missing', 'FR']]) // oxfmt-ignore
    const { mattersOf } = await import('../../src/operator/matters.ts')
    assert.match(
      (await mattersOf(db, { isOnTrial: false })).map(({ says }) => says).join(),
      /“standard” of FR is missing/,
    )
    assert.equal((await shared().call('GET', `/api/products/${productId}/public?country=FR`)).body.tax.rate, undefined)
  } finally {
    await sql`update tax_rates set valid_to = null where country = 'FR'`.execute(db)
  }
  assert.equal((await seller.order(productId, { country: 'FR' })).status, 201)
})

test('the rate is that of the day, and an order keeps it whatever is loaded later', async () => {
  const seller = await taxSeller(shared())
  const productId = await seller.product(12_000)
  const { db } = shared()
  const day = (offset: number) => sql`(now() at time zone 'UTC')::date + ${offset}::int`
  await sql`update tax_rates set valid_to = ${day(-1)} where country = 'GB'`.execute(db)
  await sql`insert into tax_rates values ('GB', 'standard', 25, ${day(0)}, ${day(0)}), ('GB', 'standard', 50, ${day(1)}, null)`.execute(db) // oxfmt-ignore
  await seller.save({ country: 'GB', prices: 'inclusive' })
  const { body } = await seller.order(productId, { country: 'GB' })
  assert.equal(body.tax.amount, 2400)
  await sql`delete from tax_rates where country = 'GB'`.execute(db)
  await sql`insert into tax_rates values ('GB', 'standard', 20, '2020-01-01', null)`.execute(db)
  assert.equal((await pinned(body.orderId)).rate, 25)
  assert.equal((await shared().confirm(body)).status, 200)
  const paid = await shared().until(body.orderId, (status) => status.paid)
  assert.deepEqual(paid.tax, { amount: 2400, rate: 25, country: 'GB', treatment: 'domestic' })
})

test('ten requests with one key make one order with its tax, and the key with another country is refused', async () => {
  const seller = await taxSeller(shared(), { country: 'DE', prices: 'exclusive', oss: true })
  const productId = await seller.product()
  const key = { 'idempotency-key': `tax-${productId}` }
  const answers = await times(10, () => seller.order(productId, { country: 'FR' }, key))
  assert.equal(new Set(answers.map(({ body }) => body.orderId)).size, 1)
  for (const { body } of answers) assert.deepEqual([body.amount, body.tax.amount], [2280, 380])
  assertProblem(await seller.order(productId, { country: 'DE' }, key), 409, 'idempotency_key_reused')
  await seller.browser.call('DELETE', '/api/tax/profile')
  assert.deepEqual((await seller.order(productId, { country: 'FR' }, key)).body.tax.amount, 380)
})

test('a product’s view has the tax of the buyer’s country, and a country that does not exist is refused', async () => {
  const seller = await taxSeller(shared(), { country: 'DE', prices: 'exclusive', oss: true })
  const productId = await seller.product(1000)
  const view = async (query: string, headers = {}) =>
    (await shared().call('GET', `/api/products/${productId}/public${query}`, undefined, headers)).body.tax
  assert.deepEqual(await view(''), { prices: 'exclusive' })
  const french = { rate: 20, country: 'FR', treatment: 'oss', amount: 200 }
  assert.deepEqual(await view('?country=FR'), { prices: 'exclusive', buyerCountry: 'FR', ...french })
  assert.deepEqual(await view('', from('fr')), { prices: 'exclusive', buyerCountry: 'FR', seenCountry: 'FR', ...french }) // oxfmt-ignore
  // a guess is nothing that the buyer has said
  assert.deepEqual(await view('', { 'accept-language': 'fr-FR' }), { prices: 'exclusive' })
  for (const country of ['XX', 'UK', 'EU', 'fr', 'FRA', '1'])
    assertProblem(await shared().call('GET', `/api/products/${productId}/public?country=${country}`), 400, 'validation_failed') // oxfmt-ignore
  for (const more of [
    { country: 'UK' },
    { country: 'xx' },
    { country: 7 },
    { country: '' },
    { country: 'DE', countryConfirmed: 'si' },
  ])
    // oxfmt-ignore
    assertProblem(await seller.order(productId, more), 400, 'validation_failed')
})
