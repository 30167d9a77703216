import assert from 'node:assert/strict'
import { beforeEach, test } from 'node:test'
import { sql } from 'kysely'
import { TryLater } from '../../src/kit/jobs.ts'
import { newLog } from '../../src/kit/log.ts'
import { takeBack } from '../../src/payments/refunds/take-back.ts'
import { ApiRefusal } from '../../src/processors/api-refusal.ts'
import type { Processor } from '../../src/processors/processor.ts'
import { ProcessorUnavailable } from '../../src/processors/refusals.ts'
import { NET, PRICE, sharedRouteShop } from '../support/route-shop.ts'

// Razorpay has no idempotency key for reversals. So a lease on the order keeps a part of it from coming back twice: the lease covers
// one request at a time, and a job that has lost it makes no more.

const all = sharedRouteShop()
beforeEach(() => all().route.catchUp())

/** An order with two paid payments, of which each is one request, and `take`, which asks a processor that does as `during` says. */
async function paidTwice() {
  all().bank.notifying.when = 'now'
  const { seller, order } = await all().sold()
  all().bank.notifying.when = 'never'
  const again = await all().paidAgain(seller, order)
  const razorpay = (await all().openAll()).get('razorpay')!
  await sql`
    insert into captures (processor, processor_capture_id, payment_id, order_id, purpose, amount_minor, currency, rail, captured_at)
    select 'razorpay', ${again.paymentId}, id, order_id, 'duplicate', ${PRICE}, 'INR', 'upi', now()
    from payments where processor_payment_id = ${again.razorpayOrder}`.execute(all().shop.db)
  const asked: string[] = []
  const take = (during: (nth: number) => Promise<unknown> = async () => undefined) => {
    const processor = {
      ...razorpay,
      async takeBack({ processorPaymentId }: { processorPaymentId: string }) {
        await during(asked.push(processorPaymentId))
        return razorpay.fetchPayment(processorPaymentId)
      },
    } as Processor
    const processors = new Map([['razorpay', processor]])
    const settle = async () => 'repeat' as const
    return takeBack({ db: all().shop.db, processors, settle, log: newLog('silent') }, order.orderId)
  }
  const lease = async () => {
    const { rows } = await sql<{ until: string | null; isLive: boolean }>`
      select taking_until::text as until, taking_until > now() as "isLive" from passes where order_id = ${order.orderId}`.execute(all().shop.db) // oxfmt-ignore
    return rows[0]!
  }
  /** Another try has the lease from now on. */
  const another = async () => {
    const { rows } = await sql<{ until: string }>`
      update passes set taking_until = now() + interval '50 seconds' where order_id = ${order.orderId}
      returning taking_until::text as until`.execute(all().shop.db)
    return rows[0]!.until
  }
  return { asked, take, lease, another }
}

test('the lease begins again with each request, and ends with the last one', async () => {
  const { asked, take, lease } = await paidTwice()
  const until: string[] = []
  await take(async () => {
    const { until: now, isLive } = await lease()
    assert(isLive)
    until.push(now!)
  })
  assert.equal(new Set(asked).size, 2)
  assert(until[1]! > until[0]!, `${until[1]} is later than ${until[0]}`)
  assert.equal((await lease()).until, null)
})

test('while one try asks, another one does not', async () => {
  const { asked, take } = await paidTwice()
  await take(async () => assert.rejects(take(), TryLater))
  assert.equal(asked.length, 2)
})

test('a try whose lease another one has now asks for nothing more, and leaves that lease alone', async () => {
  const { asked, take, lease, another } = await paidTwice()
  let theirs = ''
  // this one stood still for longer than its lease, and another one began
  const late = take(async () => {
    theirs = await another()
  })
  await assert.rejects(late, TryLater)
  assert.equal(asked.length, 1)
  assert.equal((await lease()).until, theirs)
  // and meanwhile a third one does not begin
  await assert.rejects(take(), TryLater)
  assert.equal(asked.length, 1)
})

test('a try that ends late, or is refused late, does not end the lease of the next one', async () => {
  for (const refused of [false, true]) {
    const { asked, take, lease, another } = await paidTwice()
    let theirs = ''
    const late = take(async (nth) => {
      if (nth < 2) return
      theirs = await another()
      if (refused) throw noMoney()
    })
    await (refused ? assert.rejects(late, ApiRefusal) : late)
    assert.equal(asked.length, 2)
    assert.equal((await lease()).until, theirs)
  }
})

test('an answer that is lost keeps the lease, and one that was given ends it', async () => {
  const { asked, take, lease } = await paidTwice()
  await assert.rejects(take(() => Promise.reject(noMoney())), ApiRefusal) // oxfmt-ignore
  assert.equal((await lease()).until, null)
  for (const lost of [new ProcessorUnavailable('no answer'), new Error('the process has no memory')]) {
    const { take: takeThis, lease: leaseOfThis, asked: askedOfThis } = await paidTwice()
    await assert.rejects(takeThis(() => Promise.reject(lost)), lost) // oxfmt-ignore
    assert((await leaseOfThis()).isLive)
    await assert.rejects(takeThis(), TryLater)
    assert.equal(askedOfThis.length, 1)
  }
  assert.equal(asked.length, 1)
})

test('while Razorpay still lists a transfer as before its reversal, the next refund takes only its own part', async () => {
  all().bank.notifying.when = 'now'
  const { seller, order, transfer } = await all().sold()
  const reversals = () =>
    all()
      .route.reversals.filter((one) => one.transfer_id === transfer.id)
      .map(({ amount }) => amount)
  const before = { ...transfer }
  await all().refund(seller, order.orderId, 10_000)
  await all().refundedMinor(order.orderId, 10_000)
  await all().books(seller.id, 0, NET - 9_800)
  all().route.lag(before)
  await all().refund(seller, order.orderId, 20_000)
  await all().refundedMinor(order.orderId, 30_000)
  assert.deepEqual(reversals(), [9_800, 19_600])
  all().route.catchUp()
  await all().refund(seller, order.orderId)
  await all().refundedMinor(order.orderId, PRICE)
  await all().books(seller.id, 0, 0)
  assert.deepEqual(reversals(), [9_800, 19_600, NET - 29_400])
})

const noMoney = () =>
  new ApiRefusal('the linked account has no money', {
    meaning: 'refused',
    details: { status: 400, code: 'BAD_REQUEST_ERROR', parameter: undefined, requestId: undefined },
  })
