import { sql } from 'kysely'
import { type Db, inTransaction } from '../../kit/database.ts'
import type { Jobs } from '../../kit/jobs.ts'
import { type Log, errorForLog } from '../../kit/log.ts'
import { resumeFeeReturns } from '../../payments/refunds/return-fee.ts'
import { accountOf, familyOf } from '../../processors/connected.ts'
import type { Processor } from '../../processors/processor.ts'
import type { AccountReport } from '../../processors/seller-accounts.ts'
import { type Changed, tellIfStopped } from './mails.ts'
import { mirrorPayouts } from './mirror.ts'
import type { Payer } from './payers.ts'

// Sellers' own accounts at the processor that pays them. The processor's report about an account is stored as it is.

/** A report that is younger than this is shown as it is. */
const FRESH_SECONDS = 5

export interface AccountParts {
  db: Db
  jobs: Jobs
  processors: ReadonlyMap<string, Processor>
  /** The processor that pays sellers. */
  payer: Payer
  log: Log
  /** Where the payment form shows: each account has to know the host, or it offers no wallets there. */
  appUrl: string
}

/** A seller's account as the seller sees it. `none`: the seller has not begun. */
export interface AccountView {
  state: 'none' | 'open' | 'restricted' | 'active'
  missing: string[]
  paysOut: boolean
  /** The seller sells only with an account, and this one does not take payments. */
  blocksSales: boolean
  readAt: Date | null
}

/** The seller's account. Unless the last report is fresh, it asks the processor, and shows the stored report when there is no answer. */
export async function accountView(parts: AccountParts, sellerId: string): Promise<AccountView> {
  const { db, log, payer } = parts
  const { rows } = await sql<{ name: string }>`
    select processor || '@' || account as name from connected_accounts
    where seller_id = ${sellerId} and processor = ${payer} and account is not null and ended_at is null
      and (read_at is null or read_at < now() - make_interval(secs => ${FRESH_SECONDS}))`.execute(db)
  if (rows[0])
    await readAccount(parts, rows[0].name).catch((error: unknown) =>
      log.warn({ processor: payer, ...errorForLog(error) }, 'an account of a seller could not be read'),
    )
  const { rows: found } = await sql<AccountView>`
    select case when c.account is null then 'none' else c.state end as state, coalesce(c.missing, '{}') as missing,
      coalesce(c.pays_out, false) as "paysOut", s.awaits_account as "blocksSales", c.read_at as "readAt"
    from sellers s
    left join connected_accounts c on c.seller_id = s.id and c.processor = ${payer} and c.ended_at is null
    where s.id = ${sellerId}`.execute(db)
  return found[0]!
}

/**
 * Asks the processor how an account stands, and stores the answer. An account that gives no access has ended. It is asked about again all
 * the same, because a wrong key in the settings looks like sellers who have all left.
 */
async function readAccount(parts: AccountParts, name: string): Promise<void> {
  const account = accountOf(name)
  const accounts = parts.processors.get(familyOf(name))?.accounts
  if (!account || !accounts) throw new Error(`the processor of ${name} is not configured any more`)
  const begunAt = new Date()
  const report = await accounts.read(account, await productOf(parts.db, name))
  if (!('endedWhy' in report)) return store(parts, name, report, begunAt)
  await inTransaction(parts.db, async (tx) => {
    const { rows } = await sql<Changed>`
      update connected_accounts c set ended_at = now(), ended_why = ${report.endedWhy || null}, state = 'restricted', due_at = now() + interval '1 hour'
      from (select id, state from connected_accounts
        where processor = ${familyOf(name)} and account = ${account} and ended_at is null for update) as before
      where c.id = before.id returning c.id, before.state as "before"`.execute(tx)
    await tellIfStopped(tx, parts.jobs, rows[0])
  })
}

/** Reads how an account stands, and then the payouts that the processor has made from it. */
export async function readAll(parts: AccountParts, name: string): Promise<void> {
  await readAccount(parts, name)
  const { rows } = await sql<{ sellerId: string; state: string }>`
    select seller_id as "sellerId", state from connected_accounts
    where processor = ${familyOf(name)} and account = ${accountOf(name)} and ended_at is null`.execute(parts.db)
  const processor = parts.processors.get(name)
  if (!rows[0] || !processor) return
  const { protocol, hostname } = new URL(parts.appUrl)
  if (rows[0].state === 'active' && protocol === 'https:') await processor.registerHost?.(hostname).catch(noWallets)
  await mirrorPayouts(parts.db, processor, rows[0].sellerId)

  function noWallets(error: unknown): void {
    parts.log.warn({ processor: name, ...errorForLog(error) }, 'wallets cannot be offered at an account of a seller')
  }
}

/** Writes which sellers need an account, for the database that checks it in each sale. Only a changed rule costs anything. */
export async function writeRule(
  db: Db,
  { isNeeded, payer, own }: { isNeeded: boolean; payer: Payer; own: readonly string[] },
): Promise<void> {
  await inTransaction(db, async (tx) => {
    const { rows } = await sql`
      insert into account_rule as r (is_needed, own_mailboxes, processor) values (${isNeeded}, ${[...own]}::text[], ${payer})
      on conflict (only_row) do update set is_needed = excluded.is_needed, own_mailboxes = excluded.own_mailboxes,
        processor = excluded.processor
      where (r.is_needed, r.own_mailboxes, r.processor) is distinct from (excluded.is_needed, excluded.own_mailboxes, excluded.processor)
      returning only_row`.execute(tx)
    if (rows.length > 0)
      await sql`
        update sellers s set awaits_account = awaits_account(s.id, s.email)
        where s.awaits_account <> awaits_account(s.id, s.email)`.execute(tx)
  })
}

async function productOf(db: Db, name: string): Promise<string | undefined> {
  const { rows } = await sql<{ product: string | null }>`
    select product from connected_accounts where processor = ${familyOf(name)} and account = ${accountOf(name)}`.execute(
    db,
  )
  return rows[0]?.product ?? undefined
}

/**
 * An answer to an earlier question never replaces one to a later question. An account that had ended is there again, unless the seller has
 * opened another one. It then gets the parts of our fee that are owed to it.
 */
export async function store(
  { db, jobs }: AccountParts,
  name: string,
  report: AccountReport,
  begunAt: Date,
): Promise<void> {
  await inTransaction(db, async (tx) => {
    const { rows } = await sql<Changed & { hadEnded: boolean }>`
      update connected_accounts c set ended_at = null, ended_why = null, state = ${report.state}, missing = ${report.missing}::text[], pays_out = ${report.paysOut},
        statement_prefix = coalesce(${report.statementPrefix ?? null}, statement_prefix), read_at = ${begunAt}
      from (select id, state, ended_at is not null as had_ended from connected_accounts
        where processor = ${familyOf(name)} and account = ${accountOf(name)} for update) as before
      where c.id = before.id and (read_at is null or read_at <= ${begunAt})
        and (ended_at is null or not exists (
          select from connected_accounts o where o.seller_id = c.seller_id and o.processor = c.processor and o.ended_at is null))
      returning c.id, before.state as "before", before.had_ended as "hadEnded"`.execute(tx)
    if (rows[0]?.hadEnded) await resumeFeeReturns(tx, jobs, name)
    if (report.state !== 'active') await tellIfStopped(tx, jobs, rows[0])
  })
}
