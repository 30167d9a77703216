import assert from 'node:assert/strict'
import { beforeEach, test } from 'node:test'
import { sql } from 'kysely'
import { approveRun, proposeRun } from '../../src/payouts/runs.ts'
import { NET, PRICE, type RouteShop, sharedRouteShop } from '../support/route-shop.ts'
import { reconciliationOf } from '../support/reconciliation.ts'
import { eventually } from '../support/shop.ts'

// Money that goes back from linked accounts, transfers that fail, and the notifications about both.

const all = sharedRouteShop()
beforeEach(() => {
  all().bank.works()
  all().bank.notifying.when = 'now'
  all().bank.refusesRefunds = false
  all().bank.refundsBecome = 'processed'
  all().route.transfersBecome = 'processed'
  all().route.leastReversalPaise = 1
  all().route.listsReversals = true
})

type Sold = Awaited<ReturnType<RouteShop['sold']>>

const refund = ({ seller, order }: Sold, amount?: number) => all().refund(seller, order.orderId, amount)
const reversalsOf = ({ transfer }: Sold) =>
  all()
    .route.reversals.filter((one) => one.transfer_id === transfer.id)
    .map(({ amount }) => amount)
const refundsOf = ({ order }: Sold) =>
  [...all().bank.refunds.values()].filter((one) => one.payment_id === order.paymentId).map(({ amount }) => amount)
const lookNow = async ({ order }: Sold) => {
  await sql`update passes set look_at = now(), looks = 0 where order_id = ${order.orderId}`.execute(all().shop.db)
  await run('look_at_passes')
}
/** Runs a scheduled job now. */
const run = async (queue: string) => {
  await sql`insert into pgboss.job (name, data) values (${queue}, '{}')`.execute(all().shop.db)
  await sql`select pg_notify('pgboss_' || left(encode(sha224('pgboss'::bytea), 'hex'), 24), ${queue})`.execute(
    all().shop.db,
  )
}
const RULES = { holdDays: 0, minimumMinor: {} }
/** Proposes a run, and reads its lines of a seller. */
async function propose(sellerId: string) {
  const runId = (await proposeRun(all().shop.db, RULES, { by: 'machine' })) ?? ''
  const { rows: lines } = await sql<{ amount: number; blocked: string | null }>`
    select amount_minor as amount, blocked from payout_run_lines
    where run_id = ${runId} and seller_id = ${sellerId}`.execute(all().shop.db)
  return { runId, lines }
}

test('refunds in parts take back exactly what was passed on, and each comes back before its refund goes out', async () => {
  const one = await all().sold()
  const { seller, order, transfer } = one
  for (const [amount, gone, back] of [
    [16_633, 16_633, 16_300],
    [16_634, 33_267, 32_602],
    [16_633, PRICE, NET],
  ] as const) {
    await refund(one, amount)
    await all().refundedMinor(order.orderId, gone)
    assert.equal(transfer.amount_reversed, back)
    await all().books(seller.id, 0, NET - back)
  }
  assert.equal(all().atRazorpay(seller.account), 0)
  const requests = all().bank.requests.map(({ method, path }) => `${method} ${path}`)
  const reversed = requests.indexOf(`POST /v1/transfers/${transfer.id}/reversals`)
  const refunded = requests.indexOf(`POST /v1/payments/${order.paymentId}/refund`)
  assert(reversed >= 0 && reversed < refunded, 'the reversal comes first')
  assert.deepEqual(await all().differences(), [])
})

test('a price of any size comes back to the paisa, in any parts', async () => {
  for (const [price, parts] of [
    [10_001, [101, 3_333, 107, 6_460]],
    [333, [100, 100, 133]],
    [99_999, [33_333, 33_333, 33_333]],
    [125, [125]],
  ] as const) {
    const seller = await all().selling(price)
    const order = await all().paid(seller)
    let gone = 0
    for (const amount of parts) {
      await all().refund(seller, order.orderId, amount)
      await all().refundedMinor(order.orderId, (gone += amount))
    }
    await all().books(seller.id, 0, 0)
    assert.equal(all().atRazorpay(seller.account), 0, `of ${price}`)
    assert.equal(await all().balanceOf(`seller:${seller.id}`), 0)
  }
})

