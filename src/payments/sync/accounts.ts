import { sql } from 'kysely'
import type { Db } from '../../kit/database.ts'

/** The names of the sellers' accounts that can be asked, such as `stripe@acct_1`. */
export async function connectedNames(db: Db): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select processor || '@' || account as name from connected_accounts
    where account is not null and ended_at is null order by 1`.execute(db)
  return rows.map(({ name }) => name)
}

/** Whether this is the account of a seller, also of one who has ended our access. */
export async function isConnected(db: Db, name: string): Promise<boolean> {
  const { rows } = await sql`
    select from connected_accounts where processor || '@' || account = ${name}
      and processor = split_part(${name}, '@', 1) and account = split_part(${name}, '@', 2)`.execute(db)
  return rows.length > 0
}

/** Whether an event is about the account itself or its payouts, and not about a payment. */
export const isAboutAccount = (type: string): boolean => /^(?:account|capability|payout|product\.route)\./.test(type)
