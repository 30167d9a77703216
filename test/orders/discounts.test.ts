import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import fc from 'fast-check'
import { sql } from 'kysely'
import { inTransaction } from '../../src/kit/database.ts'
import { digestOf } from '../../src/kit/idempotency.ts'
import { newId } from '../../src/kit/ids.ts'
import type { Created } from '../../src/checkout/schema.ts'
import { insertOffers } from '../../src/orders/discounts/offers.ts'
import { normalCode } from '../../src/orders/discounts/uses.ts'
import type { OrderRow } from '../../src/orders/new-order.ts'
import { acceptPayment, sendPaymentBack } from '../../src/payments/review.ts'
import { reconcileBooks } from '../../src/payments/reconciliation/reconcile.ts'
import type { Capture, DisputeFact, PaymentSnapshot, RefundFact } from '../../src/processors/processor.ts'
import { query } from '../stand-ins/processor.ts'
import { SEED, sample } from '../support/seed.ts'
import { newBrowser, type Browser } from '../support/seller.ts'
import { assertProblem, eventually, sharedShop, startTestShop, type TestShop } from '../support/shop.ts'

const shared = sharedShop()
let signedIn: Promise<Browser> | undefined
/** The seller's browser, signed in when it is first needed. */
const ann: Pick<Browser, 'call'> = {
  async call(...request) {
    signedIn ??= (async () => {
      const browser = newBrowser(shared())
      await browser.signInByCode('ann@shop.test')
      return browser
    })()
    return (await signedIn).call(...request)
  },
}

const buyer = () => `${randomUUID()}@example.com`
const newCode = () => `C-${randomUUID().slice(0, 12)}`

async function discount(fields: object = {}) {
  const answer = await ann.call('POST', '/api/discounts', { code: newCode(), percentOff: 20, ...fields })
  assert.equal(answer.status, 201, JSON.stringify(answer.body))
  return answer.body as { id: string; code: string; uses: number }
}

const order = (body: object, headers?: Record<string, string>) =>
  shared().call<Created>('POST', '/api/checkout', { email: buyer(), ...body }, headers)

async function usesOf(id: string): Promise<{ uses: number; held: number }> {
  const { rows } = await sql<{ uses: number; held: number }>`
    select uses, (select count(*)::int from orders where discount_id = d.id and holds_discount) as held
    from discounts d where id = ${id}`.execute(shared().db)
  return rows[0]!
}

const expire = async (shop: TestShop, orderId: string) => {
  await sql`update orders set expires_at = now(), due_at = now() where id = ${orderId}`.execute(shop.db)
  await shop.syncDue()
}

test('wrong codes and discounts are refused', async () => {
  const productId = await shared().product()
  const bad: [object, string][] = [
    [{ code: 'AB' }, 'code'],
    [{ code: 'A'.repeat(41) }, 'code'],
    [{ code: 'SOMMER 27' }, 'code'],
    [{ code: "x'; drop table orders" }, 'code'],
    [{ code: 'SÜMMER' }, 'code'],
    [{ percentOff: 0 }, 'percentOff'],
    [{ percentOff: 101 }, 'percentOff'],
    [{ percentOff: 12.5 }, 'percentOff'],
    [{ percentOff: undefined }, 'percentOff'],
    [{ amountOff: 100, currency: 'USD' }, 'percentOff'],
    [{ percentOff: undefined, amountOff: 100 }, 'currency'],
    [{ percentOff: undefined, amountOff: 100, currency: 'XXX' }, 'currency'],
    [{ percentOff: undefined, amountOff: 100, currency: 'EUR', productId }, 'currency'],
    [{ percentOff: undefined, amountOff: 0, currency: 'USD' }, 'amountOff'],
    [{ percentOff: undefined, amountOff: -100, currency: 'USD' }, 'amountOff'],
    [{ currency: 'USD' }, 'currency'],
    [{ limit: 0 }, 'limit'],
    [{ expiresAt: 'tomorrow' }, 'expiresAt'],
    [{ expiresAt: '2026-02-30T00:00:00Z' }, 'expiresAt'],
    [{ expiresAt: '2026-13-01T00:00:00Z' }, 'expiresAt'],
    [{ startsAt: '2026-12-02T00:00:00Z', expiresAt: '2026-12-01T00:00:00Z' }, 'expiresAt'],
    [{ productId: 'prod_1' }, 'productId'],
  ]
  for (const [fields, path] of bad) {
    const answer = await ann.call('POST', '/api/discounts', { code: newCode(), percentOff: 20, ...fields })
    assertProblem(answer, 400, 'validation_failed')
    assert.deepEqual(
      [...new Set(answer.body.fields.map((one: { path: string }) => one.path))],
      [path],
      JSON.stringify(fields),
    )
  }
  for (const limit of ['0', '101', '-1', 'x', ''])
    assertProblem(await ann.call('GET', `/api/discounts?limit=${limit}`), 400, 'validation_failed')
  const ofProducts = Buffer.from(newId('prod')).toString('base64url')
  for (const cursor of ['x', 'dsc_', '../../', "'", newId('dsc'), ofProducts]) {
    const answer = await ann.call('GET', `/api/discounts?cursor=${encodeURIComponent(cursor)}`)
    assertProblem(answer, 400, 'validation_failed')
    assert.deepEqual(answer.body.fields.map((one: { path: string }) => one.path), ['cursor'], cursor) // oxfmt-ignore
  }
})

