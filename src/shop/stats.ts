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
 * The orders are read once, from an index that holds all that is summed up, and summed up in two ways. Of one that was charged
 * back, what the bank took is gone as a refund is.
 */
const readStats = (db: Db, sellerId: string, { from, to, interval, timeZone }: StatsWanted) =>
  sql<{ starts: string[]; sums: Row[] }>`
    with starts as materialized (
      select array_agg(at order by at) as at from generate_series(
        date_trunc(${interval}, ${from}::timestamptz, ${timeZone}), ${to}::timestamptz - interval '1 microsecond',
        ('1 ' || ${interval})::interval, ${timeZone}) at),
    paid as (
      select o.currency, o.rail, o.product_id, o.amount_minor, o.fee_minor,
        -- a comparison or nine: far less than what the time zone of each would cost
        width_bucket(o.paid_at, (select at from starts)) as bucket,
        least(o.amount_minor, o.refunded_minor + case when o.state = 'charged_back' then
          (select coalesce(sum(d.amount_minor), 0) from disputes d where d.order_id = o.id and d.state = 'lost')
          else 0 end)::bigint as returned
      from orders o where o.seller_id = ${sellerId} and o.paid_at >= ${from} and o.paid_at < ${to}
      offset 0),
    sold as materialized (
      select currency, rail, bucket, product_id, grouping(product_id) = 0 as by_product, count(*) as orders,
        sum(amount_minor)::bigint as amount, sum(fee_minor)::bigint as fees, sum(returned)::bigint as returned,
        sum(case when returned > 0 then share_of(fee_minor, returned, amount_minor) else 0 end)::bigint as fees_back
      from paid group by grouping sets ((currency, rail, bucket), (currency, product_id))),
    best as (
      select t.currency, p.id, p.name, t.orders, t.amount
      from (
        select currency, product_id, orders, amount,
          row_number() over (partition by currency order by amount desc, orders desc, product_id) as place
        from sold where by_product) t
      join products p on p.id = t.product_id
      where t.place <= ${TOP_PRODUCTS}),
    sums as (
      select s.currency, sum(s.orders)::bigint as orders, sum(s.amount)::bigint as amount, sum(s.fees)::bigint as fees,
        sum(s.returned)::bigint as returned, sum(s.fees_back)::bigint as "feesBack",
        (select json_agg(b) from (
          select (select at from starts)[bucket] as at, sum(orders)::bigint as orders, sum(amount)::bigint as amount
          from sold where currency = s.currency and not by_product group by bucket) b) as buckets,
        (select json_agg(r order by r.amount desc, r.orders desc, r.rail) from (
          select rail, sum(orders)::bigint as orders, sum(amount)::bigint as amount
          from sold where currency = s.currency and not by_product group by rail) r) as rails,
        (select json_agg(t order by t.amount desc, t.orders desc, t.id) from (
          select id, name, orders, amount from best where currency = s.currency) t) as products
      from sold s where not s.by_product group by s.currency)
    select (select to_json(at) from starts) as starts,
      (select coalesce(json_agg(s order by s.currency), '[]') from sums s) as sums`.execute(db)
