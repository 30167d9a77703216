import { type RawBuilder, sql } from 'kysely'
import type { Db } from '../kit/database.ts'
import { sellerAccount } from '../ledger/transfers.ts'

export interface BalanceDays {
  currency: string
  /** The balance at the end of each day (UTC), the oldest first. The last day is today, until now. */
  days: { on: string; balanceMinor: number }[]
}

/** A seller's balance at the end of each of the last days, by currency. The balance before is one sum. */
export async function balanceDaysOf(db: Db, sellerId: string, days: number): Promise<BalanceDays[]> {
  const account = sellerAccount(sellerId)
  const side = (column: RawBuilder<unknown>, sign: RawBuilder<unknown>) => sql`
    select t.currency, greatest(first, (t.created_at at time zone 'UTC')::date) as "on", ${sign} sum(t.amount_minor) as minor
    from transfers t cross join period where ${column} = ${account} group by 1, 2`
  const { rows } = await sql<BalanceDays>`
    with period as (select (now() at time zone 'UTC')::date - ${days - 1}::int as first),
    changes as (
      select currency, "on", sum(minor) as minor
      from (${side(sql`t.credit_account`, sql`+`)} union all ${side(sql`t.debit_account`, sql`-`)}) e group by 1, 2),
    ends as (
      select c.currency, first + n as "on", sum(coalesce(e.minor, 0)) over (partition by c.currency order by n) as minor
      -- integers, because a series of dates runs in the session's time zone, in which a midnight can be missing
      from (select distinct currency from changes) c cross join period cross join generate_series(0, ${days - 1}::int) n
      left join changes e on e.currency = c.currency and e."on" = first + n)
    select currency, jsonb_agg(jsonb_build_object('on', "on", 'balanceMinor', minor) order by "on") as days
    from ends group by currency order by currency`.execute(db)
  return rows
}