test('the answer to a reversal or a refund is lost, and nothing is taken or sent twice', async () => {
  for (const lost of [/POST .*\/reversals/, /POST .*\/refund$/]) {
    const one = await all().sold()
    all().bank.break(lost, 'drop_after')
    await refund(one, 10_000)
    await eventually(
      async () => {
        await sql`update passes set taking_until = null where order_id = ${one.order.orderId}`.execute(all().shop.db)
        await all().hurry('refund')
        return refundsOf(one).length
      },
      (sent) => sent === 1,
    )
    await all().refundedMinor(one.order.orderId, 10_000)
    await all().books(one.seller.id, 0, NET - 9_800)
    assert.deepEqual([reversalsOf(one), refundsOf(one)], [[9_800], [10_000]], String(lost))
  }
  assert.deepEqual(await all().differences(), [])
})

test('an order of which nothing is noted is read before its refund goes out', async () => {
  const one = await all().sold()
  await sql`delete from passes where order_id = ${one.order.orderId}`.execute(all().shop.db)
  await refund(one)
  await all().refundedMinor(one.order.orderId, PRICE)
  await all().books(one.seller.id, 0, 0)
  assert.deepEqual(reversalsOf(one), [NET])
})

test('while a reversal may be under way, no second one begins', async () => {
  const one = await all().sold()
  all().bank.break(/POST .*\/reversals/, 'drop')
  const id = await refund(one, 10_000)
  await eventually(
    async () => all().bank.requestsTo(new RegExp(`${one.transfer.id}/reversals`)).length,
    (sent) => sent === 1,
  )
  await eventually(
    async () => {
      await all().hurry('refund')
      // on a slow machine the lease would end before the second try
      await sql`
        update passes set taking_until = now() + interval '50 seconds'
        where order_id = ${one.order.orderId} and taking_until is not null`.execute(all().shop.db)
      const { rows } = await sql<{ tries: number }>`
        select retry_count as tries from pgboss.job where name = 'refund' and data->>'refundId' = ${id}`.execute(
        all().shop.db,
      )
      return rows[0]?.tries ?? 0
    },
    (tries) => tries >= 2,
  )
  assert.equal(all().bank.requestsTo(new RegExp(`${one.transfer.id}/reversals`)).length, 1)
  assert.deepEqual(refundsOf(one), [])
  await sql`update passes set taking_until = now() where order_id = ${one.order.orderId}`.execute(all().shop.db)
  await all().hurry('refund')
  await all().refundedMinor(one.order.orderId, 10_000)
  assert.deepEqual([reversalsOf(one), refundsOf(one)], [[9_800], [10_000]])
})

test('refunds that are asked for at once take back what all of them need, once', async () => {
  const one = await all().sold()
  await Promise.all([10_000, 20_000, 19_900].map((amount) => refund(one, amount)))
  await eventually(
    async () => {
      await all().hurry('refund')
      return refundsOf(one).length
    },
    (sent) => sent === 3,
  )
  await all().refundedMinor(one.order.orderId, PRICE)
  await all().books(one.seller.id, 0, 0)
  assert.equal(one.transfer.amount_reversed, NET)
  assert.deepEqual(await all().differences(), [])
})

test('a linked account without the money any more: the buyer gets no refund from the operator’s pocket', async () => {
  const one = await all().sold()
  await all().settled(one.seller.account)
  await refund(one)
  await eventually(
    async () => all().bank.requestsTo(new RegExp(`${one.transfer.id}/reversals`)).length,
    (sent) => sent >= 1,
  )
  await all().hurry('refund')
  assert.deepEqual([reversalsOf(one), refundsOf(one)], [[], []])
  await all().books(one.seller.id, 0, NET)
  // another sale brings money to the account
  await all().paid(one.seller)
  await eventually(
    async () => {
      await all().hurry('refund')
      return refundsOf(one).length
    },
    (sent) => sent === 1,
  )
  await all().refundedMinor(one.order.orderId, PRICE)
})

