import { setTimeout as sleep } from 'node:timers/promises'
import type { State } from '../../src/orders/states.ts'
import type { Order } from './books.ts'
import type { Random } from './random.ts'
import type { Run } from './run.ts'
import { decideRefund } from './banks.ts'
import { checkAnswer } from './buyers.ts'
import { type BankPayment, stripeBanks } from './bank-records.ts'
import { lookNow } from './route.ts'
import { type Notification, notificationsOf } from './environment.ts'

// The storm is over: everything works, late notifications arrive or never do, and our own jobs run. Then the books must match the
// banks, and nothing may be left waiting.

/** Failures after this would repeat for ever. */
const MOST_TRIES = 300
/** Soon at first, then as long as a job may take on a busy machine: 45 s for all tries of the jobs. */
const PAUSE_MS = { first: 10, growth: 1.3, most: 150 }
const pauseMs = (tries: number): number => Math.min(PAUSE_MS.first * PAUSE_MS.growth ** tries, PAUSE_MS.most)
const NOTIFICATIONS_AT_ONCE = 4
/** A notification that the service refuses as often as this, for 3 s or more, is refused for ever. */
const MOST_DELIVERIES = 30
/** A job of a dead service counts as lost after this time, which grows with each look, because a busy machine is slow. */
const LOST_AFTER_MS = 1_500

export async function settleDown(run: Run, random: Random): Promise<string> {
  const { world } = run
  await world.calm()
  // for a day Stripe repeats a failure of its own, and the result of that request is not known for sure
  world.stripe.forgetKeys()
  // by now every bank has decided
  while (decideRefund(run, random)) await world.delivered()
  for (const bank of stripeBanks(world.stripe)) bank.returnLate()
  const picked = random.pick(['told', 'looked', 'both'] as const)
  // Stripe sends no events of an account without access, and does not make up for them: only a look finds changes of that time
  const ending = picked === 'told' && run.lostAccounts.size > 0 ? 'both' : picked
  if (ending !== 'looked') await deliverAll(run, random)
  await endTransfers(run)
  for (let i = 0; i < 2; i++) {
    // an order with all its notifications has nothing due
    await world.client.query(
      `update orders set due_at = now() - interval '1 second'
       where id in (select id from orders where email = $1 and ($2 or due_at is not null) order by id for update)`,
      [run.email, ending !== 'told'],
    )
    await world.syncDue({ tries: 20 })
    if (world.way === 'razorpay-route') await lookNow(run)
    await drainJobs(run)
    await world.delivered()
  }
  if (world.way === 'stripe-connect') await world.account.read()
  return ending
}

/** Razorpay has decided about the transfers that wait, and the linked account can give back the money that is asked of it. */
async function endTransfers(run: Run): Promise<void> {
  const { way, account, razorpay } = run.world
  const id = way === 'razorpay-route' ? await account.id() : undefined
  if (id === undefined) return
  razorpay.route.fill(id)
  for (const { id: transfer, status } of razorpay.route.transfers.values())
    if (status === 'pending') {
      run.latePasses.add(transfer)
      razorpay.route.process(transfer)
    }
}

/** All notifications that were never taken, and some of the others again, in any order, each until it is taken. */
async function deliverAll(run: Run, random: Random): Promise<void> {
  const { stripe, razorpay } = run.world
  const taken = new Set(
    [...stripe.deliveries, ...razorpay.deliveries].flatMap(({ id, status }) => (status === 200 ? [id] : [])),
  )
  let left = random.shuffled(notificationsOf(run)).filter(({ id }) => !taken.has(id) || random.chance(0.2))
  for (let tries = 0; left.length > 0 && tries < MOST_DELIVERIES; tries++) {
    if (tries > 0) await sleep(pauseMs(tries))
    const again: Notification[] = []
    for (let at = 0; at < left.length; at += NOTIFICATIONS_AT_ONCE)
      await Promise.all(
        left.slice(at, at + NOTIFICATIONS_AT_ONCE).map(async (notification) => {
          if ((await notification.send()) !== 200) again.push(notification)
        }),
      )
    left = again
  }
  if (left.length > 0) run.problems.push(`refused for ever: ${left.map(({ type }) => type).join(', ')}`)
}

