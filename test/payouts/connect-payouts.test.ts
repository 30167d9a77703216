import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { type ConnectShop, sharedConnectShop } from '../support/connect-shop.ts'
import { assertProblem, eventually } from '../support/shop.ts'
import { intentOf } from '../support/stripe-shop.ts'

// The payouts that Stripe makes from sellers' own accounts, beside those of this service.

const all = sharedConnectShop()

type Seller = Awaited<ReturnType<ConnectShop['selling']>>

const listed = async ({ browser }: Seller): Promise<any[]> => {
  const { status, body } = await browser.call('GET', '/api/payouts')
  assert.equal(status, 200, JSON.stringify(body))
  return body.items
}
const untilState = (seller: Seller, state: string) =>
  eventually(
    async () => (await listed(seller))[0],
    (payout) => payout?.status === state,
  )

test('a payout of Stripe shows its orders, fees and refunds, to its seller alone', async () => {
  const [seller, other] = [await all().selling(), await all().selling()]
  const [first, second] = [await all().paid(seller), await all().paid(seller)]
  seller.bank.refundInDashboard(intentOf(second), 950)
  await all().feeBack(second, 19)
  // the seller's account has payments from elsewhere, too
  seller.bank.move('ch_elsewhere', 'charge', 500, 'usd', 20)
  const made = seller.bank.payOut('usd')
  const payout = await untilState(seller, 'sent')
  // its items are stored after it
  await all().server.delivered()
  await all().untilAllRead()
  // 2 × (1900 − 38) − 950 + 19 + 480
  assert.deepEqual(
    [payout.amount, payout.currency, payout.by, payout.reference, payout.destination],
    [3273, 'USD', 'stripe-connect', made['id'], 'Your bank account at Stripe'],
  )
  assert.deepEqual(await listed(other), [])
  assertProblem(await other.browser.call('GET', `/api/payouts/${payout.payoutId}`), 404, 'payout_not_found')

  const { body } = await seller.browser.call('GET', `/api/payouts/${payout.payoutId}`)
  assert.deepEqual(
    [body.sales, body.fees, body.refunds, body.disputes, body.carried, body.left, body.orderCount],
    [3800, -76, -950, 0, 0, 0, 2],
  )
  assert.deepEqual(
    body.others.map(({ what, amount }: { what: string; amount: number }) => [what, amount]),
    [
      ['Fees that came back with refunds', 19],
      ['Payments from elsewhere', 480],
    ],
  )
  assert.deepEqual(
    body.orders.map(({ orderId, sale, fee, refunds, net }: any) => [orderId, sale, fee, refunds, net]),
    [
      [first.orderId, 1900, -38, 0, 1862],
      [second.orderId, 1900, -38, -950, 912],
    ],
  )
  const csv = await seller.browser.call('GET', `/api/payouts/${payout.payoutId}?format=csv`)
  assert.match(csv.body, new RegExp(first.orderId))
  const pdf = await seller.browser.call('GET', `/api/payouts/${payout.payoutId}/statement.pdf`)
  assert.match(pdf.body, /^%PDF/)
  seller.bank.endPayout(made['id'], 'paid')
  const { bankReference } = await untilState(seller, 'paid')
  assert.deepEqual([payout.bankReference, bankReference], [undefined, made['trace_id'].value])
  assert.deepEqual(await all().differences(), [])
})

test('a payout that was paid and comes back after ten days is shown as reversed, and a late notification changes nothing', async () => {
  const seller = await all().selling()
  await all().paid(seller)
  const made = seller.bank.payOut('usd')
  seller.bank.endPayout(made['id'], 'paid')
  const paid = seller.bank.events.at(-1)!
  await untilState(seller, 'paid')
  const now = all().server.bank.now
  all().server.bank.now = () => Date.now() + 10 * 86_400_000
  seller.bank.endPayout(made['id'], 'failed')
  all().server.bank.now = now
  const { failure, endedAt } = await untilState(seller, 'reversed')
  assert.deepEqual([failure, typeof endedAt], ['account closed', 'string'])
  await all().server.send({ ...paid, id: 'evt_late', account: seller.account })
  assert.equal((await listed(seller))[0].status, 'reversed')
})

