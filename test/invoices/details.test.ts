import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { askDueTaxIds } from '../../src/invoices/tax-id-checks.ts'
import { registerAsker } from '../../src/tax-ids/vies.ts'
import { startVies } from '../stand-ins/vies.ts'
import { COMPANY, PROFILE, documents, paidOrder, refunded, withInvoices } from '../support/invoices.ts'
import { newAddress } from '../support/seller.ts'
import { type TestShop, assertProblem, newDatabase, startTestShop } from '../support/shop.ts'

const put = (shop: TestShop, orderId: string, change: object = {}) =>
  shop.call('PUT', `/api/checkout/${orderId}/invoice-details`, { ...COMPANY, ...change })

test('a buyer adds a company: the invoice stays, a corrected one refers to it, and later credit notes name the company', async (t) => {
  const shop = await startTestShop(t)
  const ann = await withInvoices(shop)
  const orderId = await paidOrder(shop, await shop.product())
  const [invoice] = await documents(shop)
  const added = await put(shop, orderId)
  assert.equal(added.status, 200, JSON.stringify(added.body))
  assert.equal(added.headers.get('cache-control'), 'no-store')
  assert.deepEqual(added.body.invoices.map(({ kind, amount }: any) => [kind, amount]), [['invoice', 1900], ['correction', 1900]]) // oxfmt-ignore
  await refunded(shop, ann, orderId, 500)
  const { items } = (await ann.call('GET', `/api/invoices?orderId=${orderId}`)).body
  assert.deepEqual(
    items.map(({ kind, reason, amount, refersTo, buyer }: any) => [kind, reason, amount, refersTo, buyer.name, buyer.taxId, buyer.taxIdState]), // oxfmt-ignore
    [
      ['credit_note', 'refund', 500, invoice!.number, COMPANY.name, 'PL5260001246', 'unchecked'],
      ['correction', 'buyer_details', 1900, invoice!.number, COMPANY.name, 'PL5260001246', 'unchecked'],
      ['invoice', 'sale', 1900, null, undefined, undefined, undefined],
    ],
  )
  assert.match(items[1].number, /-R000001$/)
})

test('the same details again, also at the same moment, issue one correction; others issue the next, up to five', async (t) => {
  const shop = await startTestShop(t)
  await withInvoices(shop)
  const orderId = await paidOrder(shop, await shop.product())
  const answers = await Promise.all(Array.from({ length: 4 }, () => put(shop, orderId)))
  assert.deepEqual(
    answers.map(({ status }) => status),
    [200, 200, 200, 200],
  )
  for (const city of ['Kraków', 'Gdańsk', 'Łódź', 'Poznań'])
    assert.equal((await put(shop, orderId, { city })).status, 200)
  assertProblem(await put(shop, orderId, { city: 'Lublin' }), 409, 'too_many_corrections')
  assert.equal((await put(shop, orderId, { city: 'Poznań' })).status, 200)
  const numbers = (await documents(shop))
    .filter(({ kind }) => kind === 'correction')
    .map(({ number }) => number.slice(-7))
  assert.deepEqual(numbers, ['R000001', 'R000002', 'R000003', 'R000004', 'R000005'])
})

test('requests to add details are limited for each order and network', async (t) => {
  const shop = await startTestShop(t, { env: { LIMITS: 'receipt=2/3600', TRUST_PROXY: '1' } })
  await withInvoices(shop)
  const productId = await shop.product()
  const [orderId, other] = [await paidOrder(shop, productId), await paidOrder(shop, productId)]
  const put = (id: string, from: string, email = COMPANY.email) =>
    shop.call('PUT', `/api/checkout/${id}/invoice-details`, { ...COMPANY, email }, { 'x-forwarded-for': from })
  const [network, another] = [newAddress(), newAddress()]
  assert.equal((await put(orderId, network)).status, 200)
  // a guess at the address counts too
  assertProblem(await put(orderId, network, 'eve@example.com'), 404, 'order_not_found')
  assertProblem(await put(orderId, network), 429, 'rate_limited')
  assert.equal((await put(orderId, another)).status, 200, 'a stranger does not use up the buyer’s')
  assert.equal((await put(other, network)).status, 200)
})

test('wrong details are refused with their reason, and issue nothing', async (t) => {
  const shop = await startTestShop(t)
  await withInvoices(shop)
  const orderId = await paidOrder(shop, await shop.product())
  assertProblem(await put(shop, orderId, { taxId: 'PL5260001247' }), 422, 'tax_id_invalid')
  assertProblem(await put(shop, orderId, { country: 'QQ' }), 422, 'country_unknown')
  for (const change of [
    { name: ' ' },
    { name: 5 },
    { address: [] },
    { address: ['\u202e'] },
    { city: '' },
    { city: '\u095c'.repeat(80) },
    { country: 'POL' },
    { taxId: 'x'.repeat(41) },
  ])
    // oxfmt-ignore
    assertProblem(await put(shop, orderId, change), 400, 'validation_failed')
  // somebody who knows only the number
  assertProblem(await put(shop, orderId, { email: 'eve@example.com' }), 404, 'order_not_found')
  assertProblem(await put(shop, 'ord_00000000000000000000000000'), 404, 'order_not_found')
  assert.equal((await documents(shop)).length, 1)
})