test('a refund that fails after its part was taken back is owed to the seller, and the next one takes no more', async () => {
  const one = await all().sold()
  all().bank.refundsBecome = 'pending'
  await refund(one, 10_000)
  await eventually(async () => refundsOf(one).length, (sent) => sent === 1) // oxfmt-ignore
  await all().books(one.seller.id, 9_800, NET - 9_800)
  assert.deepEqual((await propose(one.seller.id)).lines, [])
  const [owed] = (await one.seller.browser.call('GET', '/api/balance')).body.items
  assert.deepEqual([owed.balance, owed.available, owed.pending, owed.refunding], [9_800, 0, 0, 9_800])
  const [next] = (await one.seller.browser.call('GET', '/api/payouts/next')).body.items
  assert.deepEqual([next.expected, next.blocked], [0, 'nothing_available'])
  all().bank.endRefund(
    [...all().bank.refunds.values()].find((found) => found.payment_id === one.order.paymentId)!.id,
    'failed',
  )
  all().bank.refundsBecome = 'processed'
  await eventually(
    async () => {
      const { rows } = await sql<{
        state: string
      }>`select state from refunds where order_id = ${one.order.orderId}`.execute(all().shop.db)
      return rows[0]!.state
    },
    (state) => state === 'failed',
  )
  assert.deepEqual((await propose(one.seller.id)).lines, [{ amount: 9_800, blocked: 'no_details' }])
  await refund(one, 10_000)
  await all().refundedMinor(one.order.orderId, 10_000)
  await all().books(one.seller.id, 0, NET - 9_800)
  assert.deepEqual(reversalsOf(one), [9_800])
})

test('a run that was proposed before a refund began does not pay the refund’s money', async () => {
  all().route.transfersBecome = 'failed'
  all().bank.refundsBecome = 'pending'
  const seller = await all().selling()
  const order = await all().paid(seller)
  await all().payable(seller.id)
  const runs = [await propose(seller.id), await propose(seller.id)]
  assert.deepEqual(runs.map(({ lines }) => lines), [[{ amount: NET, blocked: null }], [{ amount: NET, blocked: null }]]) // oxfmt-ignore
  await all().refund(seller, order.orderId, 10_000)
  await eventually(async () => refundsOf({ seller, order, transfer: all().route.of(order.razorpayOrder)[0]! }).length, (sent) => sent === 1) // oxfmt-ignore
  const paid = await Promise.all(runs.map(({ runId }) => approveRun(all().shop.db, RULES, { runId, by: 'machine' }, async () => undefined))) // oxfmt-ignore
  assert.deepEqual(paid.flat().map(({ amountMinor }) => amountMinor), [NET - 9_800]) // oxfmt-ignore
})

test('a second capture by another attempt goes back, and what went on with it comes back first', async () => {
  const one = await all().sold()
  const second = await all().paidAgain(one.seller, one.order)
  await eventually(
    async () => {
      await all().hurry('refund')
      return [...all().bank.refunds.values()].filter((found) => found.payment_id === second.paymentId).length
    },
    (sent) => sent === 1,
  )
  await all().books(one.seller.id, 0, NET)
  assert.deepEqual(all().route.of(second.razorpayOrder).map(({ amount_reversed: back }) => back), [NET]) // oxfmt-ignore
  assert.deepEqual(reversalsOf(one), [])
  await eventually(all().differences, (found) => found.length === 0)
})

test('refunds in the dashboard take the seller’s part back afterwards', async () => {
  const one = await all().sold()
  all().bank.refundInDashboard(one.order.paymentId, { amount: 20_000 })
  await all().refundedMinor(one.order.orderId, 20_000)
  await all().books(one.seller.id, 0, NET - 19_600)
  assert.deepEqual(reversalsOf(one), [19_600])
  assert.deepEqual(await all().differences(), [])
})

