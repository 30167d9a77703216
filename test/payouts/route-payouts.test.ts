import assert from 'node:assert/strict'
import { test } from 'node:test'
import { NET, type RouteShop, sharedRouteShop, startRouteShop } from '../support/route-shop.ts'
import { assertProblem } from '../support/shop.ts'

// The settlements by which Razorpay pays the money in sellers' linked accounts to their banks.

const all = sharedRouteShop()

type Seller = Awaited<ReturnType<RouteShop['selling']>>

/** Does the same as the job that runs each ten minutes, here twice. */
async function mirror(): Promise<void> {
  await Promise.all([all().readSettlements(), all().readSettlements()])
}
const listed = async ({ browser }: Seller): Promise<any[]> => {
  const { status, body } = await browser.call('GET', '/api/payouts')
  assert.equal(status, 200, JSON.stringify(body))
  return body.items
}
const opened = async ({ browser }: Seller, { payoutId }: { payoutId: string }) =>
  (await browser.call('GET', `/api/payouts/${payoutId}`)).body
const parts = ({ sales, others, left, orders }: any) => ({
  sales,
  left,
  others: others.map(({ what, amount }: any) => [what, amount]),
  orders: orders.map(({ orderId, net }: any) => [orderId, net]),
})
async function sold(seller: Seller, count: number) {
  const orders = []
  for (let at = 0; at < count; at++) orders.push(await all().paid(seller))
  return orders
}

test('a settlement shows its orders and what was taken back, to its seller alone', async () => {
  const [seller, other] = [await all().selling(), await all().selling()]
  const [first, second] = (await sold(seller, 2)) as [any, any]
  await all().books(seller.id, 0, 2 * NET)
  await mirror()
  assert.deepEqual(await listed(seller), [])
  const made = all().route.settle(seller.account)
  await mirror()
  await mirror()
  const [payout, ...more] = await listed(seller)
  assert.deepEqual(more, [])
  assert.deepEqual(
    [payout.amount, payout.currency, payout.by, payout.status, payout.reference, payout.destination],
    [2 * NET, 'INR', 'razorpay-route', 'paid', made['id'], 'Your bank account at Razorpay'],
  )
  assert.deepEqual(await listed(other), [])
  assertProblem(await other.browser.call('GET', `/api/payouts/${payout.payoutId}`), 404, 'payout_not_found')
  assert.deepEqual(parts(await opened(seller, payout)), {
    sales: 2 * NET,
    left: 0,
    others: [],
    orders: [
      [first.orderId, NET],
      [second.orderId, NET],
    ],
  })

  // the bank has the first sale already, so its refund comes out of the next one
  const third = await all().paid(seller)
  await all().books(seller.id, 0, 3 * NET)
  await all().refund(seller, first.orderId, 10_000)
  await all().refundedMinor(first.orderId, 10_000)
  const later = all().route.settle(seller.account)
  await mirror()
  const next = (await listed(seller)).find(({ reference }) => reference === later['id'])
  assert.equal(next.amount, NET - 9_800)
  assert.deepEqual(parts(await opened(seller, next)), {
    sales: NET,
    left: 0,
    others: [['Refunds, and Razorpay’s fees', -9_800]],
    orders: [[third.orderId, NET]],
  })
  const csv = await seller.browser.call('GET', `/api/payouts/${next.payoutId}?format=csv`)
  assert.match(csv.body, new RegExp(third.orderId))
  const { body: listing } = await seller.browser.call('GET', '/api/payouts?format=csv')
  assert.match(listing, new RegExp(`,${later['id']},.*,${later['utr']}\\r?\\n`))
  const pdf = await seller.browser.call('GET', `/api/payouts/${next.payoutId}/statement.pdf`)
  assert.match(pdf.body, /^%PDF/)
  assert.deepEqual(await all().differences(), [])
})

test('a settlement that fails and is tried again is shown as it is, and as paid in the end', async () => {
  const seller = await all().selling()
  const [order] = await sold(seller, 1)
  await all().books(seller.id, 0, NET)
  const made = all().route.settle(seller.account, 'created')
  await mirror()
  const [sent] = await listed(seller)
  assert.deepEqual([sent.status, sent.bankReference], ['sent', undefined])
  all().route.bankSays(seller.account, made['id'], 'failed')
  await mirror()
  const [failed] = await listed(seller)
  assert.deepEqual([failed.status, typeof failed.endedAt, failed.failure], ['failed', 'string', undefined])
  all().route.bankSays(seller.account, made['id'], 'processed')
  await mirror()
  const [paid] = await listed(seller)
  assert.deepEqual([paid.status, paid.endedAt, paid.failure], ['paid', undefined, undefined])
  // the seller finds this number at the bank
  assert.deepEqual([paid.reference, paid.bankReference], [made['id'], made['utr']])
  assert.deepEqual(parts(await opened(seller, paid)).orders, [[order!.orderId, NET]])
  assert.deepEqual(await all().differences(), [])
})

