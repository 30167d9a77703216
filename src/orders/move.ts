import { sql } from 'kysely'
import assert from 'node:assert/strict'
import { compiledOnce } from '../kit/compiled.ts'
import { type Change, type Db, type Tx, changeTogether } from '../kit/database.ts'
import { genericPlanArray } from '../kit/plans.ts'
import type { EventType } from '../events/event-types.ts'
import { writtenEvents } from '../events/record.ts'
import { newId } from '../kit/ids.ts'
import { HOLD_MINUTES, countHeldDiscounts, hasLimitedCode } from './discounts/uses.ts'
import type { Rail } from '../processors/rails.ts'
import { ORDER_COLUMNS } from './seller-view.ts'
import { MOVES, type Move, type State } from './states.ts'

/** After a bank has said no, the buyer has this long to read the mail about it. */
const AGAIN_HOURS = 24

export interface OrderMove {
  orderId: string
  move: Move
  rail?: Rail | undefined
  /** ISO 8601: when the money arrived. */
  paidAt?: string | undefined
  /** The total of all refunds, where the move changes it: the schema allows a refunded state only with a matching total. */
  refundedMinor?: number | undefined
  /** The refund that the move's event is about: our id or the processor's. Its row is written before. */
  refundId?: string | undefined
}

interface OrderEvent {
  orderId: string
  type: EventType
  refundId?: string | undefined
}

/** The reconciler looks at an expired order once more after this time, because a bank can still say yes. */
const LAST_LOOK_DAYS = 3
/** After a payment a second capture, a refund or a dispute can follow, and its notification can be lost. */
const LOOK_AFTER_MONEY_SECONDS = 3600

type MoveColumn =
  | 'ids'
  | 'froms'
  | 'tos'
  | 'rails'
  | 'paidAts'
  | 'refundedMinors'
  | 'eventIds'
  | 'eventTypes'
  | 'refundIds'

const applyMoves = compiledOnce<Record<MoveColumn, readonly (string | null)[]>, { id: string; hasDiscount: boolean }>(
  (given) => {
    const texts = (name: MoveColumn) => genericPlanArray(given(name), 'text')
    return sql`
    with moved as (
      update orders o set
        state = m.to,
        rail = coalesce(m.rail, o.rail),
        paid_at = coalesce(o.paid_at, m.paid_at),
        refunded_minor = coalesce(m.refunded_minor, o.refunded_minor),
        event_count = o.event_count + 1,
        due_at = case
          when m.to = 'processing' then o.due_at
          when m.to = 'expired' then now() + make_interval(days => ${LAST_LOOK_DAYS})
          when m.to in ('refunded', 'charged_back') or o.amount_minor = 0 then null
          else now() + make_interval(secs => ${LOOK_AFTER_MONEY_SECONDS}) end
      from unnest(
        ${texts('ids')}, ${texts('froms')}, ${texts('tos')}, ${texts('rails')}, ${texts('paidAts')}::timestamptz[],
        ${texts('refundedMinors')}::bigint[], ${texts('eventIds')}, ${texts('eventTypes')}, ${texts('refundIds')})
        as m(id, "from", "to", rail, paid_at, refunded_minor, event_id, event_type, refund_id)
      where o.id = m.id and o.state = any(string_to_array(m."from", ','))
      returning ${EVENT_OF_ORDER}, o.discount_id is not null as has_discount),
    ${writtenEvents(sql`select ${EVENT_COLUMNS} from moved`)}
    select order_id as id, has_discount as "hasDiscount" from moved`
  },
)

/**
 * Moves locked orders, each by one guarded UPDATE of the table of moves, and writes the event of each move in the same statement. The
 * caller has locked them and decided, so another state than the move's is impossible. The reconciler no longer looks at orders that are
 * done or free. The caller writes payments and disputes first, because the events show them.
 */
