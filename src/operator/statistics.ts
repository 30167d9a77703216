import { sql } from 'kysely'
import { type Db, inTransaction } from '../kit/database.ts'
import { withCustomPlan } from '../kit/plans.ts'
import { FEES } from '../ledger/transfers.ts'

/** The periods of the overview, in days, with the length of a chart's interval. */
const PERIODS = { 7: 'day', 30: 'day', 365: 'week' } as const
export type PeriodDays = keyof typeof PERIODS

export interface Sums {
  /** Orders that cost money and were made in the interval, and how many of them were ever paid. */
  created: number
  converted: number
  /** Orders that were paid in the interval, and their prices together. */
  paid: number
  volumeMinor: number
  /** The fee of the service in the interval, without the part that went back with refunds and lost disputes. */
  feesMinor: number
}

export interface Bucket extends Sums {
  at: string
}

export interface CurrencyStatistics extends Sums {
  currency: string
  buckets: Bucket[]
}

export interface Statistics {
  days: PeriodDays
  interval: 'day' | 'week'
  from: string
  to: string
  items: CurrencyStatistics[]
}

interface Row extends Sums {
  currency: string
  at: Date
}

/**
 * Volume, fees and conversion of the whole service, by currency, in days of UTC. The orders made in the period lie together in the
 * table, and an index of ranges of the table finds them, which costs a checkout nothing. The paid ones are a range of each seller's
 * index, which has the summed columns. The fees are those of the ledger.
 */
export async function statisticsOf(db: Db, days: PeriodDays): Promise<Statistics> {
  const interval = PERIODS[days]
  const { rows: spans } = await sql<{ from: Date; to: Date; starts: Date[] }>`
    select f.at as "from", now() as "to", array(
      select start at time zone 'UTC'
      from generate_series(date_trunc(${interval}, f.at at time zone 'UTC'), now() at time zone 'UTC', ('1 ' || ${interval})::interval) start) as starts
    from (select date_trunc('day', now(), 'UTC') - make_interval(days => ${days - 1}) as at) f`.execute(db)
  const { from, to, starts } = spans[0]!
  const rows = await readRows(db, { interval, from, to })
  const items = [...Map.groupBy(rows, ({ currency }) => currency)].map(([currency, ofCurrency]) => {
    const byStart = new Map(ofCurrency.map((row) => [row.at.getTime(), row]))
    const buckets = starts.map((at): Bucket => {
      const { created = 0, converted = 0, paid = 0, volumeMinor = 0, feesMinor = 0 } = byStart.get(at.getTime()) ?? {}
      return { at: at.toISOString(), created, converted, paid, volumeMinor, feesMinor }
    })
    const sum = (name: keyof Sums) => buckets.reduce((total, bucket) => total + bucket[name], 0)
    return {
      currency,
      created: sum('created'),
      converted: sum('converted'),
      paid: sum('paid'),
      volumeMinor: sum('volumeMinor'),
      feesMinor: sum('feesMinor'),
      buckets,
    }
  })
  return { days, interval, from: from.toISOString(), to: to.toISOString(), items: items.sort(byVolume) }
}

const byVolume = (a: CurrencyStatistics, b: CurrencyStatistics): number =>
  b.paid - a.paid || b.created - a.created || (a.currency < b.currency ? -1 : 1)

async function readRows(db: Db, { interval, from, to }: { interval: string; from: Date; to: Date }): Promise<Row[]> {
  const start = (column: ReturnType<typeof sql>) => sql`date_trunc(${interval}, ${column}, 'UTC')`
  const statement = sql<Row>`${withCustomPlan}
    with created as (
      select currency, ${start(sql`created_at`)} as at, count(*) as created, count(paid_at) as converted from orders
      where created_at >= ${from} and created_at < ${to} and amount_minor > 0
      group by 1, 2),
    sold as (
      select o.currency, o.at, sum(o.paid) as paid, sum(o.volume) as volume
      from sellers s, lateral (
        select currency, ${start(sql`paid_at`)} as at, count(*) as paid, sum(amount_minor) as volume from orders
        where seller_id = s.id and paid_at >= ${from} and paid_at < ${to} and amount_minor > 0 group by 1, 2) o
      group by 1, 2),
    fees as (
      select currency, at, sum(minor) as fees from (
        select currency, ${start(sql`created_at`)} as at, sum(amount_minor) as minor from transfers
        where credit_account = ${FEES} and created_at >= ${from} and created_at < ${to} group by 1, 2
        union all
        select currency, ${start(sql`created_at`)}, -sum(amount_minor) from transfers
        where debit_account = ${FEES} and created_at >= ${from} and created_at < ${to} group by 1, 2) f
      group by 1, 2)
    select currency, at, coalesce(c.created, 0)::bigint as created, coalesce(c.converted, 0)::bigint as converted,
      coalesce(s.paid, 0)::bigint as paid, coalesce(s.volume, 0)::bigint as "volumeMinor", coalesce(f.fees, 0)::bigint as "feesMinor"
    from created c full join sold s using (currency, at) full join fees f using (currency, at)
    order by currency, at`
  return inTransaction(db, async (tx) => {
    // a year of all orders is worth the workers that a request's connection does not start
    await sql`set local max_parallel_workers_per_gather = 2`.execute(tx)
    return (await statement.execute(tx)).rows
  })
}
