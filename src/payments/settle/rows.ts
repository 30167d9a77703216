import { type RawBuilder, sql } from 'kysely'
import type { Change, Tx } from '../../kit/database.ts'
import { genericPlanArray } from '../../kit/plans.ts'
import type { CapturePurpose, Effects } from './payment-record.ts'
import type { Capture, DisputeFact, PaymentSnapshot, ProcessorEvent } from '../../processors/processor.ts'
import type { TransferFact } from '../../processors/seller-accounts.ts'
import type { Fact, Outcome, RecordedAs } from './fact.ts'

// Writes the tables of this slice, a list at a time. Stored events keep their outcome; the other rows take their new state.

/** `field` of every item, as one array parameter. */
const column = <Item, K extends keyof Item>(items: readonly Item[], field: K): (Item[K] | null)[] =>
  items.map((item) => item[field] ?? null)

/** Those that came too early must look new next time. */
export const newEvents = (facts: readonly Fact[], outcomes: readonly Outcome[]): Change =>
  storedEvents(
    facts.flatMap(({ processor, payment, event }, at) => {
      const outcome = outcomes[at]!
      return event && outcome !== 'too_early'
        ? [{ processor, event, outcome, paymentId: payment.processorPaymentId }]
        : []
    }),
  )

interface StoredEvent {
  processor: string
  event: Pick<ProcessorEvent, 'id' | 'type' | 'isBackfilled'>
  outcome: Outcome | RecordedAs
  paymentId?: string
}

/**
 * Stores each event once. A notification about an event that only the backfill had found removes the mark of the backfill:
 * otherwise a webhook that works could look silent.
 */
export function storedEvents(events: readonly StoredEvent[]): RawBuilder<unknown> | undefined {
  const byId = new Map<string, StoredEvent>()
  for (const one of events) {
    const key = `${one.processor} ${one.event.id}`
    const first = byId.get(key)
    if (!first) byId.set(key, one)
    else if (!one.event.isBackfilled) byId.set(key, { ...first, event: one.event })
  }
  if (byId.size === 0) return undefined
  // sorted, so that two transactions with the same events never wait for each other
  const sorted = [...byId.values()].sort((a, b) => (a.event.id < b.event.id ? -1 : 1))
  return sql`
    insert into processor_events (processor, event_id, type, processor_payment_id, outcome, backfilled)
    select * from unnest(
      ${column(sorted, 'processor')}::text[], ${sorted.map(({ event }) => event.id)}::text[], ${sorted.map(({ event }) => event.type)}::text[],
      ${column(sorted, 'paymentId')}::text[], ${column(sorted, 'outcome')}::text[],
      ${sorted.map(({ event }) => event.isBackfilled ?? false)}::boolean[])
    on conflict (processor, event_id) do update set backfilled = false
      where processor_events.backfilled and not excluded.backfilled`
}

export function changedPayments(
  payments: readonly { paymentId: string; state: PaymentSnapshot['state']; declines: number }[],
): Change {
  // if a payment changes several times, the last change holds
  const last = [...new Map(payments.map((one) => [one.paymentId, one])).values()]
  if (last.length === 0) return undefined
  return sql`
    update payments p set state = n.state, declines = n.declines
    from unnest(${genericPlanArray(column(last, 'paymentId'), 'text')}, ${genericPlanArray(column(last, 'state'), 'text')}, ${genericPlanArray(column(last, 'declines'), 'int')}) as n(id, state, declines)
    where p.id = n.id`
}

export function newCaptures(
  captures: readonly (Capture & { processor: string; paymentId: string; orderId: string; purpose: CapturePurpose })[],
): Change {
  if (captures.length === 0) return undefined
  return sql`
    insert into captures (processor, processor_capture_id, payment_id, order_id, purpose, amount_minor, currency, rail, captured_at)
    select * from unnest(
      ${column(captures, 'processor')}::text[], ${column(captures, 'id')}::text[], ${column(captures, 'paymentId')}::text[],
      ${column(captures, 'orderId')}::text[], ${column(captures, 'purpose')}::text[], ${column(captures, 'amountMinor')}::bigint[],
      ${column(captures, 'currency')}::text[], ${column(captures, 'rail')}::text[], ${column(captures, 'capturedAt')}::timestamptz[])`
}

