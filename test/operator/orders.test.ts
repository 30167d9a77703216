import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { sql } from 'kysely'
import { newId } from '../../src/kit/ids.ts'
import { SUSPENSE } from '../../src/ledger/transfers.ts'
import { reconcileBooks } from '../../src/payments/reconciliation/reconcile.ts'
import { captureOf, changeSandbox } from '../stand-ins/processor.ts'
import { type Browser, newMailbox } from '../support/seller.ts'
import { assertProblem, eventually, sharedShop } from '../support/shop.ts'
import { OPERATOR, logOf, operatorOf, reviewedOrder, sellerOf } from './support.ts'

const shop = sharedShop({ env: { OPERATORS: OPERATOR } })
let ann: Browser
before(async () => {
  ann = await operatorOf(shop())
})

const find = async (query: Record<string, string>) => {
  const answer = await ann.call('GET', `/api/operator/orders?${new URLSearchParams(query)}`)
  assert.equal(answer.status, 200, JSON.stringify(answer.body))
  return answer.body.items.map(({ orderId }: { orderId: string }) => orderId)
}
const detail = async (orderId: string) => (await ann.call('GET', `/api/operator/orders/${orderId}`)).body
const post = (orderId: string, what: string, body: unknown = {}, headers = {}) =>
  ann.call('POST', `/api/operator/orders/${orderId}/${what}`, body, headers)
const assertBooksAgree = async () => {
  const { differences } = await reconcileBooks({
    database: { connectionString: shop().databaseUrl },
    processors: new Map(),
    from: new Date(Date.now() - 86_400_000),
    to: new Date(Date.now() + 86_400_000),
  })
  assert.deepEqual(differences, [])
}

test('orders of all sellers are found by id, its beginning, address, and the processor’s ids', async () => {
  const email = 'Wanted.Buyer@example.com'
  const order = await shop().paid({ productId: (await sellerOf(shop())).productId, email: 'wanted.buyer@example.com' })
  const { rows } = await sql<{ id: string; payment: string; capture: string }>`
    select o.id, p.processor_payment_id as payment, c.processor_capture_id as capture
    from orders o join payments p on p.order_id = o.id join captures c on c.order_id = o.id
    where o.email = 'wanted.buyer@example.com'`.execute(shop().db)
  const { id, payment, capture } = rows[0]!
  assert.equal(order.orderId, id)
  for (const q of [id, id.toUpperCase().replace('ORD_', 'ord_'), id.slice(0, 24), email, ` ${payment} `, capture])
    assert.deepEqual(await find({ q }), [id], q)
  for (const q of ['ord_zzz', newId('ord'), 'nobody@example.com', 'pi_unknown', '%', "'", 'ord_%'])
    assert.deepEqual(await find({ q }), [], q)
  assert((await find({ status: 'paid' })).includes(id))
  assert.deepEqual(await find({ status: 'disputed' }), [])
})

test('the list has pages, and every order is on one of them', async () => {
  const { sellerId, productId } = await sellerOf(shop())
  const made = []
  for (let at = 0; at < 5; at++) made.push((await shop().checkout({ productId })).orderId)
  const found: string[] = []
  for (let cursor = ''; ;) {
    const { body } = await ann.call('GET', `/api/operator/orders?sellerId=${sellerId}&limit=2${cursor}`)
    found.push(...body.items.map(({ orderId }: { orderId: string }) => orderId))
    if (body.nextCursor === null) break
    cursor = `&cursor=${body.nextCursor}`
  }
  assert.deepEqual(found, made.toReversed())
})

for (const [query, path] of [
  ['limit=0', 'limit'],
  ['cursor=abc', 'cursor'],
  ['status=done', 'status'],
  ['q=%00', 'q'],
  ['sellerId=ann', 'sellerId'],
] as const)
  test(`a search with ${query} is refused`, async () => {
    const answer = await ann.call('GET', `/api/operator/orders?${query}`)
    assertProblem(answer, 400, 'validation_failed')
    assert.equal(answer.body.fields[0].path, path)
  })