export async function moveOrders(tx: Tx, moves: readonly OrderMove[]): Promise<void> {
  // one order can make several moves at once (paid, then refunded): each round holds one move of each order, so the sequence is kept
  for (const round of rounds(moves)) {
    const texts = (pick: (one: OrderMove) => string | undefined) => round.map((one) => pick(one) ?? null)
    const rows = await applyMoves(tx, {
      ids: texts((one) => one.orderId),
      froms: texts((one) => MOVES[one.move].from.join(',')),
      tos: texts((one) => MOVES[one.move].to),
      rails: texts((one) => one.rail),
      paidAts: texts((one) => one.paidAt),
      refundedMinors: texts((one) => one.refundedMinor?.toString()),
      eventIds: texts(() => newId('evt')),
      eventTypes: texts((one) => MOVES[one.move].event),
      refundIds: texts((one) => one.refundId),
    })
    assert.equal(rows.length, round.length, 'an order was not where its move begins')
    await countHeldDiscounts(
      tx,
      rows.flatMap(({ id, hasDiscount }) => (hasDiscount ? [id] : [])),
    )
  }
}

/** Writes events of locked orders that stay in their state. */
export async function recordOrderEvents(tx: Tx, events: readonly OrderEvent[]): Promise<void> {
  for (const round of rounds(events)) {
    await sql`
      with changed as (
        update orders o set event_count = o.event_count + 1
        from unnest(
          ${round.map((one) => one.orderId)}::text[], ${round.map(() => newId('evt'))}::text[], ${round.map((one) => one.type)}::text[],
          ${round.map((one) => one.refundId ?? null)}::text[])
          as m(id, event_id, event_type, refund_id)
        where o.id = m.id
        returning ${EVENT_OF_ORDER}),
      ${writtenEvents(sql`select ${EVENT_COLUMNS} from changed`)}
      select`.execute(tx)
  }
}

const EVENT_COLUMNS = sql`event_id, seller_id, event_type, order_id, sequence, data`
/** The event `m` of an order `o`, with the order as its seller sees it at this moment. */
const EVENT_OF_ORDER = sql`
  m.event_id, o.seller_id, m.event_type, o.id as order_id, o.event_count as sequence,
  (select to_jsonb(shown) from (select ${ORDER_COLUMNS}) shown) ||
    case when m.refund_id is null then '{}' else coalesce((
      select jsonb_build_object('refund', jsonb_build_object('id', r.id, 'amountMinor', r.amount_minor))
      from refunds r where r.order_id = o.id and m.refund_id in (r.id, r.processor_refund_id)
      order by r.id = m.refund_id desc limit 1), '{}') end as data`

/** Moves one order if its state allows it. Undefined: the order is there already, or another move came first. */
export async function moveOrderIfAllowed(tx: Tx, orderId: string, move: Move): Promise<State | undefined> {
  const { rows } = await sql<{ state: State }>`select state from orders where id = ${orderId} for update`.execute(tx)
  if (!rows[0] || !(MOVES[move].from as readonly State[]).includes(rows[0].state)) return undefined
  await moveOrders(tx, [{ orderId, move }])
  return MOVES[move].to
}

/**
 * Expires an order whose time is over, and returns whether it did. It checks the time again under the lock: if the buyer came back
 * since the reconciler claimed the order, the order has more time.
 */
export async function expireIfOver(tx: Tx, orderId: string): Promise<boolean> {
  const { rows } = await sql`
    select from orders where id = ${orderId} and expires_at <= now() for update`.execute(tx)
  return rows.length > 0 && (await moveOrderIfAllowed(tx, orderId, 'expire')) !== undefined
}

/** Gives a locked order whose time is over some more minutes. The reconciler looks at it after them. */
export async function postponeExpiry(tx: Tx, orderId: string, minutes: number): Promise<void> {
  await sql`
    update orders set expires_at = now() + make_interval(mins => ${minutes}), due_at = now() + make_interval(mins => ${minutes})
    where id = ${orderId} and state in ('pending', 'processing') and expires_at <= now()`.execute(tx)
}

