import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { sql } from 'kysely'
import { findInvoice } from '../../src/invoices/find.ts'
import { prefixOf } from '../../src/invoices/profile.ts'
import { invoiceXml } from '../../src/invoices/xml.ts'
import { ensureSeller } from '../../src/sellers/sellers.ts'
import { captureOf, query, snapshotOf } from '../stand-ins/processor.ts'
import { COMPANY, PROFILE, documents, paidOrder, refunded, withInvoices } from '../support/invoices.ts'
import { SEED, sample } from '../support/seed.ts'
import { newBrowser } from '../support/seller.ts'
import { assertProblem, startTestShop } from '../support/shop.ts'

test('sales at the same moment get gapless numbers, and each refund a credit note of its own series', async (t) => {
  const shop = await startTestShop(t)
  const ann = await withInvoices(shop)
  const productId = await shop.product()
  const before = new Date().getUTCFullYear()
  const orders = await Promise.all(Array.from({ length: 12 }, () => paidOrder(shop, productId)))
  const prefix = prefixOf(shop.sellerId, 4)
  const issued = await documents(shop)
  const year = Number(issued[0]!.number.split('-')[1])
  assert([before, new Date().getUTCFullYear()].includes(year), String(year))
  assert.deepEqual(
    issued.map(({ number }) => number),
    Array.from({ length: 12 }, (_, at) => `${prefix}-${year}-${String(at + 1).padStart(6, '0')}`),
  )
  assert.deepEqual(new Set(issued.map(({ orderId }) => orderId)), new Set(orders))

  await refunded(shop, ann, orders[3]!, 700)
  await refunded(shop, ann, orders[3]!)
  await refunded(shop, ann, orders[5]!)
  const credits = (await documents(shop)).filter(({ kind }) => kind === 'credit_note')
  assert.deepEqual(
    credits.map(({ number, amountMinor, orderId }) => [number.replace(/-20\d\d-/, '-'), amountMinor, orderId]),
    [
      [`${prefix}-C000001`, 700, orders[3]],
      [`${prefix}-C000002`, 1200, orders[3]],
      [`${prefix}-C000003`, 1900, orders[5]],
    ],
  )
})

test('the documents of a bank debit name the day on which the bank confirmed it, not the one on which it began', async (t) => {
  const shop = await startTestShop(t)
  await withInvoices(shop)
  const order = await shop.checkout()
  const capturedAt = new Date(Date.now() - 6 * 86_400_000).toISOString()
  const captures = [captureOf(order, { capturedAt, rail: 'debit' })]
  assert.equal((await shop.notify({ payment: await snapshotOf(shop, order, { state: 'captured', captures }) })).status, 200) // oxfmt-ignore
  const { paidAt } = await shop.status(order.orderId, 'bob@example.com')
  assert.equal(paidAt, capturedAt)
  const added = await shop.call('PUT', `/api/checkout/${order.orderId}/invoice-details`, COMPANY)
  assert.equal(added.status, 200, JSON.stringify(added.body))
  const [sale] = await query<{ at: Date }>(shop.db, sql`select created_at as at from transfers where kind = 'sale'`)
  const issued = await documents(shop)
  assert.equal(issued.length, 2)
  for (const { id, kind } of issued) {
    const invoice = (await findInvoice(shop.db, id))!
    assert.equal(invoice.data.paidAt, sale!.at.toISOString(), kind)
    const day = invoice.data.paidAt.slice(0, 10).replaceAll('-', '')
    assert.match(invoiceXml(invoice), new RegExp(`<ram:OccurrenceDateTime><udt:DateTimeString format="102">${day}<`))
  }
})

