import { sql } from 'kysely'
import { type Coming, batched } from '../../kit/batch.ts'
import {
  type Db,
  type Tx,
  changeTogether,
  inTransaction,
  isDatabaseOutage,
  genericPlanArray,
} from '../../kit/database.ts'
import { newId } from '../../kit/ids.ts'
import type { Jobs } from '../../kit/jobs.ts'
import { postings } from '../../ledger/transfers.ts'
import {
  inTimelines,
  lookWhileDisputed,
  moveOrders,
  noteRefunded,
  raiseRefunded,
  waitForBank,
} from '../../orders/move.ts'
import { renewHolds } from '../../orders/discounts/uses.ts'
import { newSales } from '../../orders/sale-mails.ts'
import { decide } from './decide.ts'
import type { Fact, Outcome } from './fact.ts'
import type { Effects, PaymentRecord } from './payment-record.ts'
import * as rows from './rows.ts'

export type Settle = (fact: Fact, how?: Coming) => Promise<Outcome>

/** So long may gather what no buyer waits for: processors wait five seconds and more to be answered. */
const GATHER_MS = 100

/**
 * The one way to become paid. Notifications, sync=1 and the reconciler all end here. In one transaction it locks the orders,
 * checks that the payments are those we started for them, decides what is new, and writes all of it: the order's state,
 * captures, refunds, disputes, the books, the timeline, the notification's id, and the mails and refunds to be made.
 * Facts that arrive together share that transaction.
 */
export function settler(db: Db, jobs: Jobs, { bankTtlHours }: { bankTtlHours: number }): Settle {
  return batched((facts: readonly Fact[]) => inTransaction(db, (tx) => settleAll(tx, jobs, bankTtlHours, facts)), {
    most: 32,
    atOnce: 2,
    gatherMs: GATHER_MS,
    isOutage: isDatabaseOutage,
  })
}

async function settleAll(tx: Tx, jobs: Jobs, bankTtlHours: number, facts: readonly Fact[]): Promise<Outcome[]> {
  const known = await lockKnown(tx, facts)
  const decided: { known: PaymentRecord; effects: Effects }[] = []
  const outcomes = facts.map((fact): Outcome => {
    const one = known.get(keyOf(fact.processor, fact.payment.processorPaymentId))
    if (!one) return 'unknown_payment'
    const effects = decide(one, fact.payment)
    decided.push({ known: one, effects })
    return isNothing(effects) ? 'repeat' : 'applied'
  })
  await findTooEarly(tx, facts, outcomes)

  const each = <T, R>(pick: (effects: Effects) => readonly T[], make: (item: T, known: PaymentRecord) => R): R[] =>
    decided.flatMap((one) => pick(one.effects).map((item) => make(item, one.known)))
  const orderIds = (chosen: (effects: Effects) => boolean) =>
    decided.filter((one) => chosen(one.effects)).map((one) => one.known.orderId)
  const totals = new Map(
    decided.flatMap(({ effects, known: { orderId } }) =>
      effects.refundedMinor === undefined ? [] : [[orderId, effects.refundedMinor] as const],
    ),
  )
  const refunded = Array.from(totals, ([orderId, refundedMinor]) => ({ orderId, refundedMinor }))
  const returns = each(
    (effects) => effects.returns,
    (one, { processor, orderId }) => ({ id: newId('ref'), processor, orderId, ...one }),
  )

  // an order is refunded only while its total says so: that one is raised before the move, and lowered after it
  await raiseRefunded(tx, refunded)
  await moveOrders(
    tx,
    each(
      (effects) => effects.moves,
      (move, { orderId }) => ({ orderId, ...move }),
    ),
  )
  await noteRefunded(tx, refunded)
  await waitForBank(
    tx,
    orderIds((effects) => effects.waitsForBank),
    bankTtlHours,
  )
  // a bank has said no to the buyer, or is at work
  await renewHolds(
    tx,
    orderIds(({ payment }) => payment?.state === 'open' || payment?.state === 'processing'),
  )
  await changeTogether(tx, [
    rows.newEvents(facts, outcomes),
    rows.changedPayments(
      each(
        (effects) => (effects.payment ? [effects.payment] : []),
        (one, { paymentId }) => ({ paymentId, ...one }),
      ),
    ),
    rows.newCaptures(
      each(
        (effects) => effects.captures,
        (one, { processor, paymentId, orderId }) => ({ processor, paymentId, orderId, ...one }),
      ),
    ),
    inTimelines(
      each(
        (effects) => effects.timeline,
        (what, { orderId }) => ({ orderId, what }),
      ),
    ),
    postings(
      each(
        (effects) => effects.transfers,
        (transfer) => transfer,
      ),
    ),
    newSales(decided.filter(({ effects }) => isToldSale(effects)).map(({ known }) => ({ ...known, isFree: false }))),
  ])
  await rows.writeReturns(tx, returns)
  await rows.writeRefunds(
    tx,
    each(
      (effects) => effects.refunds,
      (one, { processor, orderId }) => ({ newId: newId('ref'), processor, orderId, ...one }),
    ),
  )
  await rows.writeDisputes(
    tx,
    each(
      (effects) => effects.disputes,
      (one, { processor, orderId }) => ({ processor, orderId, ...one }),
    ),
  )
  // a dispute can be open where the order has no move for it, or ends by another: a refund of all, a first dispute that is lost
  await lookWhileDisputed(
    tx,
    orderIds(({ disputes, refunds }) => disputes.length + refunds.length > 0),
  )
  await jobs.add(
    tx,
    'mail',
    each(
      (effects) => effects.mails,
      (news, { orderId }) => ({ data: { orderId, ...news } }),
    ),
  )
  await jobs.add(
    tx,
    'close_payment',
    decided.flatMap(({ effects, known: { processor, processorPaymentId } }) =>
      effects.closes ? [{ data: { processor, processorPaymentId } }] : [],
    ),
  )
  await jobs.add(
    tx,
    'refund',
    returns.map(({ id }) => ({ data: { refundId: id } })),
  )
  return outcomes
}