test('a code is its seller’s alone', async () => {
  const shop = shared()
  const { id, code } = await discount()
  const eve = newBrowser(shop)
  assertProblem(await eve.call('GET', '/api/discounts'), 401, 'not_signed_in')
  await eve.signInByCode()
  assertProblem(await eve.call('PATCH', `/api/discounts/${id}`, { active: false }), 404, 'discount_not_found')
  assertProblem(await eve.call('DELETE', `/api/discounts/${id}`), 404, 'discount_not_found')
  assert.deepEqual((await eve.call('GET', '/api/discounts')).body, { items: [], nextCursor: null })
  const productId = await shop.product()
  assertProblem(await eve.call('POST', '/api/discounts', { code, percentOff: 50, productId }), 404, 'product_not_found')
  // the same code, of another seller, is another, and takes nothing off here
  const other = newCode()
  assert.equal((await eve.call('POST', '/api/discounts', { code: other, percentOff: 50 })).status, 201)
  assertProblem(await order({ productId, discountCode: other }), 422, 'discount_not_valid')
})

test('a seller makes at most a hundred thousand codes', async () => {
  const many = newBrowser(shared())
  await many.signInByCode()
  const another = () => many.call('POST', '/api/discounts', { code: newCode(), percentOff: 50 })
  const { body } = await another()
  // in parts, because a statement has a time limit
  for (let from = 1; from <= 99_998; from += 10_000)
    await sql`
      insert into discounts (id, seller_id, code, percent_off)
      select 'dsc_m' || lpad(n::text, 25, '0'), seller_id, 'MANY-' || n, percent_off
      from discounts, generate_series(${from}::int, least(${from}::int + 9_999, 99_998)) n where id = ${body.id}`.execute(
      shared().db,
    )
  assert.equal((await another()).status, 201)
  assertProblem(await another(), 409, 'too_many_discounts')
  await discount()
})

test('a code is made once, whatever its case, changed, listed and taken away', async () => {
  const productId = await shared().product()
  const made = await ann.call('POST', '/api/discounts', { code: ' Sommer-27 ', percentOff: 20, limit: 5, productId })
  const { id, createdAt, ...rest } = made.body
  assert.match(id, /^dsc_/)
  assert.equal(made.headers.get('location'), `/api/discounts/${id}`)
  assert(Date.parse(createdAt) > Date.now() - 60_000)
  assert.deepEqual(rest, { code: 'Sommer-27', productId, percentOff: 20, limit: 5, uses: 0, active: true })
  assertProblem(
    await ann.call('POST', '/api/discounts', { code: 'SOMMER-27', percentOff: 5 }),
    409,
    'discount_code_taken',
  )

  const change = await ann.call('PATCH', `/api/discounts/${id}`, {
    active: false,
    limit: null,
    expiresAt: '2999-01-01T00:00:00+02:00',
  })
  assert.deepEqual(change.body, { id, createdAt, code: 'Sommer-27', productId, percentOff: 20, uses: 0, active: false, expiresAt: '2998-12-31T22:00:00.000Z' }) // oxfmt-ignore
  assert.equal((await ann.call('PATCH', `/api/discounts/${id}`, { percentOff: 90 })).body.percentOff, 20)
  assert.equal((await ann.call('PATCH', `/api/discounts/${id}`, { expiresAt: null })).body.expiresAt, undefined)

  const more = [await discount({ productId }), await discount({ productId })]
  const seen: string[] = []
  for (let cursor = ''; ;) {
    const { body } = await ann.call('GET', `/api/discounts?productId=${productId}&limit=1${cursor}`)
    seen.push(...body.items.map((one: { id: string }) => one.id))
    if (!body.nextCursor) break
    cursor = `&cursor=${body.nextCursor}`
  }
  assert.deepEqual(seen.slice(0, 3), [more[1]!.id, more[0]!.id, id])

  for (let at = 0; at < 2; at++) assert.equal((await ann.call('DELETE', `/api/discounts/${id}`)).status, 204)
  assertProblem(await ann.call('PATCH', `/api/discounts/${id}`, { active: true }), 404, 'discount_not_found')
  assert.equal((await ann.call('POST', '/api/discounts', { code: 'SOMMER-27', percentOff: 5 })).status, 201)
})