test('two sellers’ numbers never look alike, and each begins with one', async (t) => {
  const shop = await startTestShop(t)
  await withInvoices(shop)
  const carol = newBrowser(shop)
  const sellerId = await ensureSeller(shop.db, { name: 'Carol', email: 'carol@shop.test', trusted: true })
  await carol.signInByCode('carol@shop.test')
  assert.equal((await carol.call('PUT', '/api/invoice-profile', PROFILE)).status, 200)
  await paidOrder(shop, await shop.product())
  await paidOrder(shop, await shop.product({ sellerId }))
  const numbers = (await documents(shop)).map(({ number }) => number)
  assert.equal(numbers.length, 2)
  assert.notEqual(numbers[0], numbers[1])
  for (const number of numbers) assert.match(number, /^[A-Z][0-9A-Z]{3}-20\d\d-000001$/)
  assert.equal(prefixOf('sel_1', 6).slice(0, 4), prefixOf('sel_1', 4))
})

test('a prefix that another seller has already becomes longer', async (t) => {
  const shop = await startTestShop(t)
  const other = await ensureSeller(shop.db, { name: 'Carol', email: 'carol@shop.test', trusted: true })
  await sql`insert into invoice_profiles (seller_id, prefix, is_on, legal_name, address, city, postcode, country)
    values (${other}, ${prefixOf(shop.sellerId, 4)}, true, 'Carol', '{"1 Street"}', 'Dublin', '', 'IE')`.execute(
    shop.db,
  )
  const ann = await withInvoices(shop)
  assert.equal((await ann.call('GET', '/api/invoice-profile')).body.prefix, prefixOf(shop.sellerId, 5))
})

test('without a profile, switched off, or for nothing, no document is issued; a sold one still gets its credit note', async (t) => {
  const shop = await startTestShop(t)
  const productId = await shop.product()
  const before = await paidOrder(shop, productId)
  const ann = await withInvoices(shop)
  const free = await shop.checkout({ productId: await shop.product({ priceMinor: 0 }) })
  assert.equal(free.status, 'paid')
  const during = await paidOrder(shop, productId)
  await ann.call('PUT', '/api/invoice-profile', { ...PROFILE, on: false })
  await paidOrder(shop, productId)
  assert.deepEqual(
    (await documents(shop)).map(({ orderId }) => orderId),
    [during],
  )
  await refunded(shop, ann, during)
  // the refund of a sale without an invoice has no credit note
  const answer = await ann.call('POST', `/api/orders/${before}/refunds`, {})
  assert.equal(answer.status, 201)
  await shop.until(before, ({ status }) => status === 'refunded')
  assert.deepEqual(
    (await documents(shop)).map(({ kind, orderId }) => [kind, orderId]),
    [
      ['credit_note', during],
      ['invoice', during],
    ],
  )
})

test('an issued document cannot be changed or removed, and keeps what it said', async (t) => {
  const shop = await startTestShop(t)
  const ann = await withInvoices(shop)
  const orderId = await paidOrder(shop, await shop.product())
  for (const change of ['update invoices set amount_minor = 1', 'delete from invoices', 'truncate invoices cascade'])
    await assert.rejects(sql.raw(change).execute(shop.db), /append-only/)
  await ann.call('PUT', '/api/invoice-profile', { ...PROFILE, name: 'Another name' })
  const { rows } = await sql<{ name: string; taxIds: unknown }>`
    select data->'seller'->>'name' as name, data->'seller'->'taxIds' as "taxIds" from invoices where order_id = ${orderId}`.execute(
    shop.db,
  )
  assert.deepEqual(rows, [{ name: PROFILE.name, taxIds: [{ country: 'DE', id: 'DE136695976' }] }])
})

test('credit notes of all the price have exactly its tax', async (t) => {
  const shop = await startTestShop(t)
  const ann = await withInvoices(shop)
  const order = await shop.checkout({ productId: await shop.product() })
  await sql`update orders set tax_minor = 303, tax_rate = 19, tax_country = 'DE', tax_treatment = 'domestic' where id = ${order.orderId}`.execute(
    shop.db,
  )
  await shop.confirm(order)
  await shop.until(order.orderId, ({ paid }) => paid)
  for (const amount of [1, 633, 633]) await refunded(shop, ann, order.orderId, amount)
  await refunded(shop, ann, order.orderId)
  const rows = await documents(shop, order.orderId)
  const taxOf = (kind: string) =>
    rows.filter((one) => one.kind === kind).reduce((sum, { taxMinor }) => sum + taxMinor!, 0)
  assert.deepEqual([taxOf('invoice'), taxOf('credit_note')], [303, 303])
})

