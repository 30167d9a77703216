import { sql } from 'kysely'
import pg from 'pg'
import type { Db } from '../kit/database.ts'
import { notValid } from '../kit/period.ts'
import type { Rail } from '../orders/states.ts'
import type { INTERVALS, Stats } from './schema.ts'

export interface StatsWanted {
  from: Date
  to: Date
  interval: (typeof INTERVALS)[number]
  timeZone: string
}

/** As many as a picture can show, and a bound on the work. */
const MOST_BUCKETS = 400
const TOP_PRODUCTS = 5
const HOURS = { hour: 1, day: 24, week: 7 * 24, month: 30 * 24 } as const
/** What PostgreSQL says of a time zone that it does not know. */
const INVALID_PARAMETER = '22023'

interface Sum {
  currency: string
  orders: number
  amount: number
}
interface Row extends Sum {
  returned: number
  feesBack: number
  fees: number
  buckets: { at: string; orders: number; amount: number }[]
  rails: { rail: Rail | null; orders: number; amount: number }[]
  products: { id: string; name: string; orders: number; amount: number }[]
}

/** What a seller sold in a time, by when it was paid: sums, and where they come from. Refuses `validation_failed`. */
export async function statsOf(db: Db, sellerId: string, wanted: StatsWanted): Promise<Stats> {
  const { from, to, interval, timeZone } = wanted
  if ((to.getTime() - from.getTime()) / 3_600_000 / HOURS[interval] > MOST_BUCKETS - 1)
    throw notValid('interval', `gives more than ${MOST_BUCKETS} parts of this time: choose a longer one`)
  const { rows } = await readStats(db, sellerId, wanted).catch((error: unknown) => {
    if (error instanceof pg.DatabaseError && error.code === INVALID_PARAMETER)
      throw notValid('timeZone', 'is the name of a time zone, such as Europe/Vienna')
    throw error
  })
  const { starts, sums } = rows[0]!
  const items = sums.map(({ currency, orders, amount, returned, fees, feesBack, buckets, rails, products }) => {
    const filled = new Map(buckets.map((bucket) => [Date.parse(bucket.at), bucket]))
    return {
      currency,
      orders,
      amount,
      fees: fees - feesBack,
      refunded: returned,
      net: amount - (fees - feesBack) - returned,
      buckets: starts.map((at) => ({
        at: new Date(at).toISOString(),
        orders: filled.get(Date.parse(at))?.orders ?? 0,
        amount: filled.get(Date.parse(at))?.amount ?? 0,
      })),
      rails,
      products,
    }
  })
  return { from: from.toISOString(), to: to.toISOString(), interval, timeZone, items }
}

/**
 * The orders are read once, from an index that holds all that is summed up. Of one that was charged back, what the bank took is
 * gone as a refund is.
 */
const readStats = (db: Db, sellerId: string, { from, to, interval, timeZone }: StatsWanted) =>
  sql<{ starts: string[]; sums: Row[] }>`
    with sold as materialized (
      select currency, rail, product_id, date_trunc(${interval}, paid_at, ${timeZone}) as at, count(*) as orders,
        sum(amount_minor) as amount, sum(fee_minor) as fees
      from orders where seller_id = ${sellerId} and paid_at >= ${from} and paid_at < ${to}
      group by 1, 2, 3, 4),
    gone as (
      select o.currency, sum(r.minor) as returned, sum(share_of(o.fee_minor, r.minor, o.amount_minor)) as fees_back
      from orders o cross join lateral (
        select least(o.amount_minor, o.refunded_minor + case when o.state = 'charged_back' then
          (select coalesce(sum(d.amount_minor), 0) from disputes d where d.order_id = o.id and d.state = 'lost')
          else 0 end)::bigint as minor) r
      where o.seller_id = ${sellerId} and o.paid_at >= ${from} and o.paid_at < ${to}
        and (o.refunded_minor > 0 or o.state = 'charged_back')
      group by 1),
    ranked as (
      select currency, product_id, sum(orders) as orders, sum(amount) as amount,
        row_number() over (partition by currency order by sum(amount) desc, sum(orders) desc, product_id) as place
      from sold group by 1, 2),
    sums as (
      select s.currency, sum(s.orders)::bigint as orders, sum(s.amount)::bigint as amount, sum(s.fees)::bigint as fees,
        coalesce((select returned from gone g where g.currency = s.currency), 0)::bigint as returned,
        coalesce((select fees_back from gone g where g.currency = s.currency), 0)::bigint as "feesBack",
        (select json_agg(b) from (
          select at, sum(orders)::bigint as orders, sum(amount)::bigint as amount
          from sold where currency = s.currency group by 1) b) as buckets,
        (select json_agg(r order by r.amount desc, r.orders desc, r.rail) from (
          select rail, sum(orders)::bigint as orders, sum(amount)::bigint as amount
          from sold where currency = s.currency group by 1) r) as rails,
        (select json_agg(json_build_object('id', t.product_id, 'name', p.name, 'orders', t.orders::bigint, 'amount', t.amount::bigint)
            order by t.place)
          from ranked t join products p on p.id = t.product_id
          where t.currency = s.currency and t.place <= ${TOP_PRODUCTS}) as products
      from sold s group by s.currency)
    select
      (select json_agg(at order by at) from generate_series(
        date_trunc(${interval}, ${from}::timestamptz, ${timeZone}), ${to}::timestamptz - interval '1 microsecond',
        ('1 ' || ${interval})::interval, ${timeZone}) at) as starts,
      (select coalesce(json_agg(s order by s.currency), '[]') from sums s) as sums`.execute(db)