test('Razorpay lists a reversal late, and the next refund takes no more than its own part', async () => {
  const one = await all().sold()
  await refund(one, 10_000)
  await all().refundedMinor(one.order.orderId, 10_000)
  await all().books(one.seller.id, 0, NET - 9_800)
  all().route.listsReversals = false
  await refund(one, 10_000)
  await all().refundedMinor(one.order.orderId, 20_000)
  // the answer to the reversal is enough to book it
  await all().books(one.seller.id, 0, NET - 19_600)
  await refund(one, 10_000)
  await all().refundedMinor(one.order.orderId, 30_000)
  await all().books(one.seller.id, 0, NET - 29_400)
  assert.deepEqual(reversalsOf(one), [9_800, 9_800, 9_800])
  all().route.listsReversals = true
  await lookNow(one)
  assert.deepEqual(await all().differences(), [])
})

test('what is below a rupee waits for the next refund, where Razorpay reverses no less', async () => {
  all().route.leastReversalPaise = 100
  const one = await all().sold()
  await refund(one, 100)
  await all().refundedMinor(one.order.orderId, 100)
  await all().books(one.seller.id, -98, NET)
  await refund(one)
  await all().refundedMinor(one.order.orderId, PRICE)
  await all().books(one.seller.id, 0, 0)
  assert.deepEqual(reversalsOf(one), [NET])
})

test('a lost dispute takes the seller’s part back, and a won one takes nothing', async () => {
  const [lost, won] = [await all().sold(), await all().sold()]
  const dispute = all().bank.openDispute(lost.order.paymentId)
  const other = all().bank.openDispute(won.order.paymentId)
  for (const one of [lost, won]) await all().shop.until(one.order.orderId, ({ status }) => status === 'disputed')
  assert.deepEqual(all().route.reversals.filter(({ transfer_id: id }) => [lost.transfer.id, won.transfer.id].includes(id)), []) // oxfmt-ignore
  all().bank.moveDispute(dispute.id, 'lost')
  all().bank.moveDispute(other.id, 'won')
  await all().shop.until(lost.order.orderId, ({ status }) => status === 'charged_back')
  await all().shop.until(won.order.orderId, ({ status }) => status === 'paid')
  await all().books(lost.seller.id, 0, 0)
  await all().books(won.seller.id, 0, NET)
  assert.deepEqual([reversalsOf(lost), reversalsOf(won)], [[NET], []])
  assert.deepEqual(await all().differences(), [])
})

test('a refund that Razorpay makes for a lost dispute takes the seller’s part back once, whichever is told first', async () => {
  const { bank } = all()
  const [lossFirst, refundFirst] = [await all().sold(), await all().sold()]
  const [first, second] = [lossFirst, refundFirst].map(({ order }) => bank.openDispute(order.paymentId).id as string)
  for (const one of [lossFirst, refundFirst]) await all().shop.until(one.order.orderId, ({ status }) => status === 'disputed') // oxfmt-ignore
  bank.moveDispute(first!, 'lost')
  bank.refundLoss(second!)
  await bank.delivered()
  bank.refundLoss(first!)
  bank.moveDispute(second!, 'lost')
  await bank.delivered()
  for (const one of [lossFirst, refundFirst]) {
    await all().books(one.seller.id, 0, 0)
    assert.deepEqual(reversalsOf(one), [NET])
    assert.equal(await all().matterOf('not_taken_back', one.order.orderId), undefined)
  }
  assert.deepEqual(await all().differences(), [])
})

/** The operator's matter of an order, as if the sale, or the last change of its sums, had been two days ago. */
async function ago(what: 'created_at' | 'changed_at', orderId: string, matter: string) {
  await sql`update passes set ${sql.ref(what)} = now() - interval '2 days' where order_id = ${orderId}`.execute(
    all().shop.db,
  )
  return all().matterOf(matter, orderId)
}