test(`each credit note has the tax of its entry in the books, also where exact halves are rounded (seed ${SEED})`, async (t) => {
  const shop = await startTestShop(t)
  const ann = await withInvoices(shop)
  const productId = await shop.product({ priceMinor: 1902 })
  // half of the price and odd: every odd amount has an exact half
  const setTax = (orderId: string) =>
    sql`update orders set tax_minor = 951, tax_rate = 99, tax_country = 'DE', tax_treatment = 'domestic' where id = ${orderId}`.execute(
      shop.db,
    )
  const refunds = sample(fc.array(fc.integer({ min: 1, max: 400 }), { minLength: 1, maxLength: 4 }), 4)
  await Promise.all(
    [[1, 3, 2], ...refunds].map(async (amounts) => {
      const order = await shop.checkout({ productId })
      await setTax(order.orderId)
      await shop.confirm(order)
      await shop.until(order.orderId, ({ paid }) => paid)
      for (const amount of amounts) await refunded(shop, ann, order.orderId, amount)
      await refunded(shop, ann, order.orderId)
    }),
  )
  const { rows } = await sql<{ noted: number; booked: number | null }>`
    select i.tax_minor as noted, (select t.amount_minor from transfers t where t.kind = 'tax_refund' and t.cause = i.cause) as booked
    from invoices i where i.kind = 'credit_note'`.execute(shop.db)
  assert.equal(rows.length, [[1, 3, 2], ...refunds].flat().length + 5)
  for (const { noted, booked } of rows) assert.equal(noted, booked ?? 0, JSON.stringify(refunds))
})

test('a profile with a wrong country, tax id or name is refused, and only its seller has it', async (t) => {
  const shop = await startTestShop(t)
  const ann = newBrowser(shop)
  await ann.signInByCode('ann@shop.test')
  const put = (change: object) => ann.call('PUT', '/api/invoice-profile', { ...PROFILE, ...change })
  assert.deepEqual((await ann.call('GET', '/api/invoice-profile')).body, { profile: null, prefix: null })
  assertProblem(await put({ country: 'QQ' }), 422, 'country_unknown')
  assertProblem(await put({ country: 'EU' }), 422, 'country_unknown')
  assertProblem(await put({ taxIds: [{ country: 'DE', id: 'DE136695977' }] }), 422, 'tax_id_invalid')
  assertProblem(await put({ taxIds: [{ country: 'XX', id: '1234' }] }), 422, 'country_unknown')
  for (const change of [
    { name: ' \u200b ' },
    { name: 'x'.repeat(201) },
    { address: [] },
    { address: ['a', 'b', 'c', 'd', 'e', 'f'] },
    { city: '' },
    { on: 'maybe' },
    { taxIds: Array(6).fill(PROFILE.taxIds[0]) },
    { note: 'x'.repeat(501) },
  ])
    // oxfmt-ignore
    assertProblem(await put(change), 400, 'validation_failed')
  // letters that become two when they are cleaned, of Hindi and of Hebrew
  for (const [path, text] of [
    ['name', '\u095c'.repeat(150)],
    ['city', '\u095c'.repeat(80)],
    ['postcode', '\ufb2c'.repeat(15)],
    ['note', 'ब\u095cा '.repeat(124)],
    ['address', ['\u095c'.repeat(80)]],
  ] as const) {
    const answer = await put({ [path]: text })
    assertProblem(answer, 400, 'validation_failed')
    assert.deepEqual(answer.body.fields.map((one: { path: string }) => one.path), [path]) // oxfmt-ignore
  }
  assertProblem(await shop.call('PUT', '/api/invoice-profile', PROFILE), 401, 'not_signed_in')
  assert.deepEqual((await ann.call('GET', '/api/invoice-profile')).body, { profile: null, prefix: null })
  assert.equal(
    (await put({ name: '  Ann\u202e Books\n ', city: '\u095c'.repeat(50), note: 'No tax by § 19 UStG.' })).body.profile
      .name,
    'Ann Books',
  )
})