test('a payout that was cancelled at Stripe is not called refused by the bank, and the next one has its money', async () => {
  const seller = await all().selling()
  await all().paid(seller)
  const made = seller.bank.payOut('usd')
  await untilState(seller, 'sent')
  seller.bank.endPayout(made['id'], 'canceled')
  const { failure, cancelled, payoutId } = await untilState(seller, 'failed')
  assert.deepEqual([failure, cancelled], ['Cancelled at the processor', true])
  assert.equal((await seller.browser.call('GET', `/api/payouts/${payoutId}`)).body.cancelled, true)
  seller.bank.payOut('usd')
  // both can be of one second, so the order of the list does not tell them apart
  const next = await eventually(
    async () => (await listed(seller)).find(({ status }) => status === 'sent'),
    (found) => found !== undefined,
  )
  await all().server.delivered()
  await all().untilAllRead()
  const { body } = await seller.browser.call('GET', `/api/payouts/${next.payoutId}`)
  assert.deepEqual(body.others.map(({ what, amount }: any) => [what, amount]), [['Payouts that were cancelled', 1862]]) // oxfmt-ignore
  assert.deepEqual(await all().differences(), [])
})

test('a payout that fails for no stated reason has none', async () => {
  const seller = await all().selling()
  await all().paid(seller)
  const made = seller.bank.payOut('usd')
  await untilState(seller, 'sent')
  seller.bank.endPayout(made['id'], 'failed')
  Object.assign(
    seller.bank.payouts.find(({ id }) => id === made['id'])!,
    { failure_code: null },
  )
  const payout = await untilState(seller, 'failed')
  await all().readDue()
  const [read] = await listed(seller)
  assert.deepEqual([read.failure, read.cancelled, payout.status], [undefined, undefined, 'failed'])
})

test('a payout of which no notification comes is found by the next reading', async () => {
  const seller = await all().selling()
  await all().paid(seller)
  all().server.knobs.notify = 'never'
  seller.bank.payOut('usd')
  await all().readDue()
  all().server.knobs.notify = 'now'
  assert.equal((await listed(seller)).length, 1)
  await all().readDue()
  assert.equal((await listed(seller)).length, 1)
})

test('a list of many payouts is stored in one statement, and repeated in one', async () => {
  const seller = await all().selling()
  const { db } = all().shop
  // news of the new account has it read once more, and that reading would find some of the payouts first
  await all().server.delivered()
  await all().untilAllRead()
  all().server.knobs.notify = 'never'
  for (let at = 0; at < 30; at++) {
    seller.bank.move(`ch_${at}`, 'charge', 500 + at, 'usd', 20)
    seller.bank.payOut('usd')
  }
  await sql`
    create table noted (seller_id text, op text, rows int);
    create function note_payouts() returns trigger language plpgsql as $$ begin
      insert into noted select seller_id, tg_op, count(*) from put group by 1, 2;
      return null;
    end $$;
    create trigger note_new after insert on processor_payouts referencing new table as put for each statement execute function note_payouts();
    create trigger note_known after update on processor_payouts referencing new table as put for each statement execute function note_payouts()`.execute(
    db,
  )
  const noted = async (op: string): Promise<number[]> => {
    const { rows } = await sql<{ rows: number }>`
      select rows from noted where seller_id = ${seller.id} and op = ${op}`.execute(db)
    await sql`delete from noted`.execute(db)
    return rows.map(({ rows: count }) => count)
  }
  await all().readDue()
  assert.deepEqual(await noted('INSERT'), [30])
  await all().readDue()
  assert.deepEqual(await noted('UPDATE'), [30])
  all().server.knobs.notify = 'now'
  const payouts = await listed(seller)
  assert.equal(new Set(payouts.map(({ reference }) => reference)).size, 25, 'a page of them')
  assert.deepEqual(await all().differences(), [])
  await sql`drop trigger note_new on processor_payouts; drop trigger note_known on processor_payouts`.execute(db)
})

test('what is in Stripe’s list and not here is a difference of the books', async () => {
  const seller = await all().selling()
  await all().paid(seller)
  await all().server.delivered()
  await all().untilAllRead()
  all().server.knobs.notify = 'never'
  const now = all().server.bank.now
  // accounts are read every few hours, so only an older payout should be here
  all().server.bank.now = () => Date.now() - 12 * 3_600_000
  const made = seller.bank.payOut('usd')
  all().server.bank.now = now
  const found = await all().differences()
  assert.deepEqual(found, [
    {
      what: 'payout_only_at_processor',
      id: `${seller.name}:${made['id']}`,
      currency: 'USD',
      expectedMinor: 1862,
      foundMinor: null,
    },
  ])
  await all().readDue()
  assert.deepEqual(await all().differences(), [])
  all().server.knobs.notify = 'now'
})
