import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import type { Jobs } from '../../src/kit/jobs.ts'
import type { Fact } from '../../src/payments/settle/fact.ts'
import { settler } from '../../src/payments/settle/settle.ts'
import { razorpayId } from '../stand-ins/razorpay-refusal.ts'
import { NET, sharedRouteShop } from '../support/route-shop.ts'

// Facts about two payments of one order that settle in one transaction.

const all = sharedRouteShop()

/** Settles facts in one transaction, and returns the jobs that it adds. They do not run. */
async function settleTogether(facts: Fact[]) {
  const added: string[] = []
  const queue = {
    add: async (_tx: unknown, name: string, jobs: { data: { orderId?: string } }[]) => {
      added.push(...jobs.map(({ data }) => `${name} ${data.orderId ?? ''}`))
    },
  } as unknown as Jobs
  const settle = settler(all().shop.db, queue, { bankTtlHours: 1 })
  const payment = { ...facts[0]!.payment, processorPaymentId: razorpayId('order_'), orderId: undefined }
  // while the first round asks about a payment that is not ours, the others gather for the second one
  await Promise.all([{ ...facts[0]!, payment }, ...facts].map((fact) => settle(fact)))
  return added
}

/** An order that was paid twice: by the attempt that sold it, and by one that had ended and of which nothing is heard yet. */
async function paidTwice() {
  all().bank.notifying.when = 'now'
  const { seller, order } = await all().sold()
  all().bank.notifying.when = 'never'
  const { razorpayOrder: again } = await all().paidAgain(seller, order)
  const razorpay = (await all().openAll()).get('razorpay')!
  const factOf = async (id: string): Promise<Fact> => ({
    processor: 'razorpay',
    payment: await razorpay.fetchPayment(id),
  })
  const pass = async () => {
    const { rows } = await sql<{ due: number; passed: number; refunded: number }>`
      select a.due_minor as due, a.passed_minor as passed, o.refunded_minor as refunded
      from passes a join orders o on o.id = a.order_id where o.id = ${order.orderId}`.execute(all().shop.db)
    return rows[0]
  }
  return { seller, order, again, factOf, pass }
}

test('a refund and a second payment of an order, told in one moment, leave due what is left of the sale', async () => {
  for (const refundFirst of [true, false]) {
    const { seller, order, again, factOf, pass } = await paidTwice()
    all().bank.refundInDashboard(order.paymentId, { amount: 20_000 })
    const facts = [await factOf(order.razorpayOrder), await factOf(again)]
    const added = await settleTogether(refundFirst ? facts : facts.toReversed())
    assert.deepEqual(await pass(), { due: NET - 19_600, passed: 2 * NET, refunded: 20_000 }, String(refundFirst))
    assert(added.includes(`take_back ${order.orderId}`))
    assert.equal(await all().balanceOf(`direct:${seller.id}`), 2 * NET)
    // the sale is refunded in part, and the held money of the second capture is not the seller's
    assert.equal(await all().balanceOf(`seller:${seller.id}`), NET - 19_600 - 2 * NET)
  }
})
