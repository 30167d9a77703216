import { sql } from 'kysely'
import { errorForLog } from '../../kit/log.ts'
import { type AccountParts, readAll } from './accounts.ts'
import { type AccountRow, makeAccount } from './open.ts'

/** How many accounts one round reads. The job runs each minute. */
const READ_AT_ONCE = 50
/** For so long an account that gives no access may come back. */
const ASK_AGAIN_DAYS = 90

/**
 * Reads the accounts that are due, and makes those whose making was cut off. It finds changes of which no notification came.
 * An account that sells, or that has ended, is read four times a day. The others are read more often.
 */
export async function readDueAccounts(parts: AccountParts): Promise<void> {
  const { payer } = parts
  if (!parts.processors.get(payer)?.accounts) return
  const { rows } = await sql<AccountRow>`
    update connected_accounts set due_at = now() + case
        when state = 'active' or ended_at is not null then interval '6 hours'
        when created_at > now() - interval '1 day' then interval '10 minutes' else interval '2 hours' end
    where id in (
      select id from connected_accounts where due_at <= now() and processor = ${payer}
        and (ended_at is null or ended_at > now() - make_interval(days => ${ASK_AGAIN_DAYS}))
      order by due_at limit ${READ_AT_ONCE} for update skip locked)
    returning id, account, product, created_at as "createdAt"`.execute(parts.db)
  for (const row of rows) {
    const read = row.account ? readAll(parts, `${payer}@${row.account}`) : makeAccount(parts, row)
    await read.catch((error: unknown) =>
      parts.log.warn({ processor: payer, ...errorForLog(error) }, 'an account of a seller could not be read'),
    )
  }
}