/** Jobs that are put off, or wait for another try, get it now. Jobs that the service changes at this moment are left to the next look. */
export async function drainJobs({ world: { client, wake }, email }: Run): Promise<void> {
  const waiting = async () =>
    (
      await client.query<{ id: string; name: string; state: string; output: unknown }>(
        `select j.id, j.name, j.state, j.output from (
           select id, name, state::text, output, data from pgboss.job where state in ('created', 'retry', 'active')
           union all select id, queue, 'active', null, data from begun_jobs) j
         where j.name in ('mail', 'refund', 'take_back', 'return_fee')
           and (j.data->>'orderId' in (select id from orders where email = $1)
             or j.data->>'refundId' in (select r.id from refunds r join orders o on o.id = r.order_id where o.email = $1))`,
        [email],
      )
    ).rows
  for (let tries = 0; ; tries++) {
    const left = await waiting()
    if (left.length === 0) return
    if (tries > MOST_TRIES) throw new Error(`jobs wait for ever: ${JSON.stringify(left)}`)
    const lostAfterMs = LOST_AFTER_MS + tries * PAUSE_MS.most
    await client.query(
      `select store_begun_jobs(array(
         select id from begun_jobs where id = any($1) and begun_at < now() - $2::int * interval '1 millisecond'))`,
      [left.map(({ id }) => id), lostAfterMs],
    )
    await client.query(
      `update pgboss.job set start_after = now() - interval '1 second', state = case when state = 'active' then 'retry' else state end
       where id in (select id from pgboss.job where id = any($1)
         and (state <> 'active' or started_on < now() - $2::int * interval '1 millisecond') for update skip locked)`,
      [left.map(({ id }) => id), lostAfterMs],
    )
    // the pause is over, and so is the request of the try before it
    await client.query(
      `update refunds set asked_at = asked_at - interval '2 minutes'
       where id in (select data->>'refundId' from pgboss.job where id = any($1) and state = 'retry' and name = 'refund')`,
      [left.map(({ id }) => id)],
    )
    await client.query(
      `update passes set taking_until = null
       where order_id in (select id from orders where email = $1) and taking_until < now() + interval '58 seconds'`,
      [email],
    )
    for (const queue of new Set(left.map(({ name }) => name))) await wake(queue)
    await sleep(pauseMs(tries))
  }
}

/**
 * `refused`: the processor may have refused payments for good, while the seller's account took none. Then no payment begins, and the order
 * expires.
 */