test('a lost dispute that the linked account cannot cover is the seller’s debt, and the operator reads of it', async () => {
  const one = await all().sold()
  await all().settled(one.seller.account)
  const dispute = all().bank.openDispute(one.order.paymentId)
  await all().shop.until(one.order.orderId, ({ status }) => status === 'disputed')
  all().bank.moveDispute(dispute.id, 'lost')
  await all().shop.until(one.order.orderId, ({ status }) => status === 'charged_back')
  await all().books(one.seller.id, -NET, NET)
  const matterAfter = (change: 'created_at' | 'changed_at') => ago(change, one.order.orderId, 'not_taken_back')
  assert.equal(await matterAfter('created_at'), undefined, 'the sale was long ago, and the loss just now')
  const matter = await matterAfter('changed_at')
  assert.match(matter.says, /489\.02/)
  assert.deepEqual(await all().differences(), [])
  // one job goes on trying, however often the order is looked at
  const found = async () => {
    const { rows } = await sql<{ looks: number; jobs: number }>`
      select looks, (select count(*)::int from pgboss.job where name = 'take_back' and data->>'orderId' = order_id
        and state in ('created', 'retry', 'active')) as jobs
      from passes where order_id = ${one.order.orderId}`.execute(all().shop.db)
    return rows[0]!
  }
  assert.equal((await found()).jobs, 1)
  // a look begins after the end of the one before
  for (let n = 0; n < 3; n++) {
    await lookNow(one)
    await eventually(found, ({ looks }) => looks === 1)
  }
  assert.equal((await found()).jobs, 1)
})

test('a transfer that fails is owed to the seller, is shown, and is passed on when Razorpay tries again', async () => {
  all().route.transfersBecome = 'failed'
  const seller = await all().selling()
  const order = await all().paid(seller)
  const transfer = all().route.of(order.razorpayOrder)[0]!
  await all().bank.delivered()
  assert.equal(await all().balanceOf(`seller:${seller.id}`), NET)
  const { rows } = await sql<{ state: string; failure: string }>`
    select state, failure from processor_transfers where order_id = ${order.orderId}`.execute(all().shop.db)
  assert.deepEqual(rows, [{ state: 'failed', failure: 'Transfer failed due to insufficient balance' }])
  const matterAfter = (change: 'created_at' | 'changed_at') => ago(change, order.orderId, 'not_passed_on')
  assert.equal(await matterAfter('created_at'), undefined)
  const matter = await matterAfter('changed_at')
  assert.match(matter.says, /489\.02.*insufficient balance/s)
  assert.deepEqual(await all().differences(), [])
  all().route.process(transfer.id)
  await all().books(seller.id, 0, NET)
  assert.equal(await all().matterOf('not_passed_on'), undefined)
  assert.deepEqual(await all().differences(), [])
})

test('a refund before the price has gone on needs nothing back, and what goes on later comes back', async () => {
  all().route.transfersBecome = 'failed'
  const seller = await all().selling()
  const order = await all().paid(seller)
  const transfer = all().route.of(order.razorpayOrder)[0]!
  await all().refund(seller, order.orderId)
  await all().refundedMinor(order.orderId, PRICE)
  assert.equal(transfer.amount_reversed, 0)
  all().route.process(transfer.id)
  await eventually(async () => transfer.amount_reversed, (back) => back === NET) // oxfmt-ignore
  await all().books(seller.id, 0, 0)
  assert.deepEqual(await all().differences(), [])
})

test('a transfer that the operator makes in the dashboard counts, and one to a stranger does not', async () => {
  all().route.transfersBecome = 'failed'
  const [seller, stranger] = [await all().selling(), await all().selling()]
  const order = await all().paid(seller)
  all().route.transferInDashboard(order.paymentId, seller.account, NET)
  await all().books(seller.id, 0, NET)
  assert.deepEqual(await all().differences(), [])
  const other = await all().paid(seller)
  all().route.transferInDashboard(other.paymentId, stranger.account, NET)
  await all().bank.delivered()
  assert.equal(await all().balanceOf(`seller:${seller.id}`), NET)
  const found = (await all().differences()).map((one) => (typeof one === 'string' ? one : one.what))
  assert.deepEqual(found, ['only_at_processor'])
  for (const one of all().route.of(other.paymentId)) all().route.transfers.delete(one.id)
})

