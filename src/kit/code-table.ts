import { sql } from 'kysely'
import { randomUUID } from 'node:crypto'
import { CODE_SECONDS, type CodeKind, MOST_WRONG_TRIES, codeDigits } from './codes.ts'
import type { Db, Tx } from './database.ts'
import type { Jobs } from './jobs.ts'

// The codes that browsers wait for: one for a mailbox and a browser. Whoever types somebody's address has a code of their own, and
// cannot end the one that the owner waits for.

export interface NewCode<Purpose extends string = string> {
  email: string
  purpose: Purpose
  /** SHA-256 of what the browser holds from now on, and of what it held before: that code is no longer good. */
  browserHash: Buffer
  previousBrowserHash?: Buffer | undefined
  /** It takes the place of the code before it with all that this one was for: a provider's identity. */
  again?: boolean | undefined
  /** Who asks to move an account to this mailbox. */
  sessionId?: string | undefined
  /** Who a provider says this is. */
  identity?: { issuer: string; subject: string } | undefined
}

/** Makes codes and has them mailed. Says of each whether it was made: one whose session has ended meanwhile is not. */
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
    mailed.map(({ id }) => ({ data: { id } })),
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
 * Tries a code, in one guarded statement: of any number at once at most five wrong ones are looked at, and the right one is
 * taken once. Undefined: this browser waits for none, or it is used, burnt or over. Commit whatever the answer is.
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

/** Forgets the codes whose time is over. */
export async function sweepCodes(db: Db): Promise<void> {
  await sql`delete from mailbox_codes where expires_at < now() - interval '1 day'`.execute(db)
  // an older program beside this one still writes these
  await sql`delete from one_time_codes where expires_at < now() - interval '1 day'`.execute(db)
}