test('an order’s page has its seller, its payments and its history', async () => {
  const { sellerId, email, productId } = await sellerOf(shop())
  const orderId = await reviewedOrder(shop(), productId)
  const order = await detail(orderId)
  assert.deepEqual([order.seller.id, order.seller.email, order.status], [sellerId, email, 'needs_review'])
  assert.deepEqual(order.timeline.map(({ what }: { what: string }) => what), ['created', 'needs_review']) // oxfmt-ignore
  const [payment] = order.payments
  assert.equal(payment.processor, 'sandbox')
  assert.deepEqual([payment.captures[0].purpose, payment.captures[0].amount, payment.captures[0].left], ['mismatch', 1899, 1899]) // oxfmt-ignore
})

for (const what of ['', '/accept', '/send-back', '/refunds', '/receipt'])
  test(`an unknown order is not found: ${what || 'its page'}`, async () => {
    const address = `/api/operator/orders/${newId('ord')}${what}`
    assertProblem(await ann.call(what ? 'POST' : 'GET', address, what ? {} : undefined), 404, 'order_not_found')
    const bad = `/api/operator/orders/ord_1${what}`
    assertProblem(await ann.call(what ? 'POST' : 'GET', bad, what ? {} : undefined), 404, 'order_not_found')
  })

test('ten simultaneous acceptances make one sale, of what was paid, with its fee, receipt and entry in the log', async () => {
  const { productId } = await sellerOf(shop(), 5051)
  const orderId = await reviewedOrder(shop(), productId)
  const answers = await Promise.all(Array.from({ length: 10 }, () => post(orderId, 'accept')))
  assert.deepEqual(answers.map(({ status }) => status).toSorted(), [200, ...Array.from({ length: 9 }, () => 409)])
  for (const one of answers.filter(({ status }) => status === 409)) assertProblem(one, 409, 'order_not_in_review')
  const order = await detail(orderId)
  assert.deepEqual([order.status, order.amount, order.fee, order.netAmount], ['paid', 5050, 101, 4949])
  assert.deepEqual(
    (await shop().transfers(orderId)).map(({ kind, amountMinor }) => [kind, amountMinor]).toSorted(),
    [['fee', 101], ['held', 5050], ['returned', 5050], ['sale', 5050]], // oxfmt-ignore
  )
  const status = await shop().status(orderId, 'bob@example.com')
  assert.equal(status.downloads!.length, 1)
  const [entry, ...more] = await logOf(ann, orderId)
  assert.deepEqual([entry!.actor, entry!.action, more], [OPERATOR, 'order_accepted', []])
  assert.deepEqual([entry!.detail['amountMinor'], entry!.detail['priceMinor']], [5050, 5051])
  await eventually(
    () => shop().mails(),
    (mails) => mails.some(({ text }) => text.includes(orderId)),
  )
  await assertBooksAgree()

  // a later report of the processor about the same payment changes nothing, and a refund works as for any sale
  await shop().status(orderId, 'bob@example.com', true)
  assert.equal((await detail(orderId)).status, 'paid')
  assert.equal((await post(orderId, 'refunds')).status, 201)
  await shop().until(orderId, ({ status }) => status === 'refunded')
  await assertBooksAgree()
})

test('an acceptance and a sending back at once: one of them happens', async () => {
  for (let round = 0; round < 4; round++) {
    const { productId } = await sellerOf(shop())
    const orderId = await reviewedOrder(shop(), productId)
    const answers = await Promise.all(
      ['accept', 'send-back', 'accept', 'send-back'].map((what) => post(orderId, what, {})),
    )
    assert.equal(
      answers.filter(({ status }) => status < 300).length,
      1,
      JSON.stringify(answers.map(({ body }) => body)),
    )
    assert.equal((await logOf(ann, orderId)).length, 1)
  }
  await assertBooksAgree()
})

test('money that was sent back is back once, with a mail, and cannot be accepted any more', async () => {
  const { browser, productId } = await sellerOf(shop())
  const orderId = await reviewedOrder(shop(), productId)
  const waiting = async () => (await browser.call('GET', '/api/attention')).body.items.map(({ what }: { what: string }) => what) // oxfmt-ignore
  assert.deepEqual(await waiting(), ['needs_review'])
  const { status, body } = await post(orderId, 'send-back')
  assert.deepEqual([status, body.items[0].amount, body.items[0].currency], [202, 1899, 'USD'])
  assertProblem(await post(orderId, 'send-back'), 409, 'order_not_in_review')
  assertProblem(await post(orderId, 'accept'), 409, 'order_not_acceptable')
  await eventually(
    () => detail(orderId),
    ({ timeline }) => timeline.some(({ what }: { what: string }) => what === 'payment_returned'),
  )
  const { refunds } = await shop().sandboxPayment(orderId)
  assert.deepEqual(refunds.map(({ amountMinor }) => amountMinor), [1899]) // oxfmt-ignore
  assertProblem(await post(orderId, 'send-back'), 409, 'order_not_in_review')
  assertProblem(await post(orderId, 'accept'), 409, 'order_not_acceptable')
  const { body: attention } = await ann.call('GET', '/api/operator/attention')
  assert(!attention.matters.some(({ view }: { view: string | null }) => view === `/orders/${orderId}`))
  assert.deepEqual(await waiting(), [], 'the money is back: nothing waits for a decision')
  await assertBooksAgree()
})

