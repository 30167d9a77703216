import assert from 'node:assert/strict'
import { beforeEach, test } from 'node:test'
import { sql } from 'kysely'
import { approveRun, proposeRun } from '../../src/payouts/runs.ts'
import { FEE, NET, sharedRouteShop } from '../support/route-shop.ts'
import { eventually } from '../support/shop.ts'

// The operator's view of money that did not reach a linked account, or did not come back from it.

const all = sharedRouteShop()
beforeEach(() => {
  all().bank.refundsBecome = 'processed'
  all().route.transfersBecome = 'failed'
})

type Seller = Awaited<ReturnType<ReturnType<typeof all>['selling']>>

/** A sale whose transfer failed so many days ago. */
async function failed(seller: Seller, daysAgo = 2): Promise<string> {
  const { orderId } = await all().paid(seller)
  // news of the transfer that came later would undo what a test writes
  await all().bank.delivered()
  await aged(orderId, daysAgo)
  return orderId
}
const aged = (orderId: string, days: number) =>
  sql`update passes set (created_at, changed_at) = (select at, at from (select now() - make_interval(days => ${days}) as at) as a) where order_id = ${orderId}`.execute(
    all().shop.db,
  )
const adviceOn = async (orderId: string): Promise<string | undefined> =>
  (await all().matterOf('not_passed_on', orderId))?.advice
async function payByRun() {
  const rules = { holdDays: 0, minimumMinor: {} }
  const runId = await proposeRun(all().shop.db, rules, { by: 'machine' })
  return approveRun(all().shop.db, rules, { runId: runId!, by: 'machine' }, async () => undefined)
}

test('what a run has paid is not listed, and a later failure of the same seller is listed alone', async () => {
  const seller = await all().selling()
  const paid = await failed(seller, 3)
  assert.match((await adviceOn(paid))!, /^Make the transfer/)
  await all().payable(seller.id)
  await payByRun()
  assert.equal(await adviceOn(paid), undefined)
  const later = await failed(seller)
  assert.deepEqual([await adviceOn(paid), (await adviceOn(later))?.slice(0, 17)], [undefined, 'Make the transfer'])
  const [again] = await payByRun()
  assert.deepEqual([await adviceOn(paid), await adviceOn(later)], [undefined, undefined])

  // the bank sends the last payout back, which is the money of one sale
  await sql`
    insert into transfers (kind, cause, debit_account, credit_account, amount_minor, currency)
    select 'payout_failed', cause, credit_account, debit_account, amount_minor, currency
    from transfers where kind = 'payout' and cause = ${again!.id}`.execute(all().shop.db)
  assert.deepEqual([await adviceOn(paid), (await adviceOn(later))?.slice(0, 17)], [undefined, 'Make the transfer'])
})

test('the refund of a sale that a run has paid takes nothing back, and the seller owes it in later runs', async () => {
  const seller = await all().selling()
  const paid = await failed(seller)
  await all().payable(seller.id)
  await payByRun()
  await all().refund(seller, paid)
  await all().books(seller.id, -NET, 0)
  assert.equal(await all().matterOf('not_taken_back', paid), undefined)
  // a later sale is passed on whole
  all().route.transfersBecome = 'processed'
  await all().paid(seller)
  await all().books(seller.id, -NET, NET)
  const runId = await proposeRun(all().shop.db, { holdDays: 0, minimumMinor: {} }, { by: 'machine' })
  const { rows } = await sql<{ amount: number; blocked: string }>`
    select amount_minor as amount, blocked from payout_run_lines where run_id = ${runId} and seller_id = ${seller.id}`.execute(all().shop.db) // oxfmt-ignore
  assert.deepEqual(rows, [{ amount: -NET, blocked: 'negative_balance' }])
})

test('a transfer that is under way, or money that a refund takes, does not make a paid sale look unpaid', async () => {
  const seller = await all().selling()
  all().route.transfersBecome = 'processed'
  const passed = await all().paid(seller)
  await all().books(seller.id, 0, NET)
  all().route.transfersBecome = 'failed'
  const paid = await failed(seller)
  await all().payable(seller.id)
  await payByRun()
  all().route.transfersBecome = 'pending'
  await all().paid(seller)
  assert.equal(await all().balanceOf(`seller:${seller.id}`), NET)
  assert.equal(await adviceOn(paid), undefined)

  all().bank.refundsBecome = 'pending'
  await all().refund(seller, passed.orderId)
  // its part is back from the linked account, and the buyer does not have it yet
  await all().books(seller.id, 2 * NET, 0)
  assert.equal(await adviceOn(paid), undefined)
})

test('a sale whose refund is under way is not listed, and the one before it still is', async () => {
  const seller = await all().selling()
  const [before, refunded] = [await failed(seller, 3), await failed(seller, 2)]
  all().bank.refundsBecome = 'pending'
  await all().refund(seller, refunded, 10_000)
  await eventually(
    async () => [...all().bank.refunds.values()].filter(({ amount }) => amount === 10_000).length,
    (sent) => sent === 1,
  )
  assert.equal(await adviceOn(refunded), undefined)
  assert.match((await adviceOn(before))!, /^Make the transfer/)
})

test('money that made up for a part of a debt is to be paid with a run', async () => {
  const seller = await all().selling()
  await sql`
    insert into transfers (kind, cause, debit_account, credit_account, amount_minor, currency)
    values ('adjustment', ${`adj_${seller.id}`}, ${`seller:${seller.id}`}, 'fees', ${FEE}, 'INR')`.execute(
    all().shop.db,
  )
  const sale = await failed(seller)
  assert.match((await adviceOn(sale))!, /^Pay it with a run, and do not make the transfer: .*479\.04 of it/)
})

test('20 sales that a run has paid do not hide a new failure', async () => {
  const [seller, other] = [await all().selling(), await all().selling()]
  await Promise.all(Array.from({ length: 20 }, () => failed(seller, 9)))
  await all().payable(seller.id)
  await payByRun()
  const failure = await failed(other, 1)
  assert.match((await adviceOn(failure))!, /^Make the transfer/)
})

test('20 old sums that do not come back hide no new matter, and the operator reads whether the service still tries', async () => {
  const seller = await all().selling()
  // as if what had gone on could not come back
  const passed = (orderIds: string[], days: number) =>
    sql`
      update passes set due_minor = 0, passed_minor = ${NET}, changed_at = now() - make_interval(days => ${days})
      where order_id = any(${orderIds}::text[])`.execute(all().shop.db)
  await passed(await Promise.all(Array.from({ length: 20 }, () => failed(seller, 95))), 91)
  const [owed, failure] = [await failed(seller, 1), await failed(seller, 1)]
  await passed([owed], 89)
  assert.match((await adviceOn(failure))!, /^Make the transfer/)
  assert.match((await all().matterOf('not_taken_back', owed)).advice, /^The service tries again each day/)
  await passed([owed], 91)
  assert.match((await all().matterOf('not_taken_back')).advice, /does not try any more/)
})
