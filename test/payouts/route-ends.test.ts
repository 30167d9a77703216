import assert from 'node:assert/strict'
import { beforeEach, test } from 'node:test'
import { sql } from 'kysely'
import { BUSINESS, NET, OPERATOR, PRICE, sharedRouteShop } from '../support/route-shop.ts'
import { newBrowser } from '../support/seller.ts'
import { assertProblem } from '../support/shop.ts'

// Linked accounts that end, come back, or are followed by another one.

const all = sharedRouteShop()
beforeEach(() => all().bank.works())

const connect = ({ browser }: { browser: ReturnType<typeof newBrowser> }) =>
  browser.call('PUT', '/api/payouts/account', BUSINESS)

async function rowsOf(sellerId: string) {
  const { rows } = await sql<{ account: string | null; hasEnded: boolean; why: string | null }>`
    select account, ended_at is not null as "hasEnded", ended_why as why from connected_accounts
    where seller_id = ${sellerId} order by created_at`.execute(all().shop.db)
  return rows
}

/** The operator's matters about ended accounts of a seller. */
async function endsShown(sellerId: string): Promise<string[]> {
  const operator = newBrowser(all().shop)
  await operator.signInByCode(OPERATOR)
  const { body } = await operator.call('GET', '/api/operator/attention')
  return body.matters
    .filter(
      (one: { what: string; view: string }) => one.what === 'account_ended' && one.view === `/sellers/${sellerId}`,
    )
    .map((one: { says: string }) => one.says)
}

test('an account that Razorpay hid for a while is taken up again, and the operator reads why it ended', async () => {
  const seller = await all().selling()
  const { id, account } = seller
  const hide = () => all().bank.break(new RegExp(`GET /v2/accounts/${account}$`), 'not_found', 99)
  hide()
  await all().readDue()
  await all().awaits(id, true)
  assert.equal((await seller.browser.call('GET', '/api/payouts/account')).body.state, 'none')
  const [said, ...more] = await endsShown(id)
  assert.deepEqual(more, [])
  assert.match(said!, new RegExp(`^Razorpay gives no access to the account ${account} of .+ any more \\(404 `))

  // it has the seller's mailbox, so Razorpay makes no other one
  const refused = await connect(seller)
  assertProblem(refused, 422, 'account_details_refused')
  assert.match(refused.body.detail, /an account with this e-mail address already/)
  assert.deepEqual((await rowsOf(id)).map((row) => [row.account, row.hasEnded]), [[account, true], [null, false]]) // oxfmt-ignore
  all().bank.works()
  all().bank.break(new RegExp(`GET /v2/accounts/${account}$`), 'server_error', 99)
  assertProblem(await connect(seller), 503, 'account_unavailable')

  all().bank.works()
  const changes = async () =>
    (await sql`select from account_events where seller_id = ${id} and what = 'payout_details_changed'`.execute(all().shop.db)).rows.length // oxfmt-ignore
  const before = await changes()
  // it is active at Razorpay, which takes no change then
  for (const taken of await Promise.all([connect(seller), connect(seller), connect(seller)])) {
    assertProblem(taken, 422, 'account_details_refused')
    assert.match(taken.body.detail, /no change of an active account/)
  }
  assert.equal(await changes(), before, 'the bank account stays, so no mail tells of another one')
  assert.deepEqual(await rowsOf(id), [{ account, hasEnded: false, why: null }])
  await all().awaits(id, false)
  assert.deepEqual(await endsShown(id), [])
  const order = await all().paid(seller)
  assert.equal(all().route.of(order.razorpayOrder)[0]!.recipient, account)
})

test('a sale whose account is gone is to be paid with a run, also when the seller has another account', async () => {
  const seller = await all().selling()
  all().route.transfersBecome = 'failed'
  const order = await all().paid(seller)
  all().route.transfersBecome = 'processed'
  await sql`update passes set changed_at = now() - interval '2 days' where order_id = ${order.orderId}`.execute(
    all().shop.db,
  )
  const advice = async () => (await all().matterOf('not_passed_on', order.orderId)).advice
  assert.match(await advice(), new RegExp(`^Make the transfer to ${seller.account} .* or pay it with a run`))
  all().route.accounts.delete(seller.account)
  await all().readDue()
  await all().awaits(seller.id, true)
  const isByRun = new RegExp(`^Pay it with a run: .* Do not transfer it to another account .*${seller.account}`)
  assert.match(await advice(), isByRun)
  assert.equal((await connect(seller)).status, 200)
  assert.match(await advice(), isByRun)
})

test('a seller whose account is gone connects another one, and what went to the old one comes back from there', async () => {
  const seller = await all().selling()
  const order = await all().paid(seller)
  await all().books(seller.id, 0, NET)
  const old = all().route.accounts.get(seller.account)!
  all().route.accounts.delete(seller.account)
  await all().readDue()
  await all().awaits(seller.id, true)
  assert.equal((await endsShown(seller.id)).length, 1)

  assert.equal((await connect(seller)).status, 200)
  const account = [...all().route.accounts.values()].find((one) => one.email === seller.email)!.id as string
  assert.notEqual(account, seller.account)
  assert.deepEqual(await endsShown(seller.id), [])
  all().route.stand(account, 'activated')
  await all().awaits(seller.id, false)
  const next = await all().paid(seller)
  assert.equal(all().route.of(next.razorpayOrder)[0]!.recipient, account)
  await all().books(seller.id, 0, 2 * NET)

  await all().refund(seller, order.orderId)
  await all().refundedMinor(order.orderId, PRICE)
  await all().books(seller.id, 0, NET)
  assert.deepEqual([all().atRazorpay(seller.account), all().atRazorpay(account)], [0, NET])
  const { rows } = await sql<{ pinned: string }>`
    select connected_account as pinned from orders where id in (${order.orderId}, ${next.orderId}) order by id`.execute(all().shop.db) // oxfmt-ignore
  assert.deepEqual(rows, [{ pinned: `razorpay@${seller.account}` }, { pinned: `razorpay@${account}` }])
  assert.deepEqual(await all().differences(), [])

  // the old one is there again: the seller has another one by now, and goes on with it
  all().route.accounts.set(seller.account, { ...old, email: 'old@shop.test' })
  await all().readDue()
  assert.deepEqual((await rowsOf(seller.id)).map((row) => [row.account, row.hasEnded]), [[seller.account, true], [account, false]]) // oxfmt-ignore
  const last = await all().paid(seller)
  assert.equal(all().route.of(last.razorpayOrder)[0]!.recipient, account)
})
