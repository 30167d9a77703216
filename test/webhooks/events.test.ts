import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { moveNow } from '../../src/buyers/order-moves.ts'
import type { EventType } from '../../src/events/event-types.ts'
import { inTransaction } from '../../src/kit/database.ts'
import { moveOrderIfAllowed, moveOrders, recordOrderEvents } from '../../src/orders/move.ts'
import { MOVES, STATES, type Move, type State } from '../../src/orders/states.ts'
import { recallFile } from '../../src/products/recall.ts'
import type { Envelope } from '../../src/webhooks/envelope.ts'
import { sweepWebhooks } from '../../src/webhooks/retention.ts'
import { gets, newEndpoint, signedInSeller, startReceiver } from '../support/receiver.ts'
import { type Browser, newMailbox } from '../support/seller.ts'
import { assertProblem, eventually, sharedShop, startTestShop } from '../support/shop.ts'

const shared = sharedShop()
const NO_JOBS = { add: async () => {} } as never

type Pulled = Envelope & {
  data: { order: { orderId: string; status: State; refundedAmount: number }; sequence: number; refund?: object }
}

/** All events that a program pulls, page by page. */
async function pulled(ann: Browser, after?: string): Promise<Pulled[]> {
  const found: Pulled[] = []
  for (let last = after; ;) {
    const { status, body } = await ann.call('GET', `/api/events?limit=7${last ? `&after=${last}` : ''}`)
    assert.equal(status, 200, JSON.stringify(body))
    found.push(...body.items)
    if (!body.hasMore) return found
    last = found.at(-1)!.id
  }
}
const ofOrder = (events: Pulled[], orderId: string) => events.filter(({ data }) => data.order?.orderId === orderId)
const told = (events: Pulled[]) => events.map(({ type, data }) => [type, data.sequence, data.order.status])

test('each move of an order makes exactly one event, of its type, with the order as it is then', async () => {
  const shop = shared()
  const ann = await signedInSeller(shop)
  const productId = await shop.product()
  const created: [string, Move][] = []
  const isPaid = (state: State) => !['pending', 'processing', 'expired', 'needs_review'].includes(state)
  for (const [move, { from, to }] of Object.entries(MOVES) as [Move, (typeof MOVES)[Move]][]) {
    const { orderId } = await shop.checkout({ productId })
    await sql`update orders set state = ${from[0]}, paid_at = case when ${isPaid(from[0])}::boolean then now() end,
      refunded_minor = case when ${from[0]} = 'refunded' then amount_minor else 0 end where id = ${orderId}`.execute(
      shop.db,
    )
    const paidAt = isPaid(to) ? new Date().toISOString() : undefined
    await inTransaction(shop.db, (tx) =>
      moveOrders(tx, [{ orderId, move, paidAt, refundedMinor: to === 'refunded' ? 1900 : 0 }]),
    )
    // a move that the state does not allow makes no event
    const again = Object.keys(MOVES).find((one) => !(MOVES[one as Move].from as readonly State[]).includes(to)) as Move
    assert.equal(await inTransaction(shop.db, (tx) => moveOrderIfAllowed(tx, orderId, again)), undefined)
    created.push([orderId, move])
  }
  const events = await pulled(ann)
  for (const [orderId, move] of created)
    assert.deepEqual(told(ofOrder(events, orderId)), [[MOVES[move].event, 1, MOVES[move].to]], move)
  assert.deepEqual(
    STATES.filter((state) => state !== 'pending' && !created.some(([, move]) => MOVES[move].to === state)),
    [],
  )
})

