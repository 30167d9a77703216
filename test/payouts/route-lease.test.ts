import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from 'kysely'
import { newLog } from '../../src/kit/log.ts'
import { takeBack } from '../../src/payments/refunds/take-back.ts'
import type { Processor } from '../../src/processors/processor.ts'
import { PRICE, type RouteShop, startRouteShop } from '../support/route-shop.ts'

// One request at a time takes an order's money back: the lease on the order covers one request, and whoever loses it makes no more.

const NET = PRICE - 998
const ends: (() => unknown)[] = []
let all: RouteShop
before(async () => {
  all = await startRouteShop({ after: (end) => ends.push(end) })
})
after(async () => {
  for (const end of ends.reverse()) await end()
})

/** An order with two paid payments, of which each is one request, and `take`, which asks a processor that does as `during` says. */
async function twicePaid() {
  all.bank.notifying.when = 'now'
  const seller = await all.selling()
  const order = await all.paid(seller)
  await all.books(seller.id, 0, NET)
  all.bank.notifying.when = 'never'
  const again = await all.paidAgain(seller, order)
  const razorpay = (await all.openAll()).get('razorpay')!
  await sql`
    insert into captures (processor, processor_capture_id, payment_id, order_id, purpose, amount_minor, currency, rail, captured_at)
    select 'razorpay', ${again.paymentId}, id, order_id, 'duplicate', ${PRICE}, 'INR', 'upi', now()
    from payments where processor_payment_id = ${again.razorpayOrder}`.execute(all.shop.db)
  const asked: string[] = []
  const take = (during: (nth: number) => Promise<unknown>) => {
    const processor = {
      ...razorpay,
      async takeBack({ processorPaymentId }: { processorPaymentId: string }) {
        await during(asked.push(processorPaymentId))
        return razorpay.fetchPayment(processorPaymentId)
      },
    } as Processor
    const processors = new Map([['razorpay', processor]])
    const settle = async () => 'repeat' as const
    return takeBack({ db: all.shop.db, processors, settle, log: newLog('silent') }, order.orderId)
  }
  const lease = async () => {
    const { rows } = await sql<{ until: string | null; isLive: boolean }>`
      select taking_until::text as until, taking_until > now() as "isLive" from passes where order_id = ${order.orderId}`.execute(all.shop.db) // oxfmt-ignore
    return rows[0]!
  }
  const setLease = (until: string) =>
    sql`update passes set taking_until = now() + ${until}::interval where order_id = ${order.orderId}`.execute(
      all.shop.db,
    )
  return { asked, take, lease, setLease }
}

test('the lease is renewed for each request, and ends with the last one', async () => {
  const { asked, take, lease } = await twicePaid()
  const until: string[] = []
  await take(async () => {
    const { until: now, isLive } = await lease()
    assert(isLive)
    until.push(now!)
  })
  assert.equal(asked.length, 2)
  assert(until[1]! > until[0]!, `${until[1]} is later than ${until[0]}`)
  assert.equal((await lease()).until, null)
})

test('while one try asks, another one does not', async () => {
  const { asked, take } = await twicePaid()
  await take(async () => {
    await assert.rejects(take(async () => undefined), /is being taken back/) // oxfmt-ignore
  })
  assert.equal(asked.length, 2)
})

test('a try that has lost its lease to another one makes no further request', async () => {
  const { asked, take, lease, setLease } = await twicePaid()
  // the answer came so late that another try has begun
  await assert.rejects(
    take(() => setLease('50 seconds')),
    /by another try/,
  )
  assert.equal(asked.length, 1)
  assert((await lease()).isLive)
})

test('a try that ends late does not end the lease of the next one', async () => {
  const { asked, take, lease, setLease } = await twicePaid()
  await take(async (nth) => nth === 2 && setLease('50 seconds'))
  assert.equal(asked.length, 2)
  assert((await lease()).isLive)
})

test('the lease stays when the answer to a request is lost', async () => {
  const { asked, take, lease } = await twicePaid()
  await assert.rejects(take(async () => assert.fail('the answer is lost')), /is lost/) // oxfmt-ignore
  assert.equal(asked.length, 1)
  assert((await lease()).isLive)
  await assert.rejects(take(async () => undefined), /is being taken back/) // oxfmt-ignore
  assert.equal(asked.length, 1)
})