test('a settlement whose sales are refunded while it is under way is shown as paid in the end', async (t) => {
  // in a shop of its own, because the list is read from the oldest open transfer of all sellers
  const own = await startRouteShop(t)
  const seller = await own.selling()
  const order = await own.paid(seller)
  await own.books(seller.id, 0, NET)
  const made = own.route.settle(seller.account, 'created')
  await own.readSettlements()
  assert.equal((await listed(seller))[0].status, 'sent')
  // the seller has money at Razorpay from elsewhere
  own.route.fill(seller.account)
  await own.refund(seller, order.orderId)
  await own.books(seller.id, 0, 0)
  own.route.bankSays(seller.account, made['id'], 'processed')
  await own.readSettlements()
  const [paid] = await listed(seller)
  assert.deepEqual([paid.status, paid.bankReference], ['paid', made['utr']])
  // it is known to the end, so the list is not read any more
  const asked = own.bank.requests.length
  await own.readSettlements()
  assert.equal(own.bank.requests.length, asked)
})

test('the bank’s number of a settlement may come days after everything else', async () => {
  const seller = await all().selling()
  await sold(seller, 1)
  await all().books(seller.id, 0, NET)
  const made = all().route.settle(seller.account)
  const number = made['utr']
  made['utr'] = null
  await mirror()
  const [paid] = await listed(seller)
  assert.deepEqual([paid.status, paid.bankReference], ['paid', undefined])
  made['utr'] = number
  await mirror()
  assert.equal((await listed(seller))[0].bankReference, number)
})

test('a list of transfers that is not whole yet is read again, and until then nothing is made up', async () => {
  const seller = await all().selling()
  const orders = await sold(seller, 2)
  await all().books(seller.id, 0, 2 * NET)
  const made = all().route.settle(seller.account)
  const late = all().route.of(orders[1]!.razorpayOrder)[0]!
  late.recipient_settlement_id = null
  await mirror()
  const [payout] = await listed(seller)
  assert.deepEqual(parts(await opened(seller, payout)), {
    sales: 0,
    left: 0,
    others: [['Razorpay has not told what it is made of', 2 * NET]],
    orders: [],
  })
  late.recipient_settlement_id = made['id']
  await mirror()
  assert.deepEqual(parts(await opened(seller, payout)).orders, orders.map(({ orderId }) => [orderId, NET])) // oxfmt-ignore
})

test('what is in Razorpay’s list and not here, here and not there, or differs, is a difference of the books', async () => {
  const seller = await all().selling()
  await sold(seller, 1)
  await all().books(seller.id, 0, NET)
  const made = all().route.settle(seller.account)
  const id = `razorpay@${seller.account}:${made['id']}`
  const of = { id, currency: 'INR' }
  assert.deepEqual(await all().differences(), [{ ...of, what: 'payout_only_at_processor', expectedMinor: NET, foundMinor: null }]) // oxfmt-ignore
  await mirror()
  assert.deepEqual(await all().differences(), [])
  made['amount'] = NET - 1
  assert.deepEqual(await all().differences(), [{ ...of, what: 'payout_differs', expectedMinor: NET - 1, foundMinor: NET }]) // oxfmt-ignore
  made['amount'] = NET
  made['status'] = 'failed'
  assert.deepEqual(await all().differences(), [{ ...of, what: 'payout_failed_at_processor', expectedMinor: NET, foundMinor: NET }]) // oxfmt-ignore
  all().route.settlements.delete(made['id'])
  assert.deepEqual(await all().differences(), [{ ...of, what: 'payout_only_here', expectedMinor: null, foundMinor: NET }]) // oxfmt-ignore
  all().route.settlements.set(made['id'], Object.assign(made, { status: 'processed' }))
})

test('settlements of accounts that are not here, and answers of another form, are left alone', async () => {
  const seller = await all().selling()
  const [order] = await sold(seller, 1)
  await all().books(seller.id, 0, NET)
  all().route.transferInDashboard(order!.paymentId, 'acc_Stranger000000', 100)
  all().route.settle('acc_Stranger000000')
  await mirror()
  assert.deepEqual(await listed(seller), [])
  for (const fault of ['not_found', 'server_error', 'html'] as const) {
    all().bank.break(/GET \/v1\/transfers$/, fault, 99)
    await mirror().catch(() => undefined)
    all().bank.works()
  }
  const made = all().route.settle(seller.account)
  const id = made['id']
  made['id'] = '../../payouts'
  await mirror()
  assert.deepEqual(await listed(seller), [])
  // a number at the bank of another form does not stop the list
  Object.assign(made, { id, utr: 'UTR\u0000' })
  await mirror()
  const [payout] = await listed(seller)
  assert.deepEqual([payout.reference, payout.bankReference], [id, undefined])
})