/**
 * Ends the reconciler's looks at an order, unless a look other than the one at `dueAt` has been planned since, or the order is still open.
 */
export async function endLooks(db: Db, { id, dueAt }: { id: string; dueAt: string }): Promise<void> {
  await sql`
    update orders set due_at = null
    where id = ${id} and due_at = ${dueAt}::timestamptz and state not in ('pending', 'processing')`.execute(db)
}

/** Plans a look at those of the locked orders that have an open dispute, also when they have reached their last state. */
export async function lookWhileDisputed(tx: Tx, orderIds: readonly string[]): Promise<void> {
  if (orderIds.length === 0) return
  await sql`
    update orders o set due_at = now() + make_interval(secs => ${LOOK_AFTER_MONEY_SECONDS})
    where id = any(${orderIds}) and exists (select from disputes d where d.order_id = o.id and d.state = 'open')`.execute(
    tx,
  )
}

interface TimelineEvent {
  orderId: string
  what: string
}

/** Writes events into the orders' timelines. */
export const noteEvents = (tx: Tx, events: readonly TimelineEvent[]): Promise<void> =>
  changeTogether(tx, [inTimelines(events)])

export function inTimelines(events: readonly TimelineEvent[]): Change {
  if (events.length === 0) return undefined
  return sql`
    insert into order_events (order_id, what)
    select * from unnest(${events.map((one) => one.orderId)}::text[], ${events.map((one) => one.what)}::text[])`
}

/** Moves the expiry of orders that wait for a bank to `hours` after they were made. One that a recall has ended stays ended. */
export async function waitForBank(tx: Tx, orderIds: readonly string[], hours: number): Promise<void> {
  if (orderIds.length === 0) return
  await sql`
    update orders set expires_at = greatest(expires_at, created_at + make_interval(hours => ${hours}))
    where id = any(${orderIds}) and expires_at > created_at`.execute(tx)
}

/**
 * Gives the buyers of orders whose bank has said no, perhaps after days, the time to pay again. An order with a limited code gets as long as
 * after any other activity, because it keeps the code from others. One that a recall has ended stays ended, and a further payment at a bank keeps
 * each open all the same.
 */
export async function waitAfterLateNo(tx: Tx, orderIds: readonly string[]): Promise<void> {
  if (orderIds.length === 0) return
  await sql`
    update orders o set
      expires_at = case when l.is_limited then now() + make_interval(mins => ${HOLD_MINUTES})
        else greatest(o.expires_at, now() + make_interval(hours => ${AGAIN_HOURS})) end,
      due_at = case when l.is_limited then now() + make_interval(mins => ${HOLD_MINUTES}) else o.due_at end
    from (select o.id, o.holds_discount and ${hasLimitedCode} as is_limited from orders o where o.id = any(${orderIds})) l
    where o.id = l.id and o.state in ('pending', 'processing') and o.expires_at > o.created_at`.execute(tx)
}

interface Refunded {
  orderId: string
  /** The total of all refunds. */
  refundedMinor: number
}

/** Writes new totals of refunds. */
export async function noteRefunded(tx: Tx, totals: readonly Refunded[]): Promise<void> {
  if (totals.length === 0) return
  await sql`
    update orders o set refunded_minor = t.minor
    from unnest(${totals.map((one) => one.orderId)}::text[], ${totals.map((one) => one.refundedMinor)}::bigint[]) as t(id, minor)
    where o.id = t.id and o.refunded_minor <> t.minor`.execute(tx)
}

function rounds<One extends { orderId: string }>(moves: readonly One[]): One[][] {
  const result: One[][] = []
  const seen = new Map<string, number>()
  for (const move of moves) {
    const round = seen.get(move.orderId) ?? 0
    seen.set(move.orderId, round + 1)
    ;(result[round] ??= []).push(move)
  }
  return result
}
