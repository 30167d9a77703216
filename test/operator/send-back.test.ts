import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { sql } from 'kysely'
import { newId } from '../../src/kit/ids.ts'
import { elevenDaysAgo, jobs, tryAgainNow } from '../support/aged-orders.ts'
import { startRazorpayShop } from '../support/razorpay-shop.ts'
import { newBrowser } from '../support/seller.ts'
import { assertProblem, eventually } from '../support/shop.ts'
import { OPERATOR, logOf, operatorOf } from './support.ts'

// A buyer has paid twice, and the service could not send the second payment back: a person has to, and the sale stays as it is.

const PRICE = 49_900

interface Shown {
  what: string
  says: string
  advice: string
  view: string
}

/** A sale with a second payment that Razorpay refuses to refund. */
async function paidTwice(t: TestContext) {
  const { shop, bank, rupees } = await startRazorpayShop(t, { env: { OPERATORS: OPERATOR } })
  const order = await shop.checkout({ productId: await rupees() })
  const { orderId } = order
  bank.pay(order.clientSecret!)
  await bank.delivered()
  bank.refusesRefunds = true
  const second = bank.pay(order.clientSecret!, { evenIfPaid: true })
  await bank.delivered()
  await eventually(
    () => jobs(shop, 'retry'),
    (waiting) => waiting.length > 0,
  )
  const operator = await operatorOf(shop)
  const seller = newBrowser(shop)
  await seller.signInByCode('ann@shop.test')
  const failures = <Item extends { what: string }>(list: Item[]) => list.filter(({ what }) => what === 'refund_failed')
  return {
    shop,
    bank,
    orderId,
    second,
    operator,
    sendBack: () => operator.call('POST', `/api/operator/orders/${orderId}/send-back`, {}),
    state: async () => (await operator.call('GET', `/api/operator/orders/${orderId}`)).body,
    shown: async (): Promise<Shown[]> => failures((await operator.call('GET', '/api/operator/attention')).body.matters),
    shownToSeller: async () => failures((await seller.call('GET', '/api/attention')).body.items),
    failed: () =>
      eventually(
        async () => (await sql<{ state: string }>`select state from refunds order by created_at desc`.execute(shop.db)).rows, // oxfmt-ignore
        ([last]) => last?.state === 'failed',
      ),
    held: async () => {
      const { rows } = await sql<{ minor: number }>`
        select coalesce(sum(case when credit_account = 'held' then amount_minor else -amount_minor end), 0)::bigint as minor
        from transfers where 'held' in (credit_account, debit_account)`.execute(shop.db)
      return rows[0]!.minor
    },
    sent: () => [...bank.refunds.values()].map(({ payment_id, amount }: any) => [payment_id, amount]),
  }
}

test('the operator is led to send back a second payment whose return failed, once, and neither side to refund the sale', async (t) => {
  const one = await paidTwice(t)
  assertProblem(await one.sendBack(), 409, 'order_not_in_review')
  assert.deepEqual(await one.shown(), [])
  await elevenDaysAgo(one.shop)
  await tryAgainNow(one.shop)
  await one.failed()
  assert.deepEqual(await one.shownToSeller(), [])
  const [matter, ...more] = await one.shown()
  assert.deepEqual([matter?.view, more], [`/orders/${one.orderId}`, []])
  assert.match(matter!.says, /^₹499\.00 that pays for no order/)
  assert.match(matter!.advice, /^Send it back on the page of the order\. Do not refund the order/)

  one.bank.refusesRefunds = false
  const answers = await Promise.all(Array.from({ length: 5 }, one.sendBack))
  assert.deepEqual(answers.map(({ status }) => status).toSorted(), [202, 409, 409, 409, 409])
  for (const answer of answers.filter(({ status }) => status === 409)) assertProblem(answer, 409, 'order_not_in_review')
  assert.deepEqual(await one.shown(), [])
  await eventually(one.held, (held) => held === 0)
  assert.deepEqual(one.sent(), [[one.second.id, PRICE]])
  const { status, refundedAmount } = await one.state()
  assert.deepEqual([status, refundedAmount], ['paid', 0])
  assert.deepEqual((await logOf(one.operator, one.orderId)).map(({ action }) => action), ['order_sent_back']) // oxfmt-ignore
  assertProblem(await one.sendBack(), 409, 'order_not_in_review')
})