test('a code that is unknown, expired, not yet valid, inactive, used up, deleted, or for something else gets the same refusal', async () => {
  const shop = shared()
  const [productId, another] = [await shop.product(), await shop.product()]
  const usedUp = await discount({ limit: 1 })
  assert.equal((await order({ productId, discountCode: usedUp.code })).status, 201)
  const off = await discount()
  await ann.call('PATCH', `/api/discounts/${off.id}`, { active: false })
  const gone = await discount()
  await ann.call('DELETE', `/api/discounts/${gone.id}`)
  const codes = [
    usedUp.code,
    off.code,
    gone.code,
    newCode(),
    (await discount({ expiresAt: '2026-01-01T00:00:00Z' })).code,
    (await discount({ startsAt: '2999-01-01T00:00:00Z' })).code,
    (await discount({ productId: another })).code,
    (await discount({ percentOff: undefined, amountOff: 100, currency: 'EUR' })).code,
    '%',
    'a\0b',
    '💥',
  ]
  const said = new Set<string>()
  for (const discountCode of codes) {
    const made = await order({ productId, discountCode })
    const view = await shop.call('GET', `/api/products/${productId}/public?${new URLSearchParams({ discountCode })}`)
    for (const answer of [made, view]) {
      assertProblem(answer, 422, 'discount_not_valid')
      said.add((answer.body as unknown as { detail: string }).detail)
    }
  }
  assert.equal(said.size, 1)
  const { rows } = await sql`select 1 from orders where product_id = ${productId}`.execute(shop.db)
  assert.equal(rows.length, 1)
})

test('a code’s discount is the same in the view, the order, the payment, the books and the receipt', async () => {
  const shop = shared()
  for (const { fields, currency, price, off } of [
    { fields: { percentOff: 20 }, currency: 'USD', price: 1900, off: 380 },
    { fields: { percentOff: 33 }, currency: 'JPY', price: 500, off: 165 },
    // of three decimals the processors take two, and of ariary whole ones whose 2 % are whole
    { fields: { percentOff: 33 }, currency: 'KWD', price: 19_990, off: 6590 },
    { fields: { percentOff: 15 }, currency: 'KWD', price: 12_345, off: 1850 },
    { fields: { percentOff: undefined, amountOff: 1851, currency: 'KWD' }, currency: 'KWD', price: 12_345, off: 1850 },
    { fields: { percentOff: undefined, amountOff: 8, currency: 'KWD' }, currency: 'KWD', price: 12_345, off: 0 },
    { fields: { percentOff: 7 }, currency: 'MGA', price: 500_000, off: 35_000 },
    { fields: { percentOff: 33 }, currency: 'MGA', price: 195_000, off: 60_000 },
    { fields: { percentOff: undefined, amountOff: 400, currency: 'EUR' }, currency: 'EUR', price: 1900, off: 400 },
  ]) {
    const productId = await shop.product({ priceMinor: price, currency })
    const { code, id } = await discount(fields)
    const typed = ` ${code.toLowerCase()} `
    const view = await shop.call(
      'GET',
      `/api/products/${productId}/public?${new URLSearchParams({ discountCode: typed })}`,
    )
    const percentOff = fields.percentOff && { percentOff: fields.percentOff }
    assert.deepEqual(view.body.discount, { code, ...percentOff, amountOff: off, amount: price - off })
    assert.equal(view.body.amount, price)

    const { body } = await order({ productId, discountCode: typed, email: 'bob@example.com' })
    assert.deepEqual([body.amount, body.discountAmount], [price - off, off || undefined])
    assert.equal((await shop.confirm(body)).status, 200)
    const status = await shop.until(body.orderId, ({ paid }) => paid)
    assert.deepEqual([status.amount, status.discountAmount], [price - off, off || undefined])
    assert.equal((await shop.transfers(body.orderId))[0]!.amountMinor, price - off)
    assert.deepEqual(await usesOf(id), { uses: 1, held: 1 })
  }
})

test(`a discount is never negative, never more than the price, and the whole price only for a code of 100 % (seed ${SEED})`, async () => {
  const { db } = shared()
  const price = fc.integer({ min: 0, max: 999_999_999_999 })
  const codes = fc.oneof(
    fc.record({ percent: fc.integer({ min: 1, max: 100 }), amount: fc.constant(null) }),
    fc.record({ percent: fc.constant(null), amount: fc.integer({ min: 1, max: 999_999_999_999 }) }),
  )
  const cases = sample(fc.tuple(fc.oneof(price, fc.integer({ min: 0, max: 200 })), codes), 3000)
  const { rows } = await sql<{ off: number }>`
    select discount_of(price, percent, amount) as off
    from unnest(${cases.map(([p]) => p)}::bigint[], ${cases.map(([, c]) => c.percent)}::int[], ${cases.map(([, c]) => c.amount)}::bigint[])
      with ordinality as c(price, percent, amount, at) order by at`.execute(db)
  for (const [at, [list, { percent, amount }]] of cases.entries()) {
    const { off } = rows[at]!
    const what = JSON.stringify([list, percent, amount, off])
    assert(Number.isInteger(off) && off >= 0 && off <= list, what)
    const exact = amount === null ? (BigInt(list) * BigInt(percent!)) / 100n : BigInt(Math.min(list, amount))
    assert.equal(BigInt(off), exact, what)
    if (off === list && list > 0) assert(percent === 100 || amount! >= list, what)
  }
})

