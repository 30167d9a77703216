import { sql } from 'kysely'
import { isId } from '../../kit/ids.ts'
import type { Db } from '../../kit/database.ts'
import { accountOf } from '../../processors/connected.ts'
import type { MoneyMovement } from '../../processors/processor.ts'

// Stores the processors' lists in temporary tables, which only this connection sees. The database can hold and join a million rows,
// which would be too many for the memory of this process.

const CHUNK = 1000

/** Makes the temporary tables. The caller does so before the read-only snapshot, which can fill them but not make them. */
export async function makeTables(db: Db): Promise<void> {
  await sql`create temp table listed (
    processor text collate "C", kind text collate "C", id text collate "C", payment text collate "C", claims text collate "C",
    is_told boolean, amount_minor bigint, currency text, at timestamptz, primary key (processor, kind, id))`.execute(db)
  await sql`create temp table compared (
    processor text collate "C", kind text collate "C", id text collate "C", payment text collate "C", order_id text,
    listed_minor bigint, listed_currency text, listed_at timestamptz, our_minor bigint, our_currency text, our_at timestamptz,
    is_known boolean)`.execute(db)
}

/** Stores a processor's list in chunks while it arrives. */
export async function keepListed(db: Db, processor: string, movements: AsyncIterable<MoneyMovement>): Promise<void> {
  let chunk: MoneyMovement[] = []
  const keep = async () => {
    const column = <T>(of: (one: MoneyMovement) => T) => chunk.map(of)
    await sql`
      insert into pg_temp.listed
      select ${processor}, kind, id, payment,
        -- a seller can write any order's id into payments of the seller's connected account
        case when ${accountOf(processor) === undefined} or exists (
          select from orders o where o.id = claims and o.connected_account = ${processor}) then claims end,
        is_told, amount_minor, currency, at
      from unnest(
        ${column(({ kind }) => kind)}::text[], ${column(({ id }) => id)}::text[], ${column((one) => one.processorPaymentId)}::text[],
        ${column(({ orderId }) => (orderId && isId('ord', orderId) ? orderId : null))}::text[],
        ${column(({ orderId }) => orderId !== undefined)}::boolean[], ${column((one) => one.amountMinor)}::bigint[],
        ${column(({ currency }) => currency)}::text[], ${column(({ at }) => at)}::timestamptz[])
        as l(kind, id, payment, claims, is_told, amount_minor, currency, at)
      on conflict (processor, kind, id) do nothing`.execute(db)
    chunk = []
  }
  for await (const movement of movements) if (chunk.push(movement) === CHUNK) await keep()
  if (chunk.length > 0) await keep()
}

/**
 * Our own rows about money that moved, with the state of each dispute, unless it was lost and all of it has come back. A capture has the time that its processor reported. Only the
 * processor knows when refunds and disputes were made, so here they have the time at which settle booked them.
 */
export const OURS = sql`(
  select c.processor, 'capture' as kind, c.processor_capture_id as id, p.processor_payment_id as payment, c.order_id,
    c.amount_minor, c.currency, c.captured_at as at, null as state
  from captures c join payments p on p.id = c.payment_id
  union all
  select r.processor, 'refund', r.processor_refund_id, p.processor_payment_id, r.order_id, r.amount_minor, c.currency,
    coalesce(t.created_at, r.created_at), null
  from refunds r join captures c using (processor, processor_capture_id) join payments p on p.id = c.payment_id
  left join transfers t on t.cause = r.processor || ':refund:' || r.processor_refund_id and t.kind in ('refund', 'returned')
  where r.state = 'succeeded'
  union all
  select d.processor, 'dispute', d.processor_dispute_id, p.processor_payment_id, d.order_id, d.amount_minor, c.currency,
    t.created_at, case when d.state <> 'lost' or coalesce(d.lost_minor, d.amount_minor) > 0 then d.state end
  from disputes d join captures c using (processor, processor_capture_id) join payments p on p.id = c.payment_id
  left join transfers t on t.cause = d.processor || ':dispute:' || d.processor_dispute_id and t.kind = 'dispute_hold'
  union all
  -- what is still passed on of each transfer to a seller's account
  select t.processor, 'transfer', t.processor_transfer_id, p.processor_payment_id, t.order_id, t.amount_minor - t.reversed_minor,
    t.currency, t.made_at, null
  from processor_transfers t cross join lateral (
    select p.processor_payment_id from captures c join payments p on p.id = c.payment_id
    where c.order_id = t.order_id and c.processor = t.processor order by c.purpose = 'sale' desc, c.captured_at limit 1) p
  where t.state = 'passed')`

/**
 * Joins the lists with our rows in [from, to). It leaves out unknown payments if the list, in this or another movement of the same
 * payment, says that they name no order of ours: the account may also serve other shops.
 */
