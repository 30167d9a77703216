import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { sql } from 'kysely'
import { forgetViesAnswers } from '../../src/taxes/buyer-tax-ids.ts'
import { EU } from '../../src/taxes/sale-tax.ts'
import { findInvoice } from '../../src/invoices/find.ts'
import { invoiceXml } from '../../src/invoices/xml.ts'
import { query } from '../stand-ins/processor.ts'
import { startVies } from '../stand-ins/vies.ts'
import { COMPANY, PROFILE, documents, refunded } from '../support/invoices.ts'
import { type TestShop, assertProblem, sharedShop, startTestShop } from '../support/shop.ts'
import { loadRates, rateOf, taxSeller } from './support.ts'

// A business in another EU country than the seller owes the tax itself, if VIES knows its VAT number.

const SELLER = { country: 'DE', taxIds: ['DE136695976'], oss: true, prices: 'exclusive' }
const FR = { country: 'FR', taxId: 'FR 40 303 265 045' }
const RATES = EU.map((code) => rateOf(code, code === 'DE' ? 19 : 20))

async function start(t: Parameters<typeof startTestShop>[0]) {
  const vies = await startVies(t)
  const shop = await startTestShop(t, { env: { VIES_URL: vies.url } })
  await loadRates(shop, RATES)
  return { vies, shop }
}

const kept = (shop: TestShop, orderId: string) =>
  query<{ country: string; id: string; verdict: string; consultation: string | null; seller: string | null }>(
    shop.db,
    sql`select country, tax_id as id, verdict, consultation, seller_tax_id as seller from buyer_tax_ids where order_id = ${orderId}`,
  )

test('a business in another EU country pays no tax: the price without tax, or the price that contained it', async (t) => {
  const { vies, shop } = await start(t)
  const seller = await taxSeller(shop, SELLER)
  const productId = await seller.product(10_000)
  const { status, body } = await seller.order(productId, FR)
  assert.equal(status, 201, JSON.stringify(body))
  const { checkedAt, ...buyerTaxId } = body.tax.buyerTaxId
  assert.match(checkedAt, /^\d{4}-.*Z$/)
  assert.deepEqual(
    [body.amount, { ...body.tax, buyerTaxId }],
    [10_000, { amount: 0, rate: 0, country: 'FR', treatment: 'reverse_charge', buyerTaxId: { country: 'FR', id: 'FR40303265045', verdict: 'valid' } }], // oxfmt-ignore
  )
  assert.deepEqual(await kept(shop, body.orderId), [
    { country: 'FR', id: 'FR40303265045', verdict: 'valid', consultation: 'WAPIAAAAYx2lVQnO', seller: 'DE136695976' },
  ])
  assert.deepEqual(vies.asked, [
    { path: '/rest-api/check-vat-number', countryCode: 'FR', vatNumber: '40303265045', requesterMemberStateCode: 'DE', requesterNumber: '136695976' }, // oxfmt-ignore
  ])
  await seller.save({ ...SELLER, prices: 'inclusive', oss: false })
  const inclusive = await seller.order(productId, FR)
  assert.deepEqual([inclusive.body.amount, inclusive.body.tax.amount, inclusive.body.tax.treatment], [10_000, 0, 'reverse_charge']) // oxfmt-ignore
  // Monaco has French numbers
  assert.equal((await seller.order(productId, { ...FR, country: 'MC' })).body.tax.treatment, 'reverse_charge')
  assert.equal(vies.asked.length, 1, 'an answer counts for a day')
})

test('with another own number the seller asks VIES again, and the order names the number that asked', async (t) => {
  const { vies, shop } = await start(t)
  const seller = await taxSeller(shop, SELLER)
  const productId = await seller.product(10_000)
  assert.equal((await seller.order(productId, FR)).status, 201)
  await seller.save({ ...SELLER, taxIds: ['DE129273398'] })
  const { orderId } = (await seller.order(productId, FR)).body
  assert.deepEqual(vies.asked.map(({ requesterNumber }) => requesterNumber), ['136695976', '129273398']) // oxfmt-ignore
  assert.equal((await kept(shop, orderId))[0]!.seller, 'DE129273398')
  // also where the profile ends in between
  assert.equal((await seller.browser.call('DELETE', '/api/tax/profile')).status, 200)
  await seller.save(SELLER)
  assert.equal((await seller.order(productId, FR)).status, 201)
  assert.equal(vies.asked.at(-1)!.requesterNumber, '136695976')
})