test('a refund takes nothing back from an account that the operator has paid in the dashboard', async () => {
  const { seller, order } = await all().sold()
  const stranger = await all().selling()
  const [own] = all().route.of(order.razorpayOrder)
  const given = all().route.transferInDashboard(order.paymentId, stranger.account, 500)
  await all().refund(seller, order.orderId, 20_000)
  await all().refundedMinor(order.orderId, 20_000)
  await eventually(async () => own!.amount_reversed, (back) => back === 19_600) // oxfmt-ignore
  assert.equal(given.amount_reversed, 0)
  all().route.transfers.delete(given.id)
  await all().bank.delivered()
})

test('notifications that are late, doubled and out of order book once; lost ones are found', async () => {
  const seller = await all().selling()
  all().bank.notifying.when = 'held'
  const order = await all().shop.checkout({ productId: seller.productId })
  const payment = all().bank.pay(order.clientSecret!)
  all().bank.refundInDashboard(payment.id, { amount: 20_000 })
  await all().bank.sendHeld((held) => [...held.toReversed(), ...held])
  await all().refundedMinor(order.orderId, 20_000)
  await all().books(seller.id, 0, NET - 19_600)
  const kinds = (await all().shop.transfers(order.orderId)).map(({ kind }) => kind).toSorted()
  assert.deepEqual(kinds, ['fee', 'fee_refund', 'passed_back', 'passed_on', 'refund', 'sale'])

  all().route.transfersBecome = 'pending'
  all().bank.notifying.when = 'now'
  const lost = await all().paid(seller)
  all().bank.notifying.when = 'never'
  const transfer = all().route.of(lost.razorpayOrder)[0]!
  all().route.process(transfer.id)
  await lookNow({ seller, order: lost, transfer })
  await all().books(seller.id, 0, 2 * NET - 19_600)
  assert.deepEqual(await all().differences(), [])
})

test('a notification about a transfer or an account of somebody else changes nothing', async () => {
  const { seller, order } = await all().sold()
  const before = all().bank.notifications.length
  all().route.accounts.set('acc_Stranger000000', { id: 'acc_Stranger000000', type: 'route', status: 'created' })
  all().route.products.set('acc_prd_Stranger00', { id: 'acc_prd_Stranger00', account_id: 'acc_Stranger000000' })
  all().route.stand('acc_Stranger000000', 'activated')
  await all().settled(seller.account)
  await all().bank.delivered()
  const ids = new Set(
    all()
      .bank.notifications.slice(before)
      .map(({ id }) => id),
  )
  assert.deepEqual(
    [
      ...new Set(
        all()
          .bank.deliveries.filter(({ id }) => ids.has(id))
          .map(({ status }) => status),
      ),
    ],
    [200],
  )
  await all().books(seller.id, 0, NET)
  assert.equal((await all().shop.transfers(order.orderId)).length, 3)
})

test('a buyer gets the files also while Razorpay does not say what has gone on, and the books follow later', async () => {
  for (const fault of ['not_found', 'not_allowed', 'rate_limited', 'server_error', 'html', 'drop'] as const) {
    const seller = await all().selling()
    all().bank.break(/GET .*\/transfers/, fault, 99)
    const order = await all().paid(seller)
    assert.equal(await all().balanceOf(`seller:${seller.id}`), NET, fault)
    all().bank.works()
    await lookNow({ seller, order, transfer: all().route.of(order.razorpayOrder)[0]! })
    await all().books(seller.id, 0, NET)
  }
})

