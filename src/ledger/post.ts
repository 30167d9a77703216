import { sql } from 'kysely'
import { type Change, type Db, type Tx, changeTogether } from '../kit/database.ts'
import type { Transfer } from './transfers.ts'

/** Books the transfers, and leaves those that are already booked as they are. */
export const post = (tx: Tx, transfers: readonly Transfer[]): Promise<void> => changeTogether(tx, [postings(transfers)])

export function postings(transfers: readonly Transfer[]): Change {
  if (transfers.length === 0) return undefined
  const column = <K extends keyof Transfer>(name: K) => transfers.map((transfer) => transfer[name])
  return sql`
    insert into transfers (kind, cause, order_id, debit_account, credit_account, amount_minor, currency)
    select * from unnest(
      ${column('kind')}::text[], ${column('cause')}::text[], ${column('orderId')}::text[], ${column('debit')}::text[],
      ${column('credit')}::text[], ${column('amountMinor')}::bigint[], ${column('currency')}::text[])
    on conflict (kind, cause) do nothing`
}

/** The balance of an account in a currency: all credits minus all debits, in minor units. */
export async function balance(db: Db, account: string, currency: string): Promise<number> {
  const { rows } = await sql<{ minor: number }>`
    select (
      (select coalesce(sum(amount_minor), 0) from transfers where credit_account = ${account} and currency = ${currency}) -
      (select coalesce(sum(amount_minor), 0) from transfers where debit_account = ${account} and currency = ${currency})
    )::bigint as minor`.execute(db)
  return rows[0]!.minor
}