test('a payment that could not be sent back and was accepted then is a good sale: neither side is told to refund it', async () => {
  const { browser, productId } = await sellerOf(shop())
  const orderId = await reviewedOrder(shop(), productId)
  await sql`
    insert into refunds (id, processor, processor_capture_id, order_id, amount_minor, reason, state)
    select ${newId('ref')}, processor, processor_capture_id, order_id, amount_minor, 'duplicate', 'failed'
    from captures where order_id = ${orderId}`.execute(shop().db)
  assert.equal((await post(orderId, 'accept')).status, 200)
  const { matters } = (await ann.call('GET', '/api/operator/attention')).body
  assert(!matters.some(({ view }: { view: string | null }) => view === `/orders/${orderId}`))
  assert.deepEqual((await browser.call('GET', '/api/attention')).body.items, [])
  assert.deepEqual((await browser.call('GET', `/api/orders/${orderId}/refunds`)).body.items, [])
  await assertBooksAgree()
})

/** The money of an order in the suspense account. */
const heldOf = async (orderId: string): Promise<number> =>
  (await shop().transfers(orderId)).reduce(
    (sum, { debit, credit, amountMinor }) =>
      sum + (credit === SUSPENSE ? amountMinor : 0) - (debit === SUSPENSE ? amountMinor : 0),
    0,
  )

test('the acceptance of one of several payments sends the others back, but for one that a bank decides about', async () => {
  const { productId } = await sellerOf(shop())
  const email = newMailbox()
  const order = await shop().checkout({ productId, email })
  const { orderId } = order
  const captures = [1500, 1600, 1700].map((amountMinor) => captureOf(order, { amountMinor }))
  const [taken, other, disputed] = captures.map(({ id }) => id)
  const dispute = { id: `dp_${orderId}`, captureId: disputed!, amountMinor: 1700 }
  const hear = async (state: 'open' | 'won') => {
    await changeSandbox(shop(), orderId, { state: 'captured', captures, disputes: [{ ...dispute, state }] })
    await shop().notify({ payment: await shop().sandboxPayment(orderId) })
  }
  await hear('open')
  assertProblem(await post(orderId, 'accept'), 409, 'order_not_acceptable')
  const { status, body } = await post(orderId, 'accept', { captureId: taken })
  assert.deepEqual([status, body], [200, { captureId: taken, amount: 1500, currency: 'USD' }])
  const [entry] = await logOf(ann, orderId)
  const returns = entry!.detail['returns'] as { captureId: string; amountMinor: number }[]
  assert.deepEqual(returns.map(({ captureId, amountMinor }) => [captureId, amountMinor]), [[other, 1600]]) // oxfmt-ignore
  const back = async () => (await shop().sandboxPayment(orderId)).refunds.map(({ captureId }) => captureId)
  await eventually(back, (ids) => ids.length === 1)
  assert.deepEqual(await back(), [other])
  await eventually(
    () => heldOf(orderId),
    (held) => held === 0,
  )
  const [told] = await eventually(
    async () => (await shop().mails(email)).filter(({ subject }) => subject.startsWith('A second payment')),
    ({ length }) => length > 0,
  )
  assert.match(told!.text, /A further payment for A song was sent back\. Your purchase is not affected\./)
  const listed = async () =>
    (await ann.call('GET', '/api/operator/attention')).body.matters.filter(
      ({ what, view }: { what: string; view: string | null }) =>
        what === 'refund_failed' && view === `/orders/${orderId}`,
    )
  assert.deepEqual(await listed(), [])

  await hear('won')
  await eventually(
    () => heldOf(orderId),
    (held) => held === 1700,
  )
  assert.match((await listed())[0].says, /^\$17\.00 /)
  assert.equal((await post(orderId, 'send-back')).status, 202)
  assert.deepEqual(await listed(), [])
  await eventually(
    () => heldOf(orderId),
    (held) => held === 0,
  )
  assert.deepEqual((await back()).toSorted(), [other, disputed].toSorted())
  const { status: state, amount, refundedAmount } = await detail(orderId)
  assert.deepEqual([state, amount, refundedAmount], ['paid', 1500, 0])
  await assertBooksAgree()
})

