import { sql } from 'kysely'
import { randomUUID } from 'node:crypto'
import {
  CODE_SECONDS,
  type CodeLimits,
  type Counters,
  MOST_WRONG_TRIES,
  codeDigits,
  codeKind,
  limitedSender,
  limitedTry,
} from '../kit/codes.ts'
import type { Db, Tx } from '../kit/database.ts'
import type { Jobs } from '../kit/jobs.ts'
import type { Limit } from '../kit/limits.ts'

// The queue's name begins unlike the sellers': a code of one kind is never taken for one of the other.
export const { codeOf, codeHash, codeQueue } = codeKind('mailbox code', 'mailbox_code')

/** What a buyer's code is to show. */
export type Purpose = 'charge' | 'library'

/**
 * Buyers have no account and no browser that is known, so nothing that a stranger does may hold them up: codes are counted for a
 * mailbox and a network together, wrong ones for a network, and only what many networks do together for the mailbox.
 */
export interface MailboxLimits extends CodeLimits {
  /** Codes that were sent to one mailbox, and wrong ones that were tried, from all networks. */
  mailbox?: Limit
}

export interface NewMailboxCode {
  email: string
  purpose: Purpose
  /** SHA-256 of what the browser holds from now on, and of what it held before. */
  browserHash: Buffer
  previousBrowserHash: Buffer | undefined
  network: string
}

export type SendMailboxCode = (code: NewMailboxCode) => Promise<{ resendAfterSeconds: number }>

/**
 * Makes a code for a mailbox, in the place of the one that this browser had, and has it mailed, in one transaction; those asked
 * for together share it. The codes of other browsers stay good. Whether the mailbox ever bought anything is not looked at here: the mail's own job does. Throws `rate_limited`.
 */
export function mailboxCodeSender(
  db: Db,
  jobs: Jobs,
  secrets: readonly string[],
  limits: MailboxLimits,
): SendMailboxCode {
  const send = limitedSender<NewMailboxCode & Counters>(
    db,
    'mailbox_code',
    limits,
    (tx, codes) => sendAll(tx, jobs, secrets[0]!, codes),
    {
      tooMany:
        'Too many codes were asked for, from your network or for this address. The last one that was sent to this browser stays good for its ten minutes.',
      alsoCounted: ({ email }) => limits.mailbox && { key: `mailbox_code of ${email}`, limit: limits.mailbox },
    },
  )
  return async (code) => (await send({ ...code, bucket: `${code.email} from ${code.network}` }))!
}

async function sendAll(tx: Tx, jobs: Jobs, secret: string, codes: readonly NewMailboxCode[]): Promise<Set<string>> {
  const live = codes.map((code) => ({ ...code, id: randomUUID() }))
  const column = <T>(pick: (code: (typeof live)[number]) => T): T[] => live.map(pick)
  await sql`
    delete from mailbox_codes where id in (
      select c.id from mailbox_codes c
      where (c.email, c.browser_hash) in (
        select * from unnest(
          ${column(({ email }) => email)}::text[],
          ${column(({ previousBrowserHash }) => previousBrowserHash ?? null)}::bytea[]))
      -- in one order everywhere, so that two statements never wait for each other
      order by c.id for update)`.execute(tx)
  await sql`
    insert into mailbox_codes (email, id, purpose, browser_hash, code_hash, expires_at)
    select n.email, n.id, n.purpose, n.browser_hash, n.code_hash, now() + make_interval(secs => ${CODE_SECONDS}::int)
    from unnest(
      ${column(({ email }) => email)}::text[], ${column(({ id }) => id)}::uuid[], ${column(({ purpose }) => purpose)}::text[],
      ${column(({ browserHash }) => browserHash)}::bytea[],
      ${column(({ id, browserHash }) => codeHash(secret, browserHash, codeOf(secret, id)))}::bytea[])
      as n (email, id, purpose, browser_hash, code_hash)`.execute(tx)
  await jobs.add(
    tx,
    codeQueue(secret),
    live.map(({ id }) => ({ data: { id } })),
  )
  return new Set(live.map(({ email }) => email))
}

export interface MailboxProof {
  email: string
  purpose: Purpose
  code: string
  /** Absent: this browser waits for no code. */
  browserHash: Buffer | undefined
  network: string
}

/**
 * Does `work` for who has shown by the right code that the mailbox is theirs: the code is used exactly when the work is done.
 * Throws `invalid_code` and `rate_limited`.
 */
export function withProvenMailbox<T>(
  { db, secrets, limits }: { db: Db; secrets: readonly string[]; limits: MailboxLimits },
  { network, browserHash, ...given }: MailboxProof,
  work: (tx: Tx, email: string) => Promise<T>,
): Promise<T> {
  return limitedTry(
    db,
    {
      counter: 'mailbox_code_try',
      limit: limits.code_try,
      bucketLimit: limits.mailbox,
      bucket: given.email,
      network,
      tooMany:
        'Too many wrong codes were tried, from your network or for this address. Please wait, and then ask for a new one.',
    },
    browserHash && ((tx) => tryCode(tx, secrets, { ...given, browserHash })),
    (tx) => work(tx, given.email),
  )
}

/**
 * In one guarded statement: of any number at once at most five wrong ones are looked at, and the right one is taken once.
 * Undefined: this browser waits for none, or it is used, burnt or over. Commit whatever the answer is.
 */
async function tryCode(
  tx: Tx,
  secrets: readonly string[],
  given: { email: string; purpose: Purpose; code: string; browserHash: Buffer },
): Promise<{ isRight: boolean } | undefined> {
  const digits = codeDigits(given.code)
  const hashes = secrets.map((secret) => codeHash(secret, given.browserHash, digits))
  const { rows } = await sql<{ isRight: boolean }>`
    update mailbox_codes set
      used_at = case when code_hash = any(${hashes}) then clock_timestamp() end,
      wrong_tries = wrong_tries + case when code_hash = any(${hashes}) then 0 else 1 end
    where browser_hash = ${given.browserHash} and purpose = ${given.purpose} and email = ${given.email}
      and used_at is null and wrong_tries < ${MOST_WRONG_TRIES} and expires_at > clock_timestamp()
    returning used_at is not null as "isRight"`.execute(tx)
  return rows[0]
}

/** Forgets the codes whose time is over. */
export async function sweepMailboxCodes(db: Db): Promise<void> {
  await sql`delete from mailbox_codes where expires_at < now() - interval '1 day'`.execute(db)
}