test('after 30 days, for an unpaid order and without invoices, details are refused', async (t) => {
  const shop = await startTestShop(t)
  const without = await paidOrder(shop, await shop.product())
  await withInvoices(shop)
  assertProblem(await put(shop, without), 404, 'invoice_not_found')
  const productId = await shop.product()
  assertProblem(await put(shop, (await shop.checkout({ productId })).orderId), 404, 'invoice_not_found')
  const orderId = await paidOrder(shop, productId)
  assert.ok((await shop.status(orderId, 'bob@example.com')).invoiceDetailsUntil)
  await sql`update orders set paid_at = now() - interval '31 days' where id = ${orderId}`.execute(shop.db)
  assertProblem(await put(shop, orderId), 410, 'invoice_details_over')
  const { invoices, invoiceDetailsUntil } = await shop.status(orderId, 'bob@example.com')
  assert.deepEqual([invoices?.length, invoiceDetailsUntil], [1, undefined])
})

test('after money went back, also a part, details are refused; the same ones again still change nothing', async (t) => {
  const shop = await startTestShop(t)
  const ann = await withInvoices(shop)
  const productId = await shop.product()
  const [part, all, named] = await Promise.all([1, 2, 3].map(() => paidOrder(shop, productId)))
  assert.equal((await put(shop, named!)).status, 200)
  await refunded(shop, ann, part!, 1)
  for (const orderId of [all!, named!]) await refunded(shop, ann, orderId)
  for (const orderId of [part!, all!]) assertProblem(await put(shop, orderId), 410, 'invoice_details_over')
  assert.equal((await put(shop, named!)).status, 200)
  assertProblem(await put(shop, named!, { city: 'Kraków' }), 410, 'invoice_details_over')
  for (const orderId of [part!, all!, named!])
    assert.equal((await shop.status(orderId, 'bob@example.com')).invoiceDetailsUntil, undefined)
  assert.equal((await documents(shop)).filter(({ kind }) => kind === 'correction').length, 1)
})

test('VIES that is away is asked again later; only its plain answer is kept, with the seller’s consultation number', async (t) => {
  const vies = await startVies(t)
  const shop = await startTestShop(t, { env: { VIES_URL: vies.url } })
  // VIES takes no British number as that of who asks
  const taxIds = [{ country: 'GB', id: 'GB980780684' }, ...PROFILE.taxIds]
  const ann = await withInvoices(shop, { taxIds })
  const orderId = await paidOrder(shop, await shop.product())
  // the service's own minute must not answer in between
  vies.state.weather = 'busy'
  await put(shop, orderId)
  const ask = registerAsker(vies.url)
  const stateNow = async () =>
    (await ann.call('GET', `/api/invoices?orderId=${orderId}`)).body.items[0].buyer.taxIdState as string
  const again = () => sql`update tax_id_checks set due_at = now()`.execute(shop.db)
  await again()
  await askDueTaxIds(shop.db, ask)
  assert.equal(await stateNow(), 'unavailable')
  const { rows } = await sql<{ later: boolean }>`select due_at > now() as later from tax_id_checks`.execute(shop.db)
  assert.deepEqual(rows, [{ later: true }])
  vies.state.weather = 'valid'
  await again()
  await askDueTaxIds(shop.db, ask)
  assert.equal(await stateNow(), 'valid')
  const { rows: kept } = await sql`select consultation, due_at from tax_id_checks`.execute(shop.db)
  assert.deepEqual(kept, [{ consultation: 'WAPIAAAAYx2lVQnO', due_at: null }])
  assert.partialDeepStrictEqual(vies.asked.at(-1), {
    countryCode: 'PL',
    vatNumber: '5260001246',
    requesterMemberStateCode: 'DE',
  })
})

test('a credit note has the answer of VIES about the id that it repeats', async (t) => {
  // without VIES, so that no job asks in between
  const shop = await startTestShop(t)
  const ann = await withInvoices(shop)
  const orderId = await paidOrder(shop, await shop.product())
  for (const change of [{}, { taxId: 'PL1060000062' }]) assert.equal((await put(shop, orderId, change)).status, 200)
  await refunded(shop, ann, orderId, 500)
  await sql`
    update tax_id_checks set state = case tax_id when 'PL1060000062' then 'valid' else 'invalid' end`.execute(shop.db)
  const { items } = (await ann.call('GET', `/api/invoices?orderId=${orderId}`)).body
  assert.deepEqual(
    items.map(({ kind, buyer }: any) => [kind, buyer.taxId, buyer.taxIdState]),
    [
      ['credit_note', 'PL1060000062', 'valid'],
      ['correction', 'PL1060000062', 'valid'],
      ['correction', 'PL5260001246', 'invalid'],
      ['invoice', undefined, undefined],
    ],
  )
  const csv = await ann.call('GET', `/api/invoices?orderId=${orderId}`, undefined, { accept: 'text/csv' })
  const lines = String(csv.body).trim().split(/\r?\n/)
  assert.deepEqual(
    lines.slice(1).map((line) => line.split(',').at(-1)),
    ['valid', 'valid', 'invalid', ''],
  )
})

test('a service with VIES switched off no longer adds the jobs that ask it', async (t) => {
  const databaseUrl = await newDatabase(t)
  const isScheduled = async ({ db }: TestShop) =>
    (await sql`select 1 from pgboss.schedule where name = 'check_tax_ids'`.execute(db)).rows.length === 1
  const asking = await startTestShop(t, { databaseUrl, env: { VIES_URL: 'https://vies.example' } })
  assert.equal(await isScheduled(asking), true)
  assert.equal(await isScheduled(await startTestShop(t, { databaseUrl })), false)
})