test('the ways of a payment are told in their order, without gaps', async () => {
  const shop = shared()
  const ann = await signedInSeller(shop)
  const { orderId } = await shop.paid()
  const payment = await shop.sandboxPayment(orderId)
  const captureId = payment.captures[0]!.id
  const refund = { id: `re_${orderId}`, captureId, amountMinor: 500 }
  const dispute = { id: `dp_${orderId}`, captureId, amountMinor: 1400 }
  const facts = [
    { refunds: [refund] },
    { refunds: [refund], disputes: [{ ...dispute, state: 'open' }] },
    { refunds: [refund], disputes: [{ ...dispute, state: 'lost' }] },
    { refunds: [{ ...refund, state: 'failed' }], disputes: [{ ...dispute, state: 'lost' }] },
  ]
  for (const fact of facts) for (let n = 0; n < 2; n++) assert.equal((await shop.notify({ payment: { ...payment, ...fact } })).status, 200) // oxfmt-ignore
  await inTransaction(shop.db, (tx) => moveNow(tx, NO_JOBS, { orderId, email: 'carl@example.com' }))
  const events = ofOrder(await pulled(ann), orderId)
  assert.deepEqual(told(events), [
    ['order.paid', 1, 'paid'],
    ['order.partially_refunded', 2, 'partially_refunded'],
    ['order.disputed', 3, 'disputed'],
    ['order.charged_back', 4, 'charged_back'],
    ['refund.failed', 5, 'partially_refunded'],
    ['order.email_changed', 6, 'partially_refunded'],
  ])
  assert.deepEqual(events.map(({ data }) => data.order.refundedAmount), [0, 500, 500, 500, 0, 0]) // oxfmt-ignore
  const { refunds } = (await ann.call('GET', `/api/orders/${orderId}`)).body
  const named = events.filter(({ data }) => data.refund)
  assert.deepEqual(named.map(({ type, data }) => [type, data.refund]), [['refund.failed', { id: refunds[0].id, amount: 500 }]]) // oxfmt-ignore
  const { body: listed } = await ann.call('GET', `/api/orders?q=${orderId}`)
  assert.deepEqual(events.at(-1)!.data.order, listed.items[0])
  // a repeat of the same fact, and a free order
  const free = await shop.checkout({ productId: await shop.product({ priceMinor: 0 }) })
  assert.deepEqual(told(ofOrder(await pulled(ann), free.orderId)), [['order.paid', 1, 'paid']])
})

test('products and recalled files are told, a change that is none is not', async () => {
  const shop = shared()
  const email = newMailbox()
  const ann = await signedInSeller(shop, email)
  const { rows } = await sql<{ id: string }>`select id from sellers where email = ${email}`.execute(shop.db)
  const productId = await shop.product({ sellerId: rows[0]!.id, status: 'draft' })
  const path = `/api/products/${productId}`
  for (const status of ['active', 'active', 'archived', 'active']) await ann.call('PATCH', path, { status })
  for (let n = 0; n < 2; n++) await ann.call('DELETE', path)
  const fileId = (await ann.call('GET', path)).body.files[0].id
  for (let n = 0; n < 2; n++) await inTransaction(shop.db, (tx) => recallFile(tx, { fileId, reason: 'It is broken.' }))
  const events = (await pulled(ann)) as Envelope[]
  const { body: product } = await ann.call('GET', path)
  assert.deepEqual(
    events.map(({ type }) => type),
    ['product.published', 'product.archived', 'product.published', 'product.archived', 'file.recalled'],
  )
  const { files: _files, withdrawnFiles: _recalled, ...rest } = product
  const { files, ...shown } = (events[3]!.data as { product: typeof product }).product
  assert.deepEqual(shown, rest)
  assert.equal(files.length, 1)
  assert.deepEqual(events[4]!.data, { file: { id: fileId, name: 'book.pdf' }, product: { id: productId, name: 'A book' }, reason: 'It is broken.' }) // oxfmt-ignore
})

/** The names in the stored data of events. Another release may read an event, at once or within 30 days: names are added, never changed. */
const STORED: Partial<Record<EventType, string>> = {
  'order.paid':
    'amountMinor bounced chargedBackMinor clientReferenceId createdAt currency discountCode discountMinor email feeMinor held id metadata paidAt paymentFailed productId productName rail refundedMinor state',
  'product.published':
    'amount createdAt currency description files further id imageId imageUrl name payWhatYouWant sellerId statementSuffix status suggestedMinor updatedAt version withdrawn',
  'file.recalled': 'id name productId productName reason',
}

test('the data of an event is stored under the names that other releases read', async () => {
  const shop = shared()
  const email = newMailbox()
  const ann = await signedInSeller(shop, email)
  const { rows } = await sql<{ id: string }>`select id from sellers where email = ${email}`.execute(shop.db)
  const sellerId = rows[0]!.id
  const productId = await shop.product({ sellerId, status: 'draft' })
  await ann.call('PATCH', `/api/products/${productId}`, { status: 'active' })
  await shop.checkout({ productId: await shop.product({ sellerId, priceMinor: 0 }) })
  const fileId = (await ann.call('GET', `/api/products/${productId}`)).body.files[0].id
  await inTransaction(shop.db, (tx) => recallFile(tx, { fileId, reason: 'It is broken.' }))
  const stored = await sql<{ type: EventType; names: string[] }>`
    select type, array(select jsonb_object_keys(data)) as names from events where seller_id = ${sellerId}`.execute(
    shop.db,
  )
  const namesOf = new Map(stored.rows.map(({ type, names }) => [type, new Set(names)]))
  for (const [type, names] of Object.entries(STORED))
    assert.deepEqual(
      names.split(' ').filter((name) => !namesOf.get(type as EventType)!.has(name)),
      [],
      type,
    )
})