test('of a second payment of which a bank took a part, the operator sends back the rest', async (t) => {
  const one = await paidTwice(t)
  const { id } = one.bank.openDispute(one.second.id, { amount: 10_000 })
  await one.bank.delivered()
  await tryAgainNow(one.shop)
  await one.failed()
  assertProblem(await one.sendBack(), 409, 'order_not_in_review')
  assert.deepEqual(await one.shown(), [], 'the bank decides')
  one.bank.moveDispute(id, 'lost')
  await one.bank.delivered()
  one.bank.refusesRefunds = false
  assert.match((await one.shown())[0]!.says, /^₹399\.00 /)
  assert.equal((await one.sendBack()).status, 202)
  await eventually(one.held, (held) => held === 0)
  assert.deepEqual(one.sent(), [[one.second.id, PRICE - 10_000]])
  assert.deepEqual(await one.shown(), [])
  assert.equal((await one.state()).status, 'paid')
})

test('a refund of the sale that failed stays with the seller, whatever became of a second payment after it', async (t) => {
  const one = await paidTwice(t)
  await elevenDaysAgo(one.shop)
  await tryAgainNow(one.shop)
  await one.failed()
  const { rows } = await sql<{ id: string }>`
    insert into refunds (id, processor, processor_capture_id, order_id, amount_minor, reason, state, created_at)
    select ${newId('ref')}, processor, processor_capture_id, order_id, 700, 'seller', 'failed', now() - interval '20 days'
    from captures where purpose = 'sale' returning id`.execute(one.shop.db)
  assert.equal(rows.length, 1)
  one.bank.refusesRefunds = false
  assert.equal((await one.sendBack()).status, 202)
  await eventually(one.held, (held) => held === 0)
  assert.deepEqual((await one.shownToSeller()).length, 1)
  assert.match((await one.shown())[0]!.says, /^A refund of ₹7\.00 failed/)
})

test('an order that paid the wrong amount says that its money is back only while all of it is', async (t) => {
  const { shop, bank, rupees } = await startRazorpayShop(t, { env: { OPERATORS: OPERATOR } })
  const order = await shop.checkout({ productId: await rupees() })
  const { orderId } = order
  const says = async () => {
    const { status, paymentReturned } = await shop.status(orderId)
    assert.equal(status, 'needs_review')
    return paymentReturned
  }
  const operator = await operatorOf(shop)
  const sendBack = async () =>
    assert.equal((await operator.call('POST', `/api/operator/orders/${orderId}/send-back`, {})).status, 202)
  const first = bank.pay(order.clientSecret!, { amount: PRICE - 100 })
  await bank.delivered()
  assert.equal(await says(), undefined, 'the operator has not decided')
  await sendBack()
  assert.equal(await says(), true)

  const second = bank.pay(order.clientSecret!, { amount: PRICE - 200, evenIfPaid: true })
  await bank.delivered()
  await eventually(says, (back) => back === undefined)
  await sendBack()
  assert.equal(await says(), true)
  const booked = async () =>
    (await sql<{ id: string }>`
      select processor_capture_id as id from refunds where state = 'succeeded' order by created_at`.execute(shop.db)).rows // oxfmt-ignore
  await eventually(booked, (all) => all.length === 2)
  assert.deepEqual((await booked()).map(({ id }) => id), [first.id, second.id]) // oxfmt-ignore
  await sql`update refunds set state = 'failed' where processor_capture_id = ${second.id}`.execute(shop.db)
  assert.equal(await says(), undefined, 'the second return failed')
})