const keyOf = (processor: string, processorPaymentId: string): string => `${processor} ${processorPaymentId}`

/** Locks the orders the facts are about, in the order of their ids so that two rounds never wait for each other, and reads what we know. */
async function lockKnown(tx: Tx, facts: readonly Fact[]): Promise<Map<string, PaymentRecord>> {
  const processors = facts.map((fact) => fact.processor)
  const payments = facts.map((fact) => fact.payment.processorPaymentId)
  await sql`
    select 1 from orders where id in (
      select p.order_id from payments p
      join unnest(${genericPlanArray(processors, 'text')}, ${genericPlanArray(payments, 'text')}) as f(processor, id) on f.processor = p.processor and f.id = p.processor_payment_id)
    order by id for update`.execute(tx)
  // read after the lock was had: what another round has just committed is in this statement's view
  const found = await sql<PaymentRecord>`
    select o.id as "orderId", o.seller_id as "sellerId", o.state, o.amount_minor as "amountMinor", o.currency,
      o.fee_minor as "feeMinor", o.refunded_minor as "refundedMinor",
      p.id as "paymentId", p.processor, p.processor_payment_id as "processorPaymentId", p.state as "paymentState", p.declines,
      (select coalesce(json_agg(json_build_object('id', c.processor_capture_id, 'purpose', c.purpose, 'amountMinor', c.amount_minor, 'currency', c.currency)), '[]')
        from captures c where c.order_id = o.id) as captures,
      (select coalesce(json_agg(json_build_object('id', r.processor_refund_id, 'key', r.id, 'amountMinor', r.amount_minor,
          'captureId', r.processor_capture_id, 'state', r.state)), '[]')
        from refunds r where r.order_id = o.id) as refunds,
      (select coalesce(json_agg(json_build_object('id', d.processor_dispute_id, 'captureId', d.processor_capture_id, 'amountMinor', d.amount_minor, 'state', d.state,
          'lostMinor', case when d.state = 'lost' then coalesce(d.lost_minor, d.amount_minor) else 0 end)), '[]')
        from disputes d where d.order_id = o.id) as disputes
    from unnest(${genericPlanArray(processors, 'text')}, ${genericPlanArray(payments, 'text')}) as f(processor, id)
    join payments p on p.processor = f.processor and p.processor_payment_id = f.id
    join orders o on o.id = p.order_id`.execute(tx)
  return new Map(found.rows.map((one) => [keyOf(one.processor, one.processorPaymentId), one]))
}

/** A notification can overtake our own note of the payment's id: where the order it names has such a payment, it is early, not unknown. */
async function findTooEarly(tx: Tx, facts: readonly Fact[], outcomes: Outcome[]): Promise<void> {
  const named = facts.flatMap(({ processor, payment: { orderId } }, at) =>
    outcomes[at] === 'unknown_payment' && orderId ? [{ at, processor, orderId }] : [],
  )
  if (named.length === 0) return
  // starting, or noted since we looked: either way it is ours, and it will be found when it comes again
  const { rows: ours } = await sql<{ at: number }>`
    select n.at from unnest(
      ${named.map(({ at }) => at)}::int[], ${named.map(({ processor }) => processor)}::text[],
      ${named.map(({ orderId }) => orderId)}::text[], ${named.map(({ at }) => facts[at]!.payment.processorPaymentId)}::text[])
      as n(at, processor, order_id, payment)
    where exists (select from payments p where p.order_id = n.order_id and p.processor = n.processor
      and (p.state = 'starting' or p.processor_payment_id = n.payment))`.execute(tx)
  for (const { at } of ours) outcomes[at] = 'too_early'
}

/** A sale of which the seller is not told otherwise: one that came late has a mail of its own. */
const isToldSale = ({ moves, mails }: Effects): boolean =>
  moves.some(({ move }) => move === 'pay') && !mails.some(({ kind }) => kind === 'seller_paid_late')

const isNothing = ({ moves, payment, captures, refunds, disputes, timeline, transfers }: Effects): boolean =>
  !payment && [moves, captures, refunds, disputes, timeline, transfers].every((list) => list.length === 0)