test('a payment in another currency, or one that is not there, is not accepted', async () => {
  const { productId } = await sellerOf(shop())
  const orderId = await reviewedOrder(shop(), productId)
  assertProblem(await post(orderId, 'accept', { captureId: 'ch_unknown' }), 409, 'order_not_acceptable')
  assertProblem(await post(orderId, 'accept', { captureId: 7 }), 400, 'validation_failed')
  assertProblem(await post(orderId, 'accept', { captureId: '\u0000' }), 400, 'validation_failed')
  await sql`update captures set currency = 'EUR' where order_id = ${orderId}`.execute(shop().db)
  assertProblem(await post(orderId, 'accept'), 409, 'order_not_acceptable')
  await sql`update captures set currency = 'USD' where order_id = ${orderId}`.execute(shop().db)
  assert.deepEqual(await logOf(ann, orderId), [])
  const paid = await shop().paid({ productId })
  assertProblem(await post(paid.orderId, 'accept'), 409, 'order_not_in_review')
  assertProblem(await post(paid.orderId, 'send-back'), 409, 'order_not_in_review')
})

test('an operator refunds once for each key, and the seller reads who did it', async () => {
  const { browser, productId } = await sellerOf(shop())
  const { orderId } = await shop().paid({ productId })
  const key = { 'idempotency-key': 'operator-refund-0001' }
  const answers = await Promise.all(
    Array.from({ length: 5 }, () => post(orderId, 'refunds', { amount: 500, reason: 'too late' }, key)),
  )
  assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([201]))
  assert.equal(new Set(answers.map(({ body }) => body.id)).size, 1)
  assertProblem(await post(orderId, 'refunds', { amount: 501 }, key), 409, 'idempotency_key_reused')
  assertProblem(await post(orderId, 'refunds', { amount: 1401 }), 409, 'refund_too_large')
  assertProblem(await post(orderId, 'refunds', { amount: 0 }), 400, 'validation_failed')
  assertProblem(await post(orderId, 'refunds', '{"amount":'), 400, 'malformed_body')
  const { body } = await browser.call('GET', `/api/orders/${orderId}/refunds`)
  assert.deepEqual(body.items.map(({ reason }: { reason: string }) => reason), ['By the operator: too late']) // oxfmt-ignore
  const [entry, ...more] = await logOf(ann, orderId)
  assert.deepEqual([entry!.action, entry!.detail['amountMinor'], entry!.detail['reason'], more], ['order_refunded', 500, 'too late', []]) // oxfmt-ignore
  const unpaid = await shop().checkout({ productId })
  assertProblem(await post(unpaid.orderId, 'refunds'), 409, 'order_not_refundable')
})

test('the longest reason of a refund fits', async () => {
  const { productId } = await sellerOf(shop())
  const { orderId } = await shop().paid({ productId })
  assert.equal((await post(orderId, 'refunds', { reason: 'x'.repeat(480) })).status, 201)
  assertProblem(await post(orderId, 'refunds', { reason: 'x'.repeat(481) }), 400, 'validation_failed')
})

test('a receipt is mailed again, and only for a paid order', async () => {
  const { productId } = await sellerOf(shop())
  const { orderId } = await shop().paid({ productId, email: 'bob@example.com' })
  const receipts = async () => (await shop().mails()).filter(({ text }) => text.includes(orderId)).length
  await eventually(receipts, (count) => count === 1)
  assert.equal((await post(orderId, 'receipt')).status, 202)
  await eventually(receipts, (count) => count === 2)
  assert.deepEqual((await logOf(ann, orderId)).map(({ action }) => action), ['receipt_resent']) // oxfmt-ignore
  const unpaid = await shop().checkout({ productId })
  assertProblem(await post(unpaid.orderId, 'receipt'), 409, 'order_not_paid')
})
