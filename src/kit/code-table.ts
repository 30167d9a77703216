import { sql } from 'kysely'
import { randomUUID } from 'node:crypto'
import { CODE_SECONDS, MOST_WRONG_TRIES } from './code-limits.ts'
import { type CodeKind, codeDigits } from './codes.ts'
import type { Db, Tx } from './database.ts'
import type { Jobs } from './jobs.ts'
import type { Locale } from './locales.ts'
import { sweepRows } from './sweep.ts'

// The one-time codes that browsers wait for. Each mailbox and browser has its own code, so a stranger who types the address of
// another person cannot end the code which that person waits for.

export interface NewCode<Purpose extends string = string> {
  email: string
  purpose: Purpose
  /** The language of the mail. By default English. */
  locale?: Locale | undefined
  /** SHA-256 of the browser's new secret, and of the secret it replaces. The code of the replaced secret ends. */
  browserHash: Buffer
  previousBrowserHash?: Buffer | undefined
  /** The new code takes over the provider's identity of the code before it. */
  again?: boolean | undefined
  /** The session that asks to move its account to this mailbox. */
  sessionId?: string | undefined
  /** The identity that a provider has confirmed. */
  identity?: { issuer: string; subject: string } | undefined
}

/** Makes codes and adds the jobs that mail them. Returns for each whether it was made: a code whose session has ended is not. */
export async function saveCodes(
  tx: Tx,
  jobs: Jobs,
  { codeHash, codeOf, codeQueue }: CodeKind,
  secret: string,
  codes: readonly NewCode[],
): Promise<boolean[]> {
  const made = codes.map((code) => ({ ...code, id: randomUUID() }))
  const column = <T>(pick: (code: (typeof made)[number]) => T): T[] => made.map(pick)
  const { rows } = await sql<{ id: string }>`
    with n as materialized (
      select * from unnest(
        ${column(({ id }) => id)}::uuid[], ${column(({ email }) => email)}::text[], ${column(({ purpose }) => purpose)}::text[],
        ${column(({ browserHash }) => browserHash)}::bytea[],
        ${column(({ previousBrowserHash }) => previousBrowserHash ?? null)}::bytea[],
        ${column(({ id, browserHash }) => codeHash(secret, browserHash, codeOf(secret, id)))}::bytea[],
        ${column(({ again }) => again === true)}::boolean[], ${column(({ sessionId }) => sessionId ?? null)}::text[],
        ${column(({ identity }) => identity?.issuer ?? null)}::text[],
        ${column(({ identity }) => identity?.subject ?? null)}::text[])
        as t (id, email, purpose, browser_hash, previous_hash, code_hash, again, session_id, issuer, subject)),
    gone as (
      delete from mailbox_codes where id in (
        select c.id from mailbox_codes c where c.browser_hash in (select previous_hash from n)
        -- in one order everywhere, so that two statements never wait for each other
        order by c.id for update)
      returning browser_hash, email, purpose, issuer, subject, used_at, expires_at)
    insert into mailbox_codes (id, email, purpose, browser_hash, code_hash, expires_at, session_id, issuer, subject)
    select n.id, n.email, n.purpose, n.browser_hash, n.code_hash, now() + make_interval(secs => ${CODE_SECONDS}::int),
      n.session_id, coalesce(n.issuer, gone.issuer), coalesce(n.subject, gone.subject)
    from n left join gone on n.again and n.issuer is null and gone.browser_hash = n.previous_hash and gone.email = n.email
      and gone.purpose = n.purpose and gone.used_at is null and gone.expires_at > now()
    -- a session that has ended meanwhile moves no account
    where n.session_id is null or exists (select from sessions s where s.id = n.session_id for key share)
    returning id`.execute(tx)
  const ids = new Set(rows.map(({ id }) => id))
  const mailed = made.filter(({ id }) => ids.has(id))
  await jobs.add(
    tx,
    codeQueue(secret),
    mailed.map(({ id, locale }) => ({ data: { id, ...(locale && { locale }) } })),
  )
  return made.map(({ id }) => ids.has(id))
}

export interface CodeTry<Purpose extends string = string> {
  browserHash: Buffer
  code: string
  purpose: Purpose
  email?: string
  sessionId?: string
}

export interface RightCode {
  isRight: boolean
  email: string
  issuer: string | null
  subject: string | null
}

/**
 * Tries a code in one guarded statement. However many tries run at once, at most five wrong ones count, and the right code works
 * once. Returns undefined when the browser is not waiting for a code, or its code is used, out of tries or expired. The caller commits in
 * every case, so that a wrong try counts.
 */
export async function tryCode(
  tx: Tx,
  { codeHash }: CodeKind,
  secrets: readonly string[],
  given: CodeTry,
): Promise<RightCode | undefined> {
  const digits = codeDigits(given.code)
  const hashes = secrets.map((secret) => codeHash(secret, given.browserHash, digits))
  const { rows } = await sql<RightCode>`
    update mailbox_codes set
      used_at = case when code_hash = any(${hashes}) then clock_timestamp() end,
      wrong_tries = wrong_tries + case when code_hash = any(${hashes}) then 0 else 1 end
    where browser_hash = ${given.browserHash} and purpose = ${given.purpose}
      and (${given.email ?? null}::text is null or email = ${given.email ?? null})
      and session_id is not distinct from ${given.sessionId ?? null}
      and used_at is null and wrong_tries < ${MOST_WRONG_TRIES} and expires_at > clock_timestamp()
    returning used_at is not null as "isRight", email, issuer, subject`.execute(tx)
  return rows[0]
}

/** Deletes codes that expired more than a day ago. */
export async function sweepCodes(db: Db): Promise<void> {
  const isOver = sql`expires_at < now() - interval '1 day'`
  await sweepRows(db, 'mailbox_codes', isOver)
  // during an update, an older version beside this one still writes to this table
  await sweepRows(db, 'one_time_codes', isOver)
}