test('a reader of the list misses no event that is committed late, and gets none twice', async () => {
  const shop = await startTestShop({ after: () => {} })
  const ann = await signedInSeller(shop)
  const productId = await shop.product()
  const [slow, ...others] = await Promise.all(Array.from({ length: 6 }, () => shop.checkout({ productId })))
  let before: Pulled[] = []
  await inTransaction(shop.db, async (tx) => {
    await recordOrderEvents(tx, [{ orderId: slow!.orderId, type: 'order.email_changed' }])
    // they begin later and commit earlier
    for (const { orderId } of others)
      await inTransaction(shop.db, (other) => recordOrderEvents(other, [{ orderId, type: 'order.email_changed' }]))
    before = await pulled(ann)
    assert.equal(before.length, 5)
  })
  const after = await pulled(ann, before.at(-1)!.id)
  assert.deepEqual(after.map(({ data }) => data.order.orderId), [slow!.orderId]) // oxfmt-ignore
  assert.deepEqual(await pulled(ann), [...before, ...after])
  // several readers and writers at once: everybody sees the same list
  const writing = Array.from({ length: 40 }, (_, n) =>
    inTransaction(shop.db, (tx) =>
      recordOrderEvents(tx, [{ orderId: others[n % 5]!.orderId, type: 'order.email_changed' }]),
    ),
  )
  const readers = await Promise.all(
    Array.from({ length: 4 }, async () => {
      const seen = [...before, ...after]
      while (seen.length < 46) seen.push(...(await pulled(ann, seen.at(-1)!.id)))
      return seen.map(({ id }) => id)
    }),
  )
  await Promise.all(writing)
  const whole = (await pulled(ann)).map(({ id }) => id)
  for (const seen of readers) assert.deepEqual(seen, whole)
  assert.equal(new Set(whole).size, 46)
  await shop.close()
})

test('the list begins anywhere in the last 30 days, and refuses an event that is not the seller’s', async () => {
  const shop = shared()
  const [ann, bob] = [await signedInSeller(shop), await signedInSeller(shop, newMailbox())]
  const receivedId = (await pulled(ann)).at(-1)!.id
  assert.deepEqual((await pulled(bob)).length, 0)
  assertProblem(await bob.call('GET', `/api/events?after=${receivedId}`), 404, 'event_not_found')
  assertProblem(await ann.call('GET', '/api/events?after=ord_1'), 400, 'validation_failed')
  assertProblem(await ann.call('GET', '/api/events?limit=1000'), 400, 'validation_failed')
  // from a time whose events are removed
  const whole = await pulled(ann)
  assert.deepEqual(await pulled(ann, `evt_${'0'.repeat(26)}`), whole)
  assert.equal((await shop.call('GET', '/api/events')).status, 401)
})

test('events, deliveries and tries are removed after 30 days, also those of a removed endpoint', async (t) => {
  const shop = await startTestShop(t)
  const ann = await signedInSeller(shop)
  const receiver = await startReceiver(t)
  const { id } = await newEndpoint(ann, receiver.url)
  await shop.paid()
  await gets(receiver, 'order.paid')
  const counts = async () =>
    (await sql<{ rows: number[] }>`select array[(select count(*)::int from events), (select count(*)::int from webhook_deliveries),
      (select count(*)::int from webhook_tries)] as rows`.execute(shop.db)).rows[0]!.rows // oxfmt-ignore
  await eventually(counts, ([, , tries]) => tries === 1)
  await sweepWebhooks(shop.db)
  assert.deepEqual(await counts(), [1, 1, 1])
  await ann.call('DELETE', `/api/webhook-endpoints/${id}`)
  // an id of the year 2001
  const old = 'evt_00w0000000aaaaaaaaaaaaaaaa'
  await sql`with e as (update events set id = ${old}), d as (update webhook_deliveries set event_id = ${old})
    update webhook_tries set event_id = ${old}`.execute(shop.db)
  await sweepWebhooks(shop.db)
  assert.deepEqual(await counts(), [0, 0, 0])
})

test('a database without endpoints has no deliveries, and the metrics say how many wait', async (t) => {
  const shop = await startTestShop(t)
  await shop.paid()
  const waiting = async () => Number(/^till_webhook_deliveries_due (\d+)$/m.exec((await shop.call('GET', '/metrics')).body)?.[1]) // oxfmt-ignore
  assert.equal(await waiting(), 0)
  const { rows } = await sql<{ count: number }>`select count(*)::int as count from webhook_deliveries`.execute(shop.db)
  assert.equal(rows[0]!.count, 0)
})