test('only "valid" of VIES takes the tax off: an unknown number is refused, and so is one while VIES is away', async (t) => {
  const { vies, shop } = await start(t)
  const seller = await taxSeller(shop, SELLER)
  const productId = await seller.product(10_000)
  const view = `/api/products/${productId}/public?country=FR&taxId=FR40303265045`
  for (const weather of ['away', 'busy', 'down', 'nonsense', 'another'] as const) {
    vies.state.weather = weather
    const refused = await seller.order(productId, FR)
    assertProblem(refused, 503, 'tax_id_check_unavailable')
    assert.equal(refused.headers.get('retry-after'), '60')
    assertProblem(await shop.call('GET', view), 503, 'tax_id_check_unavailable')
  }
  vies.state.weather = 'invalid'
  assertProblem(await seller.order(productId, FR), 422, 'tax_id_not_registered')
  assertProblem(await shop.call('GET', view), 422, 'tax_id_not_registered')
  // without the id there is tax, whatever VIES says
  assert.equal((await shop.call('GET', `/api/products/${productId}/public?country=FR`)).body.tax.takesTaxId, true)
  assert.equal((await shop.call('GET', `/api/products/${productId}/public`)).body.tax.takesTaxId, undefined)
  assert.deepEqual((await seller.order(productId, { country: 'FR' })).body.tax.amount, 2000)
  // a number of the seller that VIES does not know is no matter of the buyer's
  vies.state.weather = 'stranger'
  const stranger = (await seller.order(productId, FR)).body
  assert.equal(stranger.tax.treatment, 'reverse_charge')
  assert.deepEqual((await kept(shop, stranger.orderId)).map(({ verdict, consultation }) => [verdict, consultation]), [['valid', null]]) // oxfmt-ignore
  const before = vies.asked.length
  for (const taxId of ['FR40303265046', 'DE136695976', 'FR', '💶', "'; drop table orders"])
    assertProblem(await seller.order(productId, { country: 'FR', taxId }), 422, 'tax_id_invalid')
  assertProblem(await seller.order(productId, { taxId: FR.taxId }), 422, 'country_required')
  for (const taxId of ['', 'F'.repeat(41), 5, 'FR\u0000'])
    assertProblem(await seller.order(productId, { country: 'FR', taxId }), 400, 'validation_failed')
  assert.equal(vies.asked.length, before, 'VIES is asked only about what can be a number')
  const made = await query<{ count: number }>(shop.db, sql`select count(*)::int from buyer_tax_ids`)
  assert.equal(made[0]!.count, 1)
})

test('the price that a buyer saw is the price of the order, and a repeat gets its order, also when VIES is away by then', async (t) => {
  const { vies, shop } = await start(t)
  const seller = await taxSeller(shop, SELLER)
  const productId = await seller.product(10_000)
  const view = await shop.call('GET', `/api/products/${productId}/public?country=FR&taxId=fr40303265045`)
  assert.deepEqual([view.body.tax.treatment, view.body.tax.amount, view.body.tax.buyerTaxId.verdict], ['reverse_charge', 0, 'valid']) // oxfmt-ignore
  vies.state.weather = 'down'
  const key = { 'idempotency-key': 'c0ffee00-0000-4000-8000-000000000001' }
  const first = await seller.order(productId, FR, key)
  assert.deepEqual([first.status, first.body.amount], [201, 10_000])
  await sql`update vies_answers set answered_at = now() - interval '25 hours'`.execute(shop.db)
  assertProblem(await seller.order(productId, FR), 503, 'tax_id_check_unavailable')
  await forgetViesAnswers(shop.db)
  assert.deepEqual(await query(shop.db, sql`select from vies_answers`), [])
  const again = await seller.order(productId, FR, key)
  assert.deepEqual([again.body.orderId, again.body.tax], [first.body.orderId, first.body.tax])
  for (const other of [{ country: 'FR' }, { country: 'FR', taxId: 'FR23334175221' }]) {
    vies.state.weather = 'valid'
    assertProblem(await seller.order(productId, other, key), 409, 'idempotency_key_reused')
  }
})

const shared = sharedShop()
before(() => loadRates(shared(), [...RATES, rateOf('GB', 20)]))