test('an order that a code makes free is paid at once', async () => {
  const shop = shared()
  const productId = await shop.product()
  const inDinars = await shop.product({ priceMinor: 12_345, currency: 'KWD' })
  const whole = await order({ productId: inDinars, discountCode: (await discount({ percentOff: 100 })).code })
  assert.deepEqual([whole.body.amount, whole.body.discountAmount], [0, 12_345])
  const more = await discount({ percentOff: undefined, amountOff: 12_346, currency: 'KWD' })
  assert.equal((await order({ productId: inDinars, discountCode: more.code })).body.discountAmount, 12_345)
  for (const fields of [{ percentOff: 100 }, { percentOff: undefined, amountOff: 5000, currency: 'USD' }]) {
    const { id, code } = await discount(fields)
    const email = buyer()
    const { body } = await order({ productId, email, discountCode: code })
    assert.deepEqual([body.amount, body.discountAmount, body.status, body.clientSecret], [0, 1900, 'paid', undefined])
    assert.equal((await shop.status(body.orderId, email)).downloads.length, 1)
    assert.deepEqual(await usesOf(id), { uses: 1, held: 1 })
  }
})

test('a code applies to the price that the buyer chose; the lowest price is checked before it', async () => {
  const shop = shared()
  const productId = await shop.product({ priceMinor: 1000 })
  await sql`update products set pay_what_you_want = true where id = ${productId}`.execute(shop.db)
  const { code } = await discount({ percentOff: 50 })
  assert.equal((await order({ productId, chosenAmount: 3001, discountCode: code })).body.amount, 1501)
  assertProblem(await order({ productId, chosenAmount: 999, discountCode: code }), 422, 'amount_too_small')
})

test('a free product uses up no code', async () => {
  const { id, code } = await discount({ limit: 1 })
  const productId = await shared().product({ priceMinor: 0 })
  for (const discountCode of [code, code, 'NOT-A-CODE']) {
    const { body } = await order({ productId, discountCode })
    assert.deepEqual([body.status, body.discountAmount], ['paid', undefined])
  }
  assert.deepEqual(await usesOf(id), { uses: 0, held: 0 })
})

test('simultaneous buyers, with any number of codes, never use a code more often than its limit', async (t) => {
  const shop = shared()
  const twin = await startTestShop(t, { databaseUrl: shop.databaseUrl })
  const products = [await shop.product(), await shop.product({ priceMinor: 700 })]
  const codes = await Promise.all(Array.from({ length: 3 }, () => discount({ limit: 7 })))
  const answers = await Promise.all(
    Array.from({ length: 90 }, async (_, at) => {
      const { code } = codes[at % 3]!
      const body = { productId: products[at % 2]!, email: buyer(), discountCode: code }
      return { at, answer: await (at % 4 < 2 ? shop : twin).call('POST', '/api/checkout', body) }
    }),
  )
  for (const [which, { id }] of codes.entries()) {
    const mine = answers.filter(({ at }) => at % 3 === which).map(({ answer }) => answer)
    assert.equal(mine.filter(({ status }) => status === 201).length, 7)
    for (const answer of mine.filter(({ status }) => status !== 201)) assertProblem(answer, 422, 'discount_not_valid')
    assert.deepEqual(await usesOf(id), { uses: 7, held: 7 })
  }
})

