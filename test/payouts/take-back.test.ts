import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { sql } from 'kysely'
import { newId } from '../../src/kit/ids.ts'
import { TryLater } from '../../src/kit/jobs.ts'
import { newLog } from '../../src/kit/log.ts'
import { takeBack } from '../../src/payments/refunds/take-back.ts'
import { ApiRefusal } from '../../src/processors/api-refusal.ts'
import { type Processor, ProcessorUnavailable } from '../../src/processors/processor.ts'
import { razorpayId } from '../stand-ins/razorpay-refusal.ts'
import { PRICE, type RouteShop, startRouteShop } from '../support/route-shop.ts'
import { eventually } from '../support/shop.ts'

// What keeps a part of an order from coming back twice, since Razorpay has no idempotency key for reversals.

const NET = PRICE - 998
const ends: (() => unknown)[] = []
let all: RouteShop
before(async () => {
  all = await startRouteShop({ after: (end) => ends.push(end) })
})
after(async () => {
  for (const end of ends.reverse()) await end()
})
beforeEach(() => all.route.catchUp())

async function sold() {
  const seller = await all.selling()
  const order = await all.paid(seller)
  await all.books(seller.id, 0, NET)
  return { seller, order, transfer: all.route.of(order.razorpayOrder)[0]! }
}

/** An order with two paid payments, of which the second has gone back. So there are two to ask about. */
async function paidTwice(): Promise<string> {
  const { seller, order } = await sold()
  const again = razorpayId('order_')
  all.bank.orders.set(again, { ...all.bank.orders.get(order.razorpayOrder)!, id: again, receipt: newId('pay'), status: 'created', amount_paid: 0, amount_due: PRICE }) // oxfmt-ignore
  await sql`
    insert into payments (id, order_id, processor, processor_payment_id, state)
    values (${newId('pay')}, ${order.orderId}, 'razorpay', ${again}, 'canceled')`.execute(all.shop.db)
  const second = all.bank.pay(again)
  await eventually(
    async () => [...all.bank.refunds.values()].filter((found) => found.payment_id === second.id).length,
    (sent) => sent === 1,
  )
  await all.books(seller.id, 0, NET)
  await eventually(
    () => leaseOf(order.orderId),
    (until) => until === null,
  )
  return order.orderId
}

const noMoney = () =>
  new ApiRefusal('the linked account has no money', {
    meaning: 'refused',
    details: { status: 400, code: 'BAD_REQUEST_ERROR', parameter: undefined, requestId: undefined },
  })

async function leaseOf(orderId: string): Promise<string | null> {
  const { rows } = await sql<{ until: string | null }>`
    select taking_until::text as until from passes where order_id = ${orderId}`.execute(all.shop.db)
  return rows[0]!.until
}

/** Takes back with a processor that does `during` at each request, and counts them. */
async function taking(orderId: string, during: (request: number) => Promise<unknown>) {
  const asked: string[] = []
  const processor = {
    name: 'razorpay',
    async takeBack({ processorPaymentId }) {
      await during(asked.push(processorPaymentId))
      return { processorPaymentId }
    },
  } as Partial<Processor> as Processor
  const parts = { db: all.shop.db, processors: new Map([['razorpay', processor]]), settle: async () => 'repeat' as const, log: newLog('silent') } // oxfmt-ignore
  const error = await takeBack(parts, orderId).then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  return { asked, error }
}

test('the lease begins again with each request, and ends with the last one', async () => {
  const orderId = await paidTwice()
  const leases: string[] = []
  const { asked, error } = await taking(orderId, async () => leases.push((await leaseOf(orderId))!))
  assert.equal(error, undefined)
  assert.equal(new Set(asked).size, 2)
  const { rows } = await sql<{ grew: boolean }>`
    select ${leases[1]}::timestamptz > ${leases[0]}::timestamptz as grew`.execute(all.shop.db)
  assert.equal(rows[0]!.grew, true)
  assert.equal(await leaseOf(orderId), null)
})

test('a try whose lease another one has now asks for nothing more, and leaves that lease alone', async () => {
  const orderId = await paidTwice()
  // this one stood still for longer than its lease, and another one began
  const { rows } = await sql<{ theirs: string }>`select (now() + interval '50 seconds')::text as theirs`.execute(all.shop.db) // oxfmt-ignore
  const { theirs } = rows[0]!
  const another = () =>
    sql`update passes set taking_until = ${theirs}::timestamptz where order_id = ${orderId}`.execute(all.shop.db)
  const { asked, error } = await taking(orderId, another)
  assert.ok(error instanceof TryLater, String(error))
  assert.equal(asked.length, 1)
  assert.equal(await leaseOf(orderId), theirs)
  // and meanwhile a third one does not begin
  const third = await taking(orderId, async () => {})
  assert.ok(third.error instanceof TryLater)
  assert.deepEqual(third.asked, [])
  // and one that gets its answer late does not end the lease of the other
  await sql`update passes set taking_until = null where order_id = ${orderId}`.execute(all.shop.db)
  const late = await taking(orderId, async () => {
    await another()
    throw noMoney()
  })
  assert.ok(late.error instanceof ApiRefusal)
  assert.equal(await leaseOf(orderId), theirs)
})

test('an answer that is lost keeps the lease, and one that was given ends it', async () => {
  const orderId = await paidTwice()
  const refused = noMoney()
  const answered = await taking(orderId, () => Promise.reject(refused))
  assert.equal(answered.error, refused)
  assert.equal(await leaseOf(orderId), null)
  const lost = await taking(orderId, () => Promise.reject(new ProcessorUnavailable('no answer')))
  assert.ok(lost.error instanceof ProcessorUnavailable)
  assert.notEqual(await leaseOf(orderId), null)
})

test('while Razorpay still lists a transfer as before its reversal, the next refund takes only its own part', async () => {
  const { seller, order, transfer } = await sold()
  const reversals = () =>
    all.route.reversals.filter((one) => one.transfer_id === transfer.id).map(({ amount }) => amount)
  const before = { ...transfer }
  await all.refund(seller, order.orderId, 10_000)
  await all.refundedMinor(order.orderId, 10_000)
  await all.books(seller.id, 0, NET - 9_800)
  all.route.lag(before)
  await all.refund(seller, order.orderId, 20_000)
  await all.refundedMinor(order.orderId, 30_000)
  assert.deepEqual(reversals(), [9_800, 19_600])
  all.route.catchUp()
  await all.refund(seller, order.orderId)
  await all.refundedMinor(order.orderId, PRICE)
  await all.books(seller.id, 0, 0)
  assert.deepEqual(reversals(), [9_800, 19_600, NET - 29_400])
  assert.deepEqual(await all.differences(), [])
})