test('an id changes nothing in the seller’s country, outside the EU, for an exempt seller, and for one without a VAT number', async (t) => {
  const { vies, shop } = await start(t)
  await loadRates(shop, [...RATES, rateOf('GB', 20), rateOf('CH', 8.1)])
  const ways: [profile: object, buyer: object, treatment: string][] = [
    [SELLER, { country: 'DE', taxId: 'DE811569869' }, 'domestic'],
    [SELLER, { country: 'GB', taxId: 'GB980780684' }, 'outside'],
    [SELLER, { country: 'CH', taxId: 'CHE107787577' }, 'outside'],
    [{ ...SELLER, exempt: true }, FR, 'exempt'],
    [{ ...SELLER, taxIds: [] }, FR, 'oss'],
    [{ ...SELLER, country: 'GB', taxIds: ['GB980780684'] }, FR, 'oss'],
  ]
  const seller = await taxSeller(shop)
  const productId = await seller.product(10_000)
  for (const [profile, buyer, treatment] of ways) {
    await seller.save(profile)
    const { body } = await seller.order(productId, buyer)
    const said = JSON.stringify([profile, buyer, body])
    const view = await shop.call('GET', `/api/products/${productId}/public?country=${(buyer as typeof FR).country}`)
    assert.deepEqual([view.status, view.body.tax.takesTaxId], [200, undefined], said)
    assert.deepEqual([body.tax?.treatment, body.tax?.buyerTaxId.verdict], [treatment, 'unchecked'], said)
  }
  assert.deepEqual(vies.asked, [])
})

test('the seller’s own number in another country takes no tax off, and VIES is not asked for a product that is not for sale', async (t) => {
  const { vies, shop } = await start(t)
  const seller = await taxSeller(shop, { ...SELLER, taxIds: ['DE136695976', 'FR40303265045'] })
  const productId = await seller.product(10_000)
  assertProblem(await seller.order(productId, FR), 422, 'tax_id_invalid')
  assertProblem(await shop.call('GET', `/api/products/${productId}/public?country=FR&taxId=40303265045`), 422, 'tax_id_invalid') // oxfmt-ignore
  await seller.save(SELLER)
  const invoiced = { ...PROFILE, taxIds: [{ country: 'FR', id: 'FR40303265045' }] }
  assert.equal((await seller.browser.call('PUT', '/api/invoice-profile', invoiced)).status, 200)
  assertProblem(await seller.order(productId, FR), 422, 'tax_id_invalid')
  await sql`update sellers set suspended_at = now() where id = ${seller.sellerId}`.execute(shop.db)
  assertProblem(await seller.order(productId, { country: 'FR', taxId: 'FR23334175221' }), 409, 'shop_not_open')
  assert.deepEqual(vies.asked, [])
})

test('without VIES no tax comes off, and without a tax profile the id is not kept', async () => {
  const seller = await taxSeller(shared(), SELLER)
  const productId = await seller.product(10_000)
  const { body } = await seller.order(productId, FR)
  assert.deepEqual([body.tax.treatment, body.tax.amount, body.tax.buyerTaxId.verdict], ['oss', 2000, 'unchecked'])
  const other = await taxSeller(shared())
  const view = await shared().call('GET', `/api/products/${productId}/public?country=FR`)
  assert.deepEqual([view.body.tax.rate, view.body.tax.takesTaxId], [20, undefined])
  const plain = await other.order(await other.product(10_000), FR)
  assert.deepEqual([plain.status, plain.body.tax], [201, undefined])
  assert.deepEqual(await kept(shared(), plain.body.orderId), [])
  await assert.rejects(sql`update buyer_tax_ids set verdict = 'valid'`.execute(shared().db), /append-only/)
  await assert.rejects(sql`delete from buyer_tax_ids`.execute(shared().db), /append-only/)
})