test('a repeat that comes too late for its use does not take the next buyer’s', async () => {
  const shop = shared()
  const { code } = await discount({ limit: 2 })
  const settings = { ttlHours: 24, firstLookSeconds: 60, freeMail: {}, statementPrefix: 'TILL' }
  const productId = await shop.product()
  const row = (key: string | null): OrderRow => ({
    id: newId('ord'),
    productId,
    email: buyer(),
    discountCode: normalCode(code),
    keyHash: key === null ? null : digestOf([key]),
    plainKeyHash: key === null ? null : digestOf([key, 'plain']),
    requestHash: key === null ? null : digestOf([key, 'request']),
  })
  const key = randomUUID()
  const repeat = row(key)
  let second: Promise<(string | undefined)[]> | undefined
  const insert = (rows: OrderRow[], meanwhile = async () => {}) =>
    inTransaction(shop.db, async (tx) => {
      const made = await insertOffers(tx, shop.jobs, settings, rows)
      await meanwhile()
      return made.map((one) => (typeof one === 'object' ? 'made' : one))
    })
  const first = await insert([{ ...repeat, id: newId('ord') }], async () => {
    second = insert([repeat, row(null)])
    await eventually(
      () =>
        query(
          shop.db,
          sql`select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
        ),
      (waiting) => waiting.length > 0,
    )
  })
  assert.deepEqual(first, ['made'])
  assert.deepEqual(await second, [undefined, 'again'])
  assert.deepEqual(await insert([row(null)]), ['made'])
  assert.deepEqual(await insert([row(null)]), ['discount_not_valid'])
})

test('the same request is one use, however often and however many at once', async () => {
  const productId = await shared().product()
  const { id, code } = await discount({ limit: 1 })
  const headers = { 'idempotency-key': randomUUID() }
  const body = { productId, email: buyer(), discountCode: code }
  const answers = await Promise.all(Array.from({ length: 20 }, () => order(body, headers)))
  for (const answer of answers) assert.deepEqual([answer.status, answer.body], [201, answers[0]!.body])
  assert.deepEqual((await order(body, headers)).body, answers[0]!.body)
  assertProblem(await order({ ...body, discountCode: undefined }, headers), 409, 'idempotency_key_reused')
  assert.deepEqual(await usesOf(id), { uses: 1, held: 1 })
})

test('an order that expires gives its use back, once; paid all the same it takes it again, beyond the limit too', async () => {
  const shop = shared()
  const productId = await shop.product()
  const { id, code } = await discount({ limit: 1 })
  const first = (await order({ productId, discountCode: code, email: 'bob@example.com' })).body
  assertProblem(await order({ productId, discountCode: code }), 422, 'discount_not_valid')
  const payment = await shop.sandboxPayment(first.orderId)
  await expire(shop, first.orderId)
  await expire(shop, first.orderId)
  assert.deepEqual(await usesOf(id), { uses: 0, held: 0 })
  assert.equal((await order({ productId, discountCode: code })).status, 201)
  assert.deepEqual(await usesOf(id), { uses: 1, held: 1 })

  const capturedAt = new Date().toISOString()
  const captures = [{ id: `cap_${randomUUID()}`, amountMinor: first.amount, currency: 'USD', rail: 'card', capturedAt }]
  const late = { ...payment, state: 'captured', captures }
  assert.equal((await shop.notify({ payment: late })).status, 200)
  assert.equal((await shop.notify({ payment: late })).status, 200)
  assert.equal((await shop.status(first.orderId)).status, 'paid')
  assert.deepEqual(await usesOf(id), { uses: 2, held: 2 })
})

test('an order whose payment of another amount goes back gives its use back; money that is accepted after all takes it again', async () => {
  const shop = shared()
  const productId = await shop.product()
  const { id, code } = await discount({ limit: 1 })
  const first = (await order({ productId, discountCode: code, email: 'bob@example.com' })).body
  assert.equal((await shop.confirm(first, 'wrong_amount')).status, 200)
  await shop.until(first.orderId, ({ status }) => status === 'needs_review')
  assert.deepEqual(await usesOf(id), { uses: 1, held: 1 })
  assertProblem(await order({ productId, discountCode: code }), 422, 'discount_not_valid')

  const sendBack = () => inTransaction(shop.db, (tx) => sendPaymentBack(tx, shop.jobs, first.orderId))
  const sent = await Promise.allSettled([sendBack(), sendBack()])
  assert.deepEqual(sent.map(({ status }) => status).toSorted(), ['fulfilled', 'rejected'])
  assert.deepEqual(await usesOf(id), { uses: 0, held: 0 })
  assert.equal((await order({ productId, discountCode: code })).status, 201)
  await assertBooksAgree()

  const payment = await shop.sandboxPayment(first.orderId)
  const later = { ...payment.captures[0]!, id: `cap_${randomUUID()}`, amountMinor: first.amount + 1 }
  assert.equal((await shop.notify({ payment: { ...payment, captures: [...payment.captures, later] } })).status, 200)
  assert.deepEqual(await usesOf(id), { uses: 1, held: 1 })
  await inTransaction(shop.db, (tx) => acceptPayment(tx, shop.jobs, first.orderId, later.id))
  assert.deepEqual(await usesOf(id), { uses: 2, held: 2 })
})

test('an accepted payment of another amount is the price, without a discount that led to another one', async () => {
  const shop = shared()
  const { code } = await discount()
  const email = buyer()
  const { orderId, amount, clientSecret } = (await order({ productId: await shop.product(), discountCode: code, email })).body // oxfmt-ignore
  const status = async () => (await shop.call('GET', `/api/checkout/${orderId}/status?email=${email}`)).body
  assert.equal((await shop.confirm({ clientSecret }, 'wrong_amount')).status, 200)
  const held = await eventually(status, (one) => one.status === 'needs_review')
  assert.equal(held.discountAmount, 380)
  await inTransaction(shop.db, (tx) => acceptPayment(tx, shop.jobs, orderId))
  const after = await status()
  assert.deepEqual([after.status, after.amount, after.discountAmount], ['paid', amount - 1, undefined])
  const receipt = await eventually(
    async () => (await shop.mails(email)).find(({ subject }) => subject.startsWith('Your receipt')),
    (mail) => mail !== undefined,
  )
  assert.doesNotMatch(receipt!.text, /Discount|^Price/m)
})

/** An order with a code that can be used once, of which a payment of one unit too much is held. */
async function heldOrder() {
  const shop = shared()
  const productId = await shop.product()
  const { id, code } = await discount({ limit: 1 })
  const { orderId, clientSecret } = (await order({ productId, discountCode: code, email: 'bob@example.com' })).body
  assert.equal((await shop.confirm({ clientSecret }, 'wrong_amount')).status, 200)
  await shop.until(orderId, ({ status }) => status === 'needs_review')
  const payment = await shop.sandboxPayment(orderId)
  const [{ id: captureId, amountMinor: paidMinor }] = payment.captures as [Capture]
  const of = (amountMinor: number) => ({ captureId, amountMinor })
  return {
    shop,
    productId,
    id,
    code,
    orderId,
    payment,
    paidMinor,
    /** A refund that a person makes in the processor's dashboard. */
    refund: (amountMinor = paidMinor): RefundFact => ({ ...of(amountMinor), id: `re_${randomUUID()}` }),
    /** A dispute, first open and then decided. */
    dispute(end: 'won' | 'lost', amountMinor = paidMinor): [DisputeFact, DisputeFact] {
      const one = { ...of(amountMinor), id: `dp_${randomUUID()}` }
      return [
        { ...one, state: 'open' },
        { ...one, state: end },
      ]
    },
    async says(facts: Partial<PaymentSnapshot>) {
      assert.equal((await shop.notify({ payment: { ...payment, ...facts } })).status, 200)
    },
  }
}
type Held = Awaited<ReturnType<typeof heldOrder>>

const USED = { uses: 1, held: 1 }
const GIVEN_BACK = { uses: 0, held: 0 }

async function assertBooksAgree() {
  const window = { from: new Date(Date.now() - 86_400_000), to: new Date() }
  const books = { database: { connectionString: shared().databaseUrl }, processors: new Map(), ...window }
  assert.deepEqual((await reconcileBooks(books)).differences, [])
}

test('a held payment that leaves by a refund at the processor or a lost dispute gives the use back, once, with its last part', async () => {
  const ways: Record<string, (held: Held) => Partial<PaymentSnapshot>[]> = {
    'a refund': ({ refund }) => [{ refunds: [refund()] }],
    'a refund in two parts': ({ refund, paidMinor }) => {
      const [part, rest] = [refund(400), refund(paidMinor - 400)]
      return [{ refunds: [part] }, { refunds: [part, rest] }]
    },
    'a lost dispute': ({ dispute }) => dispute('lost').map((one) => ({ disputes: [one] })),
    'a dispute whose end is the first news': ({ dispute }) => [{ disputes: [dispute('lost')[1]] }],
    'a refund of a part, and a lost dispute about the rest': ({ refund, dispute, paidMinor }) => {
      const refunds = [refund(400)]
      return [{ refunds }, ...dispute('lost', paidMinor - 400).map((one) => ({ refunds, disputes: [one] }))]
    },
    'a refund after a dispute that was won': ({ refund, dispute }) => {
      const [open, won] = dispute('won')
      return [{ disputes: [open] }, { disputes: [won] }, { disputes: [won], refunds: [refund()] }]
    },
  }
  for (const [way, newsOf] of Object.entries(ways)) {
    const held = await heldOrder()
    const news = newsOf(held)
    for (const facts of news) {
      assert.deepEqual(await usesOf(held.id), USED, way)
      await held.says(facts)
    }
    assert.deepEqual(await usesOf(held.id), GIVEN_BACK, way)
    await Promise.all([...news, ...news].map((facts) => held.says(facts)))
    assert.deepEqual(await usesOf(held.id), GIVEN_BACK, `${way}, repeated`)
    assert.equal((await order({ productId: held.productId, discountCode: held.code })).status, 201, way)
  }
  await assertBooksAgree()
})

test(`of two held payments the last one that leaves gives the use back, in whatever order the news comes (seed ${SEED})`, async () => {
  for (let round = 0; round < 6; round++) {
    const held = await heldOrder()
    const second = { ...held.payment.captures[0]!, id: `cap_${randomUUID()}`, amountMinor: 700 }
    const captures = [...held.payment.captures, second]
    const refunds = [held.refund(), { id: `re_${randomUUID()}`, captureId: second.id, amountMinor: 300 }]
    const [open, lost] = held.dispute('lost', 400).map((one) => ({ ...one, captureId: second.id }))
    const news = [
      { captures },
      { captures, refunds: refunds.slice(0, 1) },
      { captures, refunds },
      { captures, refunds, disputes: [open!] },
    ]
    const shuffled = fc.shuffledSubarray([...news, ...news], { minLength: news.length * 2 })
    const [notifying] = sample(shuffled, 1, round)
    await Promise.all(notifying!.map((facts) => held.says(facts)))
    assert.deepEqual(await usesOf(held.id), USED)
    const all = { captures, refunds, disputes: [lost!] }
    await Promise.all([...notifying!, all, all].map((facts) => held.says(facts)))
    assert.deepEqual(await usesOf(held.id), GIVEN_BACK)
  }
  await assertBooksAgree()
})

test('the operator sends back one held payment and a bank takes the other: that gives the use back, and an accepted one takes it again', async () => {
  const held = await heldOrder()
  const second = { ...held.payment.captures[0]!, id: `cap_${randomUUID()}` }
  const captures = [...held.payment.captures, second]
  const [open, lost] = held.dispute('lost').map((one) => ({ ...one, captureId: second.id }))
  await held.says({ captures, disputes: [open!] })
  const sent = await inTransaction(held.shop.db, (tx) => sendPaymentBack(tx, held.shop.jobs, held.orderId))
  assert.equal(sent.length, 1)
  // the bank can still give the other one back
  assert.deepEqual(await usesOf(held.id), USED)
  await held.says({ captures, disputes: [lost!] })
  assert.deepEqual(await usesOf(held.id), GIVEN_BACK)

  // a refund whose money came back, after another buyer has the use
  const other = await heldOrder()
  const refund = other.refund()
  await other.says({ refunds: [refund] })
  assert.equal((await order({ productId: other.productId, discountCode: other.code })).status, 201)
  await other.says({ refunds: [{ ...refund, state: 'failed' }] })
  assert.deepEqual(await usesOf(other.id), USED)
  await inTransaction(other.shop.db, (tx) => acceptPayment(tx, other.shop.jobs, other.orderId))
  assert.deepEqual(await usesOf(other.id), { uses: 2, held: 2 })
  await assertBooksAgree()
})

test('the reconciliation notices a code that was used otherwise than the orders say', async () => {
  const shop = shared()
  const { id, code } = await discount()
  await order({ productId: await shop.product(), discountCode: code })
  const window = { from: new Date(Date.now() - 86_400_000), to: new Date() }
  const result = () =>
    reconcileBooks({ database: { connectionString: shop.databaseUrl }, processors: new Map(), ...window })
  const add = (n: number) => sql`update discounts set uses = uses + ${n} where id = ${id}`.execute(shop.db)
  assert.deepEqual((await result()).differences, [])
  await add(1)
  assert.deepEqual(
    (await result()).differences.map(({ what, id: of }) => [what, of]),
    [['discount_uses_differ', id]],
  )
  await add(-1)
})

test('a client that guesses codes is stopped, and one with right codes is not', async (t) => {
  const shop = await startTestShop(t, { env: { LIMITS: 'discount=5/3600' } })
  const seller = newBrowser(shop)
  await seller.signInByCode('ann@shop.test')
  assert.equal((await seller.call('POST', '/api/discounts', { code: 'SUMMER', percentOff: 20 })).status, 201)
  const productId = await shop.product()
  const view = (code: string) => shop.call('GET', `/api/products/${productId}/public?discountCode=${code}`)
  for (let at = 0; at < 8; at++) assert.equal((await view('summer')).status, 200)
  for (let at = 0; at < 4; at++) assertProblem(await view(`GUESS-${at}`), 422, 'discount_not_valid')
  const wrong = { productId, email: buyer(), discountCode: 'GUESS-9' }
  assertProblem(await shop.call('POST', '/api/checkout', wrong), 422, 'discount_not_valid')
  for (const answer of [await view('GUESS-10'), await view('summer'), await shop.call('POST', '/api/checkout', wrong)])
    assertProblem(answer, 429, 'rate_limited')
  assert.equal((await shop.call('POST', '/api/checkout', { productId, email: buyer() })).status, 201)
})

/** Puts an order's end into the past, as if its time had gone by. */
const endTime = (orderId: string) =>
  sql`update orders set expires_at = now(), due_at = now() where id = ${orderId}`.execute(shared().db)

async function lifeOf(orderId: string): Promise<{ minutes: number; state: string; dueInTime: boolean }> {
  const { rows } = await sql<{ minutes: number; state: string; dueInTime: boolean }>`
    select round(extract(epoch from expires_at - now()) / 60)::int as minutes, state, due_at <= expires_at as "dueInTime"
    from orders where id = ${orderId}`.execute(shared().db)
  return rows[0]!
}

test('unpaid orders hold a limited code for minutes; then others can buy, and their payments take no money', async () => {
  const shop = shared()
  const productId = await shop.product()
  const { id, code } = await discount({ limit: 3 })
  const hoarded = await Promise.all([1, 2, 3].map(async () => (await order({ productId, discountCode: code })).body))
  assertProblem(await order({ productId, discountCode: code }), 422, 'discount_not_valid')
  for (const { orderId } of hoarded) {
    assert.deepEqual(await lifeOf(orderId), { minutes: 15, state: 'pending', dueInTime: true })
    await endTime(orderId)
  }
  await shop.syncDue()
  assert.deepEqual(await usesOf(id), { uses: 0, held: 0 })

  const { body } = await order({ productId, discountCode: code, email: 'bob@example.com' })
  for (const one of hoarded) {
    assertProblem(await shop.confirm(one), 409, 'payment_closed')
    assert.equal((await shop.status(one.orderId)).status, 'expired')
  }
  assert.equal((await shop.confirm(body)).status, 200)
  await shop.until(body.orderId, ({ paid }) => paid)
  assert.deepEqual(await usesOf(id), { uses: 1, held: 1 })
})

test('an order with a code that has no limit lives as long as any other', async () => {
  const productId = await shared().product()
  const { code } = await discount()
  assert.equal((await lifeOf((await order({ productId, discountCode: code })).body.orderId)).minutes, 24 * 60)
})

test('the buyer’s return, a try and a bank at work renew the hold, up to a day after the order was made', async () => {
  const shop = shared()
  const productId = await shop.product()
  const { code } = await discount({ limit: 9 })
  const make = async () => {
    const asked = [
      { productId, discountCode: code, email: 'bob@example.com' },
      { 'idempotency-key': randomUUID() },
    ] as const
    const { body } = await order(...asked)
    await sql`update orders set expires_at = now() + interval '1 minute' where id = ${body.orderId}`.execute(shop.db)
    return { ...body, again: () => order(...asked) }
  }
  const renewed = (orderId: string) => shop.until(orderId, () => true).then(() => lifeOf(orderId))

  const back = await make()
  assert.equal((await back.again()).body.orderId, back.orderId)
  assert.equal((await lifeOf(back.orderId)).minutes, 15)

  const declined = await make()
  assertProblem(await shop.confirm(declined, 'decline'), 402, 'payment_declined')
  await shop.until(declined.orderId, ({ timeline }) => timeline!.some(({ what }) => what === 'payment_declined'))
  assert.equal((await renewed(declined.orderId)).minutes, 15)

  const slow = await make()
  await shop.confirm(slow, 'delayed')
  await shop.until(slow.orderId, ({ timeline }) => timeline!.some(({ what }) => what === 'payment_processing'))
  assert.notEqual((await renewed(slow.orderId)).minutes, 1)

  const old = await make()
  await sql`update orders set created_at = now() - interval '23 hours 55 minutes' where id = ${old.orderId}`.execute(
    shop.db,
  )
  await old.again()
  assert.equal((await lifeOf(old.orderId)).minutes, 5)
})

test('a buyer who returns while the order expires gets either more time or a clear refusal, and the use counts once', async () => {
  const shop = shared()
  const productId = await shop.product()
  const { id, code } = await discount({ limit: 20 })
  const asked = Array.from({ length: 12 }, () => [
    { productId, discountCode: code, email: buyer() },
    { 'idempotency-key': randomUUID() },
  ])
  const orders = await Promise.all(asked.map(async ([body, headers]) => (await order(body!, headers as never)).body))
  await Promise.all(orders.map(({ orderId }) => endTime(orderId)))
  const [, ...again] = await Promise.all([
    shop.syncDue(),
    ...asked.map(([body, headers]) => order(body!, headers as never)),
  ])
  const lives = await Promise.all(orders.map(({ orderId }) => lifeOf(orderId)))
  let held = 0
  for (const [at, answer] of again.entries()) {
    const { state, minutes } = lives[at]!
    if (state === 'pending') {
      assert.equal(answer.status, 201)
      assert(minutes > 5, `${minutes} of 15 minutes are left`)
      // the payment that was closed for the end that did not come is replaced by another
      const last = (await order(asked[at]![0]!, asked[at]![1] as never)).body
      assert.equal((await shop.confirm(last)).status, 200)
      held++
    } else assert.equal(state, 'expired')
  }
  assert.deepEqual(await usesOf(id), { uses: held, held })
})

test('money for an order whose use another buyer has still buys it at the promised price', async () => {
  const shop = shared()
  const productId = await shop.product()
  const { id, code } = await discount({ limit: 1 })
  const first = (await order({ productId, discountCode: code, email: 'bob@example.com' })).body
  const payment = await shop.sandboxPayment(first.orderId)
  await endTime(first.orderId)
  // the bank's yes and the end of the order at the same moment
  const capture = { id: `cap_${randomUUID()}`, amountMinor: first.amount, currency: 'USD', rail: 'card' }
  const captured = { ...payment, state: 'captured', captures: [{ ...capture, capturedAt: new Date().toISOString() }] }
  const second = (async () => {
    await shop.syncDue()
    return order({ productId, discountCode: code })
  })()
  const [told] = await Promise.all([shop.notify({ payment: captured }), second])
  assert.equal(told.status, 200)
  const { status, amount } = await shop.status(first.orderId)
  assert.deepEqual({ status, amount }, { status: 'paid', amount: first.amount })
  const { uses, held } = await usesOf(id)
  assert.equal(uses, (await second).status === 201 ? 2 : 1)
  assert.equal(held, uses)
})

test('a buyer who has days to pay keeps the price and the use of the code, so the limit holds', async () => {
  const shop = shared()
  const productId = await shop.product()
  const { id, code } = await discount({ limit: 1 })
  const first = (await order({ productId, discountCode: code, email: 'bob@example.com' })).body
  const payment = await shop.sandboxPayment(first.orderId)
  for (let at = 0; at < 2; at++)
    assert.equal((await shop.notify({ type: 'payment.waits', payment: { ...payment, takesDays: true } })).status, 200)
  assert.deepEqual(await usesOf(id), { uses: 1, held: 1 })
  assert.equal((await lifeOf(first.orderId)).minutes, 7 * 24 * 60)
  assertProblem(await order({ productId, discountCode: code }), 422, 'discount_not_valid')

  const window = { from: new Date(Date.now() - 86_400_000), to: new Date() }
  const result = await reconcileBooks({
    database: { connectionString: shop.databaseUrl },
    processors: new Map(),
    ...window,
  })
  assert.deepEqual(
    result.differences.filter(({ what }) => what === 'discount_uses_differ'),
    [],
  )
  const capture = { id: `cap_${randomUUID()}`, amountMinor: first.amount, currency: 'USD', rail: 'bank_transfer' }
  const captures = [{ ...capture, capturedAt: new Date().toISOString() }]
  assert.equal((await shop.notify({ payment: { ...payment, state: 'captured', captures } })).status, 200)
  const { status, amount } = await shop.status(first.orderId)
  assert.deepEqual({ status, amount }, { status: 'paid', amount: first.amount })
  assert.deepEqual(await usesOf(id), { uses: 1, held: 1 })
})