/** Writes the refunds that the job `refund` will ask the processor for. */
export async function writeReturns(
  tx: Tx,
  returns: readonly { id: string; processor: string; orderId: string; captureId: string; amountMinor: number }[],
): Promise<void> {
  if (returns.length === 0) return
  await sql`
    insert into refunds (id, processor, processor_capture_id, order_id, amount_minor, reason, state)
    select id, processor, capture, order_id, amount, 'duplicate', 'requested' from unnest(
      ${column(returns, 'id')}::text[], ${column(returns, 'processor')}::text[], ${column(returns, 'captureId')}::text[],
      ${column(returns, 'orderId')}::text[], ${column(returns, 'amountMinor')}::bigint[]) as r(id, processor, capture, order_id, amount)`.execute(
    tx,
  )
}

/** Writes refunds that succeeded or failed: ours, which are found by our id, and those from the processor's dashboard. */
export async function writeRefunds(
  tx: Tx,
  refunds: readonly (Effects['refunds'][number] & { newId: string; processor: string; orderId: string })[],
): Promise<void> {
  // one after the other, in the order of the decisions: there are few, and two can change the same row
  for (const { id, processor, captureId, orderId, amountMinor, row = null, newId, state = 'succeeded' } of refunds) {
    const { rows } = await sql`
      update refunds set state = ${state}, processor_refund_id = ${id}, amount_minor = ${amountMinor}
      where order_id = ${orderId} and ((processor = ${processor} and processor_refund_id = ${id})
        or (id = ${row} and processor_refund_id is null))
      returning id`.execute(tx)
    if (rows.length > 0) continue
    await sql`
      insert into refunds (id, processor, processor_capture_id, processor_refund_id, order_id, amount_minor, reason, state)
      values (${newId}, ${processor}, ${captureId}, ${id}, ${orderId}, ${amountMinor}, 'processor', ${state})`.execute(
      tx,
    )
  }
}

/** Writes the processor's transfers. A transfer that has passed stays so, and the amount that is back only grows. */
export async function writeTransfers(
  tx: Tx,
  transfers: readonly (TransferFact & { processor: string; orderId: string })[],
): Promise<void> {
  for (const one of transfers)
    await sql`
      insert into processor_transfers as t (processor, processor_transfer_id, order_id, state, amount_minor, currency, reversed_minor,
        failure, settlement, made_at)
      values (${one.processor}, ${one.id}, ${one.orderId}, ${one.state}, ${one.amountMinor}, ${one.currency}, ${one.reversedMinor},
        ${one.failure ?? null}, ${one.settlement ?? null}, ${one.madeAt})
      on conflict (processor, processor_transfer_id) do update set
        state = case when t.state = 'passed' then 'passed' else excluded.state end, amount_minor = excluded.amount_minor,
        reversed_minor = greatest(t.reversed_minor, excluded.reversed_minor), failure = excluded.failure,
        settlement = coalesce(excluded.settlement, t.settlement)`.execute(tx)
}

/**
 * When the due or the passed amount changes, `look_at` plans another look, because the next notification may be lost. Of several facts
 * about an order the last one counts. Call this after writeTransfers(), whose rows give the passed amount.
 */
export async function writePasses(tx: Tx, passes: readonly { orderId: string; dueMinor: number }[]): Promise<void> {
  for (const { orderId, dueMinor } of passes)
    await sql`
      insert into passes (order_id, due_minor, passed_minor)
      select ${orderId}, ${dueMinor}, coalesce(sum(amount_minor - reversed_minor), 0)
      from processor_transfers where order_id = ${orderId} and state = 'passed'
      on conflict (order_id) do update set due_minor = excluded.due_minor, passed_minor = excluded.passed_minor, changed_at = now(),
        look_at = now() + interval '1 minute', looks = 0`.execute(tx)
}

export async function writeDisputes(
  tx: Tx,
  disputes: readonly (DisputeFact & { processor: string; orderId: string })[],
): Promise<void> {
  for (const dispute of disputes) {
    await sql`
      insert into disputes (processor, processor_dispute_id, processor_capture_id, order_id, amount_minor, state, lost_minor, respond_by)
      values (${dispute.processor}, ${dispute.id}, ${dispute.captureId}, ${dispute.orderId}, ${dispute.amountMinor}, ${dispute.state},
        ${dispute.lostMinor ?? null}, ${dispute.respondBy ?? null})
      on conflict (processor, processor_dispute_id) do update set state = excluded.state, lost_minor = excluded.lost_minor,
        respond_by = coalesce(excluded.respond_by, disputes.respond_by)`.execute(tx)
  }
}
