import { sql } from 'kysely'
import { type Db, inTransaction } from '../../kit/database.ts'
import { Refusal } from '../../kit/errors.ts'
import { newId } from '../../kit/ids.ts'
import type { Jobs } from '../../kit/jobs.ts'
import { type Log, errorForLog } from '../../kit/log.ts'
import { accountOf, familyOf } from '../../processors/connected.ts'
import { type Processor, ProcessorUnavailable } from '../../processors/processor.ts'
import type { AccountReport, SellerAccounts } from '../../processors/seller-accounts.ts'

import { type Changed, tellIfStopped } from './mails.ts'
import { mirrorPayouts } from './mirror.ts'

// Sellers' own accounts at the processor, where PAYOUTS=stripe-connect. What the processor says about an account is stored as it is.

export const PROCESSOR = 'stripe'
/** A report that is younger than this is shown as it is. */
const FRESH_SECONDS = 5
/** How many accounts one round reads. The job runs each minute. */
const READ_AT_ONCE = 50
const RETRY_AFTER_SECONDS = 5
/** For so long an account that gives no access may come back. */
const ASK_AGAIN_DAYS = 90

export interface AccountParts {
  db: Db
  jobs: Jobs
  processors: ReadonlyMap<string, Processor>
  log: Log
  /** Where the payment form shows: each account has to know the host, or it offers no wallets there. */
  appUrl: string
}