export async function compare(db: Db, processors: readonly string[], from: Date, to: Date): Promise<void> {
  await sql`
    insert into pg_temp.compared
    select coalesce(l.processor, o.processor), coalesce(l.kind, o.kind), coalesce(l.id, o.id), coalesce(o.payment, l.payment),
      coalesce(o.order_id, p.order_id, l.claims, t.claims), l.amount_minor, l.currency, l.at, o.amount_minor, o.currency, o.at,
      o.id is not null or p.id is not null
    from pg_temp.listed l
    full join ${OURS} o on o.processor = l.processor and o.kind = l.kind and o.id = l.id
    left join payments p on o.id is null and p.processor = l.processor and p.processor_payment_id = l.payment
    left join (select processor, payment, max(claims) as claims from pg_temp.listed where is_told group by 1, 2) t
      on not l.is_told and t.processor = l.processor and t.payment = l.payment
    where (l.id is null and o.at >= ${from} and o.at < ${to} and o.processor = any(${processors}::text[]))
      or (l.id is not null and (o.id is not null or p.id is not null or coalesce(l.claims, t.claims) is not null
        or (not l.is_told and t.payment is null)))`.execute(db)
}

const UNEQUAL = sql`(listed_minor, listed_currency) is distinct from (our_minor, our_currency)
  or (kind = 'capture' and (listed_at at time zone 'UTC')::date <> (our_at at time zone 'UTC')::date)`

/** A bank can decide a dispute again, also after an appeal of the seller. By so long after its beginning, all of that is over. */
const DECIDED_DAYS = 180
/** So many decided disputes are asked about in a night. */
const MOST_DECIDED = 200

export interface Suspect {
  processor: string
  payment: string
  orderId: string | null
  isKnown: boolean
  /** The lists and our rows differ. If false, the payment has a dispute here, and only that is in question. */
  differs: boolean
}

/**
 * Returns the payments on which the lists and our rows differ: first those of our orders, then unknown ones, each newest first.
 * `more` counts the payments of our orders beyond `most`. Unknown payments beyond it are dropped: a payment of ours that is missing
 * here shows in the first night after it was made.
 *
 * Between the two groups stand our disputes at these `processors`, as far as `most` allows, because no list shows that a bank has
 * decided: first the open ones, then those decided in the last months, each oldest first. Each night takes other decided ones, at most
 * `MOST_DECIDED`, so that room is left for the unknown payments. Disputes of the last day are left out: their notification may still be
 * on its way.
 */
export async function suspects(
  db: Db,
  processors: readonly string[],
  most: number,
): Promise<{ list: Suspect[]; more: number }> {
  const { rows } = await sql<Suspect & { ours: number }>`
    with unequal as (
      select processor, payment, order_id, is_known, coalesce(listed_at, our_at) as at, true as differs, false as is_decided
      from pg_temp.compared where ${UNEQUAL}),
    old as (
      select o.processor, o.payment, o.order_id, true, o.at, false, o.state <> 'open' as is_decided from ${OURS} o
      where o.kind = 'dispute' and o.at < now() - interval '1 day' and o.processor = any(${processors}::text[])
        and (o.state = 'open' or (o.state is not null and o.at > now() - make_interval(days => ${DECIDED_DAYS})))),
    disputed as (
      select * from old where not is_decided
      union all (select * from old where is_decided order by hashtext(payment || current_date) limit ${MOST_DECIDED}))
    select processor, payment, max(order_id) as "orderId", bool_or(is_known) as "isKnown", bool_or(differs) as differs,
      count(max(order_id) filter (where differs)) over () as ours
    from (select * from unequal union all select * from disputed) s group by 1, 2
    order by max(order_id) is null, max(at) filter (where differs) desc nulls last,
      bool_and(is_decided), min(at), 1, 2 limit ${most}`.execute(db)
  await sql`
    delete from pg_temp.compared where order_id is null and (processor, payment) not in (
      select * from unnest(${rows.map((one) => one.processor)}::text[], ${rows.map((one) => one.payment)}::text[]))`.execute(
    db,
  )
  return { list: rows, more: Math.max(0, (rows[0]?.ours ?? 0) - rows.length) }
}

/** Counts and sums of one day, processor, currency and kind, at the processor and here. */
export interface Day {
  day: string
  processor: string
  currency: string
  kind: MoneyMovement['kind']
  listed: number
  listedMinor: number
  ours: number
  ourMinor: number
}

/** Sums up each day. `resolved` are payments that the processor, when we asked, described as we do. */
export async function days(db: Db, resolved: readonly Suspect[]): Promise<Day[]> {
  const { rows } = await sql<Day>`
    with agreed as (
      select * from unnest(${resolved.map((one) => one.processor)}::text[], ${resolved.map((one) => one.payment)}::text[]) as a(processor, payment)),
    final as (
      select c.*, a.payment is not null as is_agreed from pg_temp.compared c left join agreed a using (processor, payment)
      where a.payment is null or (c.listed_minor is not null and c.our_minor is not null)),
    sides as (
      select listed_at as at, processor, kind, case when is_agreed then our_currency else listed_currency end as currency,
        1 as listed, case when is_agreed then our_minor else listed_minor end as listed_minor, 0 as ours, 0::bigint as our_minor
      from final where listed_minor is not null
      union all
      select case when kind = 'capture' and not is_agreed then our_at else coalesce(listed_at, our_at) end, processor, kind, our_currency, 0, 0, 1, our_minor
      from final where our_minor is not null)
    select (at at time zone 'UTC')::date::text as day, processor, currency, kind, sum(listed)::bigint as listed,
      sum(listed_minor)::bigint as "listedMinor", sum(ours)::bigint as ours, sum(our_minor)::bigint as "ourMinor"
    from sides group by 1, 2, 3, 4 order by 1, 2, 3, 4`.execute(db)
  return rows
}