test('no refund goes out while Razorpay does not say what has gone on', async () => {
  const one = await all().sold()
  all().bank.break(/GET .*\/transfers/, 'server_error', 99)
  await refund(one)
  await eventually(async () => all().bank.requestsTo(new RegExp(`${one.order.paymentId}/transfers`)).length, (asked) => asked > 2) // oxfmt-ignore
  assert.deepEqual([reversalsOf(one), refundsOf(one)], [[], []])
  all().bank.works()
  await eventually(async () => (await all().hurry('refund'), refundsOf(one).length), (sent) => sent === 1) // oxfmt-ignore
  await all().refundedMinor(one.order.orderId, PRICE)
  await all().books(one.seller.id, 0, 0)
})

test('answers that name the status otherwise, or are of another form, are read right or not at all', async () => {
  const one = await all().sold()
  all().route.namesTransferStatus = true
  try {
    await refund(one, 10_000)
    await all().refundedMinor(one.order.orderId, 10_000)
  } finally {
    all().route.namesTransferStatus = false
  }
  await all().books(one.seller.id, 0, NET - 9_800)
  for (const fault of ['wrong_entity', 'wrong_amount', 'html', 'cut'] as const) {
    all().bank.break(/POST .*\/reversals/, fault)
    await refund(one, 1_000)
    const sent = refundsOf(one).length
    await eventually(
      async () => {
        await sql`update passes set taking_until = null where order_id = ${one.order.orderId}`.execute(all().shop.db)
        await all().hurry('refund')
        return refundsOf(one).length
      },
      (now) => now === sent + 1,
    )
  }
  await all().books(one.seller.id, 0, NET - 9_800 - 3_920)
  assert.equal(one.transfer.amount_reversed, 9_800 + 3_920)
})

test('the reconciliation finds a reversal that nobody told, and a transfer that is only here', async () => {
  const one = await all().sold()
  all().bank.notifying.when = 'never'
  one.transfer.amount_reversed = 500
  one.transfer.status = 'partially_reversed'
  const found = await all().differences()
  assert.deepEqual(
    found.map((each) => typeof each !== 'string' && [each.what, each.expectedMinor, each.foundMinor]),
    [['amount_differs', NET - 500, NET]],
  )
  one.transfer.amount_reversed = 0
  one.transfer.status = 'processed'
  all().route.transfers.delete(one.transfer.id)
  const gone = await all().differences()
  assert.deepEqual(gone.map((each) => typeof each !== 'string' && each.what), ['only_here']) // oxfmt-ignore
  all().route.transfers.set(one.transfer.id, one.transfer)
})

test('a refund and a lost dispute of more than 180 days come back from the linked account', async () => {
  const [sent, lost] = [await all().sold(), await all().sold()]
  for (const { order } of [sent, lost]) all().bank.tooOld.add(order.razorpayOrder)
  await refund(sent, 10_000)
  await all().refundedMinor(sent.order.orderId, 10_000)
  await all().books(sent.seller.id, 0, NET - 9_800)
  assert.deepEqual(reversalsOf(sent), [9_800])
  const { id } = all().bank.openDispute(lost.order.paymentId)
  await all().bank.delivered()
  all().bank.moveDispute(id, 'lost')
  await all().bank.delivered()
  await all().books(lost.seller.id, 0, 0)
  assert.deepEqual(reversalsOf(lost), [NET])
  assert.deepEqual(await all().differences(), [])
})

test('what Razorpay does not say about transfers is no difference: the reconciliation has not asked', async () => {
  const one = await all().sold()
  all().bank.notifying.when = 'never'
  all().bank.refundInDashboard(one.order.paymentId, { amount: 10_000 })
  all().bank.break(new RegExp(`payments/${one.order.paymentId}/transfers`), 'server_error', 99)
  const razorpay = (await all().openAll()).get('razorpay')!
  const { differences, notAsked } = await reconciliationOf(all().shop.databaseUrl, razorpay)
  assert.deepEqual([differences, notAsked.length], [[], 1])
  all().bank.works()
  // the refund of which no notification came
  const told = (await reconciliationOf(all().shop.databaseUrl, razorpay)).differences
  assert.deepEqual(told.map(({ what }) => what), ['only_at_processor']) // oxfmt-ignore
})