interface AccountRow {
  id: string
  account: string | null
  createdAt: Date
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

/**
 * Returns an address where the seller tells the processor what it misses. The account is made on the first call. The row comes
 * first, and its id is the processor's idempotency key: however often this is repeated or dies in between, the seller gets one account.
 * Refuses `processor_unavailable`.
 */
export async function openAccount(parts: AccountParts, sellerId: string, pageUrl: string): Promise<string> {
  const accounts = accountsAt(parts)
  const row = await rowOf(parts.db, sellerId)
  try {
    const account = row.account ?? (await makeAccount(parts, row))
    return await accounts.link(account, { refreshUrl: pageUrl, returnUrl: pageUrl })
  } catch (error) {
    if (!(error instanceof ProcessorUnavailable)) throw error
    parts.log.warn({ processor: PROCESSOR, ...errorForLog(error) }, 'an account of a seller could not be opened')
    throw new Refusal('account_unavailable', 'Stripe does not answer right now. Nothing is lost: please try again.', {
      retryAfterSeconds: RETRY_AFTER_SECONDS,
      cause: error,
    })
  }
}

/** The seller's account. Unless the last report is fresh, it asks the processor, and shows what is stored when there is no answer. */
export async function accountView(parts: AccountParts, sellerId: string): Promise<AccountView> {
  const { db, log } = parts
  const { rows } = await sql<{ name: string }>`
    select processor || '@' || account as name from connected_accounts
    where seller_id = ${sellerId} and processor = ${PROCESSOR} and account is not null and ended_at is null
      and (read_at is null or read_at < now() - make_interval(secs => ${FRESH_SECONDS}))`.execute(db)
  if (rows[0])
    await readAccount(parts, rows[0].name).catch((error: unknown) =>
      log.warn({ processor: PROCESSOR, ...errorForLog(error) }, 'an account of a seller could not be read'),
    )
  const { rows: found } = await sql<AccountView>`
    select case when c.account is null then 'none' else c.state end as state, coalesce(c.missing, '{}') as missing,
      coalesce(c.pays_out, false) as "paysOut", s.awaits_account as "blocksSales", c.read_at as "readAt"
    from sellers s
    left join connected_accounts c on c.seller_id = s.id and c.processor = ${PROCESSOR} and c.ended_at is null
    where s.id = ${sellerId}`.execute(db)
  return found[0]!
}

/**
 * Asks the processor how an account stands, and stores the answer. An account that gives no access has ended. It is asked about again all
 * the same, because a wrong key in the settings looks like sellers who have all left.
 */
export async function readAccount(parts: AccountParts, name: string): Promise<void> {
  const account = accountOf(name)
  const accounts = parts.processors.get(familyOf(name))?.accounts
  if (!account || !accounts) throw new Error(`the processor of ${name} is not configured any more`)
  const begunAt = new Date()
  const report = await accounts.read(account)
  if (report) return store(parts, name, report, begunAt)
  await inTransaction(parts.db, async (tx) => {
    const { rows } = await sql<Changed>`
      update connected_accounts c set ended_at = now(), state = 'restricted', due_at = now() + interval '1 hour'
      from (select id, state from connected_accounts
        where processor = ${familyOf(name)} and account = ${account} and ended_at is null for update) as before
      where c.id = before.id returning c.id, before.state as "before"`.execute(tx)
    await tellIfStopped(tx, parts.jobs, rows[0])
  })
}

/** Reads how an account stands, and then what the processor has paid out from it. */
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

/**
 * Reads the accounts that are due, and makes those whose making was cut off. A change that no notification told is found this way.
 * An account that sells is read four times a day, others more often.
 */
export async function readDueAccounts(parts: AccountParts): Promise<void> {
  if (!parts.processors.get(PROCESSOR)?.accounts) return
  const { rows } = await sql<AccountRow>`
    update connected_accounts set due_at = now() + case
        when state = 'active' or ended_at is not null then interval '6 hours'
        when created_at > now() - interval '1 day' then interval '10 minutes' else interval '2 hours' end
    where id in (
      select id from connected_accounts where due_at <= now() and processor = ${PROCESSOR}
        and (ended_at is null or ended_at > now() - make_interval(days => ${ASK_AGAIN_DAYS}))
      order by due_at limit ${READ_AT_ONCE} for update skip locked)
    returning id, account, created_at as "createdAt"`.execute(parts.db)
  for (const row of rows) {
    const read = row.account ? readAll(parts, `${PROCESSOR}@${row.account}`) : makeAccount(parts, row)
    await read.catch((error: unknown) =>
      parts.log.warn({ processor: PROCESSOR, ...errorForLog(error) }, 'an account of a seller could not be read'),
    )
  }
}

/** Writes who needs an account, for the database that checks it in each sale. Only a changed rule costs anything. */
export async function writeRule(
  db: Db,
  { isNeeded, own }: { isNeeded: boolean; own: readonly string[] },
): Promise<void> {
  await inTransaction(db, async (tx) => {
    const { rows } = await sql`
      insert into account_rule as r (is_needed, own_mailboxes) values (${isNeeded}, ${[...own]}::text[])
      on conflict (only_row) do update set is_needed = excluded.is_needed, own_mailboxes = excluded.own_mailboxes
      where (r.is_needed, r.own_mailboxes) is distinct from (excluded.is_needed, excluded.own_mailboxes)
      returning only_row`.execute(tx)
    if (rows.length > 0)
      await sql`
        update sellers s set awaits_account = awaits_account(s.id, s.email)
        where s.awaits_account <> awaits_account(s.id, s.email)`.execute(tx)
  })
}

function accountsAt({ processors }: AccountParts): SellerAccounts {
  const accounts = processors.get(PROCESSOR)?.accounts
  if (!accounts) throw new Refusal('account_not_needed', 'Sellers of this service need no account at a processor.')
  return accounts
}

async function rowOf(db: Db, sellerId: string): Promise<AccountRow> {
  await sql`
    insert into connected_accounts (id, seller_id, processor, due_at)
    values (${newId('con')}, ${sellerId}, ${PROCESSOR}, now() + interval '2 minutes')
    on conflict (seller_id, processor) where ended_at is null do nothing`.execute(db)
  const { rows } = await sql<AccountRow>`
    select id, account, created_at as "createdAt" from connected_accounts
    where seller_id = ${sellerId} and processor = ${PROCESSOR} and ended_at is null`.execute(db)
  return rows[0]!
}

async function makeAccount(parts: AccountParts, { id, createdAt }: AccountRow): Promise<string> {
  const begunAt = new Date()
  const report = await accountsAt(parts).make({ key: id, since: createdAt })
  await sql`
    update connected_accounts set account = ${report.account} where id = ${id} and account is null`.execute(parts.db)
  await store(parts, `${PROCESSOR}@${report.account}`, report, begunAt)
  return report.account
}

/**
 * An answer to an earlier question never replaces one to a later question. An account that had ended is there again, unless the seller has
 * opened another one.
 */
async function store({ db, jobs }: AccountParts, name: string, report: AccountReport, begunAt: Date): Promise<void> {
  await inTransaction(db, async (tx) => {
    const { rows } = await sql<Changed>`
      update connected_accounts c set ended_at = null, state = ${report.state}, missing = ${report.missing}::text[], pays_out = ${report.paysOut},
        statement_prefix = coalesce(${report.statementPrefix ?? null}, statement_prefix), read_at = ${begunAt}
      from (select id, state from connected_accounts
        where processor = ${familyOf(name)} and account = ${accountOf(name)} for update) as before
      where c.id = before.id and (read_at is null or read_at <= ${begunAt})
        and (ended_at is null or not exists (
          select from connected_accounts o where o.seller_id = c.seller_id and o.processor = c.processor and o.ended_at is null))
      returning c.id, before.state as "before"`.execute(tx)
    if (report.state !== 'active') await tellIfStopped(tx, jobs, rows[0])
  })
}