test('the books have no tax, the invoice and the report say reverse charge, and a company keeps the id of the order', async (t) => {
  const { shop } = await start(t)
  const seller = await taxSeller(shop, SELLER)
  const { taxIds: _, ...profile } = PROFILE
  assert.equal((await seller.browser.call('PUT', '/api/invoice-profile', { ...profile, taxIds: [] })).status, 200)
  const { body } = await seller.order(await seller.product(10_000), FR)
  assert.equal((await shop.confirm(body)).status, 200)
  await shop.until(body.orderId, ({ paid }) => paid)
  const entries = await query<{ kind: string }>(
    shop.db,
    sql`select kind from transfers where order_id = ${body.orderId} order by kind`,
  )
  assert.deepEqual(
    entries.map(({ kind }) => kind),
    ['fee', 'sale'],
  )
  const put = { ...COMPANY, country: 'FR', taxId: 'FR23334175221' }
  for (let n = 0; n < 2; n++) {
    const answer = await shop.call('PUT', `/api/checkout/${body.orderId}/invoice-details`, put)
    assert.equal(answer.status, 200, JSON.stringify(answer.body))
  }
  // the order's id takes the place of any other
  const mistyped = await shop.call('PUT', `/api/checkout/${body.orderId}/invoice-details`, { ...put, taxId: 'FR00000000001' }) // oxfmt-ignore
  assert.equal(mistyped.status, 200, JSON.stringify(mistyped.body))
  const issued = await documents(shop, body.orderId)
  assert.deepEqual(issued.map(({ kind, taxMinor }) => [kind, taxMinor]).sort(), [['correction', 0], ['invoice', 0]]) // oxfmt-ignore
  for (const { id } of issued) {
    const xml = invoiceXml((await findInvoice(shop.db, id))!)
    assert.match(xml, /<ram:CategoryCode>AE<\/ram:CategoryCode>/)
    assert.match(xml, /<ram:ID schemeID="VA">DE136695976<\/ram:ID>.*<ram:ID schemeID="VA">FR40303265045<\/ram:ID>/)
  }
  const { items } = (await seller.browser.call('GET', `/api/invoices?orderId=${body.orderId}`)).body
  assert.deepEqual(items.map(({ buyer }: any) => [buyer.taxId, buyer.name !== undefined]).sort(), [['FR40303265045', false], ['FR40303265045', true]]) // oxfmt-ignore
  const own = (await seller.browser.call('GET', `/api/orders/${body.orderId}`)).body
  const report = (await seller.browser.call('GET', `/api/tax/report?period=${own.paidAt.slice(0, 4)}`)).body.items
  assert.deepEqual(
    report.map(({ country, treatment, gross, tax }: any) => [country, treatment, gross, tax]),
    [['FR', 'reverse_charge', 10_000, 0]],
  )
  const status = await shop.status(body.orderId, 'bob@example.com')
  assert.equal(status.tax?.buyerTaxId?.id, 'FR40303265045')
  assert.deepEqual([own.tax?.treatment, own.tax], ['reverse_charge', status.tax])
  // a profile that names several numbers
  const several = [{ country: 'GB', id: 'GB980780684' }, { country: 'FR', id: 'FR23334175221' }, { country: 'DE', id: 'DE136695976' }] // oxfmt-ignore
  assert.equal((await seller.browser.call('PUT', '/api/invoice-profile', { ...profile, taxIds: several })).status, 200)
  assert.equal((await shop.call('PUT', `/api/checkout/${body.orderId}/invoice-details`, { ...put, name: 'Autre' })).status, 200) // oxfmt-ignore
  const added = (await documents(shop, body.orderId)).find(({ id }) => issued.every((one) => one.id !== id))!
  const { data } = (await findInvoice(shop.db, added.id))!
  assert.deepEqual(data.seller.taxIds.map(({ id }) => id), ['DE136695976', 'GB980780684', 'FR23334175221']) // oxfmt-ignore
})

test('a consumer abroad who pays the seller’s own tax is abroad in the XML of the invoice and of the credit note', async () => {
  const shop = shared()
  const seller = await taxSeller(shop, { ...SELLER, oss: false })
  assert.equal((await seller.browser.call('PUT', '/api/invoice-profile', PROFILE)).status, 200)
  const { body } = await seller.order(await seller.product(10_000), { country: 'FR' })
  assert.deepEqual([body.tax.country, body.tax.treatment], ['DE', 'domestic'])
  assert.equal((await shop.confirm(body)).status, 200)
  await shop.until(body.orderId, ({ paid }) => paid)
  await refunded(shop, seller.browser, body.orderId, 500)
  const issued = await documents(shop, body.orderId)
  assert.deepEqual(
    issued.map(({ kind }) => kind),
    ['credit_note', 'invoice'],
  )
  for (const { id } of issued)
    assert.match(invoiceXml(await findInvoice(shop.db, id)), /<ram:BuyerTradeParty>.*<ram:CountryID>FR<\/ram:CountryID>.*<\/ram:BuyerTradeParty>/) // oxfmt-ignore
})