export function problemsAtTheEnd(order: Order, truth: readonly BankPayment[], { refused = false } = {}): string[] {
  const captures = truth.flatMap((payment) => payment.captures.map((one) => ({ ...one, payment })))
  const refunds = truth.flatMap((payment) => payment.refunds)
  const disputes = truth.flatMap((payment) => payment.disputes)
  const sum = (items: readonly { amountMinor: number }[]) => items.reduce((all, one) => all + one.amountMinor, 0)
  const ids = (items: readonly { id: string | null; state?: string }[]) =>
    items
      .map(({ id, state = '' }) => `${id} ${state}`)
      .sort()
      .join(', ')
  const made = refunds.filter(({ state }) => state === 'succeeded')
  const backOf = (id: string) => sum(refunds.filter(({ captureId, state }) => captureId === id && state !== 'failed'))
  const same = (what: string, ours: string, theirs: string) =>
    ours === theirs ? [] : [`${what}: in the books ${ours || 'none'}, at the bank ${theirs || 'none'}`]

  const wanted = stateByTruth(order, truth)
  const processor = sum(order.transfers.filter(({ debit }) => debit.startsWith('processor:')))
  const returned = sum(order.transfers.filter(({ credit }) => credit.startsWith('processor:')))
  const atBank = sum(captures) - sum(made) - disputes.reduce((all, { lostMinor }) => all + lostMinor, 0)
  return [
    ...same('captures', ids(order.captures), ids(captures.map(({ id }) => ({ id })))),
    ...same('refunds', ids(order.refunds.filter(({ state }) => state === 'succeeded')), ids(made)),
    ...same('disputes', ids(order.disputes), ids(disputes)),
    ...same('money at the processor', String(processor - returned), String(atBank)),
    ...(wanted.includes(order.state) ? [] : [`it is ${order.state}, and by the banks ${wanted.join(' or ')}`]),
    ...order.captures
      .filter(({ purpose, id, amountMinor }) => purpose === 'duplicate' && backOf(id) < amountMinor)
      // the buyer's bank has said that this money cannot be sent back
      .filter(({ id }) => !refunds.some(({ captureId, state }) => captureId === id && state === 'failed'))
      // nor money that the bank may already take back: the seller gets a mail
      .filter(
        ({ id }) =>
          !disputes.some(({ captureId }) => captureId === id) ||
          !order.refunds.some(({ captureId, state }) => captureId === id && state === 'failed'),
      )
      .map(({ id }) => `the second capture ${id} did not go back`),
    ...order.payments
      .filter(({ state }) => state === 'starting' && !(refused && order.state === 'expired'))
      .map(({ id, processor }) => `payment ${id} at ${processor} was never started, and the order is ${order.state}`),
    ...order.refunds
      .filter(({ state, key }) => state === 'requested' && !refunds.some((one) => one.key === key))
      .filter(({ captureId }) => backOf(captureId) < (captures.find(({ id }) => id === captureId)?.amountMinor ?? 0))
      .map(({ key }) => `refund ${key} was never made`),
    ...(order.receipts === order.receiptJobs ? [] : [`${order.receipts} of ${order.receiptJobs} receipts were sent`]),
  ].map((problem) => `${order.id}, at the end: ${problem}`)
}

/** How the order stands, by the money alone. */
export function stateByTruth(order: Order, truth: readonly BankPayment[]): State[] {
  const captures = truth.flatMap((payment) => payment.captures)
  if (order.amountMinor === 0) return ['paid']
  if (captures.length === 0) {
    if (truth.some(({ atWork }) => atWork)) return ['processing', 'expired']
    return ['pending', 'processing', 'expired']
  }
  const fits = captures.filter((one) => one.amountMinor === order.amountMinor && one.currency === order.currency)
  const sale = order.captures.find(({ purpose }) => purpose === 'sale')
  // whichever was reported first: money that does not match waits for a person, and money that comes then waits too
  if (!sale) return fits.length < captures.length ? ['needs_review'] : ['paid']
  const ofSale = ({ captureId }: { captureId: string }) => captureId === sale.id
  const refunded = truth
    .flatMap(({ refunds }) => refunds)
    .filter((one) => ofSale(one) && one.state === 'succeeded')
    .reduce((all, { amountMinor }) => all + amountMinor, 0)
  const disputes = truth.flatMap(({ disputes }) => disputes).filter(ofSale)
  const back = refunded + disputes.reduce((all, { lostMinor }) => all + lostMinor, 0)
  if (refunded === order.amountMinor) return ['refunded']
  if (back >= order.amountMinor) return ['charged_back']
  if (disputes.some(({ state }) => state === 'open')) return ['disputed']
  return [back > 0 ? 'partially_refunded' : 'paid']
}

/** The mails and pages that the buyer of each order gets. */
export async function checkLinks(run: Run): Promise<void> {
  for (const { orderId } of run.orders)
    for (const email of [run.email, '']) {
      const { status, body } = await run.call('GET', `/api/checkout/${orderId}/status?email=${email}`)
      if (status === 200) checkAnswer(run, body, email !== '')
      else run.problems.push(`${orderId}: its status is answered with ${status}`)
    }
}
