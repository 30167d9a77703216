import { sql } from 'kysely'
import { randomUUID } from 'node:crypto'
import {
  CODE_SECONDS,
  type CodeLimits,
  MOST_WRONG_TRIES,
  RESEND_SECONDS,
  codeDigits,
  codeKind,
  limitedSender,
} from '../kit/codes.ts'
import type { Db, Tx } from '../kit/database.ts'
import { Refusal } from '../kit/errors.ts'
import type { Jobs } from '../kit/jobs.ts'

export const { codeOf, codeHash, codeQueue } = codeKind('one-time code', 'code')

export interface NewCode {
  email: string
  purpose: 'sign_in' | 'change_email'
  /** SHA-256 of what the browser holds from now on, and of what it held before. */
  browserHash: Buffer
  previousBrowserHash?: Buffer | undefined
  /** Under which name requests for this mailbox are counted, and under which those of this network. */
  bucket: string
  network: string
  /** Who asks to move to this mailbox. */
  sessionId?: string
  /** Who a provider says this is. */
  identity?: { issuer: string; subject: string }
}

export type SendCode = (code: NewCode) => Promise<{ resendAfterSeconds: number }>

/**
 * Makes a code for a mailbox, in the place of any older one, and has it mailed, in one transaction; those asked for together
 * share it. Whether the mailbox is known makes no difference here: the mail's own job looks. Throws `rate_limited`, and
 * `not_signed_in` when the session that asks to move has ended.
 */
export function codeSender(db: Db, jobs: Jobs, secrets: readonly string[], limits: CodeLimits): SendCode {
  const send = limitedSender<NewCode>(db, 'code', limits, (tx, codes) => sendAll(tx, jobs, secrets[0]!, codes))
  return async (code) => {
    const sent = await send(code)
    if (!sent) throw new Refusal('not_signed_in', 'The session has ended.')
    return sent
  }
}

/** Under which codes sent to a mailbox are counted. */
export const codeKey = ({ bucket }: Pick<NewCode, 'bucket'>): string => `code ${bucket}`

/** Says for which mailboxes: one whose session has ended meanwhile gets none. */
async function sendAll(tx: Tx, jobs: Jobs, secret: string, codes: readonly NewCode[]): Promise<Set<string>> {
  // of several for one mailbox the last is the one that counts, as if they had come one after the other
  const live = [...new Map(codes.map((code) => [code.email, { ...code, id: randomUUID() }])).values()]
  live.sort((a, b) => (a.email < b.email ? -1 : 1))
  const column = <T>(pick: (code: (typeof live)[number]) => T): T[] => live.map(pick)
  const { rows } = await sql<{ email: string }>`
    insert into one_time_codes (email, id, purpose, browser_hash, code_hash, expires_at, session_id, issuer, subject)
    select n.email, n.id, n.purpose, n.browser_hash, n.code_hash, now() + make_interval(secs => ${CODE_SECONDS}::int), n.session_id,
      -- who a provider sent keeps that over a second code, in the same browser
      coalesce(n.issuer, o.issuer), coalesce(n.subject, o.subject)
    from unnest(
      ${column(({ email }) => email)}::text[], ${column(({ id }) => id)}::uuid[], ${column(({ purpose }) => purpose)}::text[],
      ${column(({ browserHash }) => browserHash)}::bytea[],
      ${column(({ id, browserHash }) => codeHash(secret, browserHash, codeOf(secret, id)))}::bytea[],
      ${column(({ sessionId }) => sessionId ?? null)}::text[], ${column(({ identity }) => identity?.issuer ?? null)}::text[],
      ${column(({ identity }) => identity?.subject ?? null)}::text[],
      ${column(({ previousBrowserHash }) => previousBrowserHash ?? null)}::bytea[])
      as n (email, id, purpose, browser_hash, code_hash, session_id, issuer, subject, previous_hash)
    -- lateral, by the key alone, and held apart: joined as a whole, all codes there are would be read for each
    left join lateral (
      select * from one_time_codes c where c.email = n.email and n.previous_hash is not null offset 0
    ) o on o.browser_hash = n.previous_hash and o.used_at is null and o.expires_at > now()
      and n.purpose = 'sign_in' and n.issuer is null
    -- who has signed out meanwhile moves nowhere
    where n.session_id is null or exists (select from sessions s where s.id = n.session_id for key share)
    order by n.email
    on conflict (email) do update set id = excluded.id, purpose = excluded.purpose, browser_hash = excluded.browser_hash,
      code_hash = excluded.code_hash, wrong_tries = 0, used_at = null, created_at = excluded.created_at,
      expires_at = excluded.expires_at, session_id = excluded.session_id, issuer = excluded.issuer, subject = excluded.subject
    returning email`.execute(tx)
  await jobs.add(
    tx,
    codeQueue(secret),
    live.map(({ id }) => ({ data: { id } })),
  )
  return new Set(rows.map(({ email }) => email))
}

export interface CodeTry {
  browserHash: Buffer
  code: string
  purpose: NewCode['purpose']
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
export async function tryCode(tx: Tx, secrets: readonly string[], given: CodeTry): Promise<RightCode | undefined> {
  const digits = codeDigits(given.code)
  const hashes = secrets.map((secret) => codeHash(secret, given.browserHash, digits))
  const { rows } = await sql<RightCode>`
    update one_time_codes set
      used_at = case when code_hash = any(${hashes}) then clock_timestamp() end,
      wrong_tries = wrong_tries + case when code_hash = any(${hashes}) then 0 else 1 end
    where browser_hash = ${given.browserHash} and purpose = ${given.purpose}
      and (${given.email ?? null}::text is null or email = ${given.email ?? null})
      and session_id is not distinct from ${given.sessionId ?? null}
      and used_at is null and wrong_tries < ${MOST_WRONG_TRIES} and expires_at > clock_timestamp()
    returning used_at is not null as "isRight", email, issuer, subject`.execute(tx)
  return rows[0]
}

export interface AwaitedCode {
  email: string
  ageSeconds: number
  provider: boolean
}

/** The live code that a browser waits for. */
export async function findAwaited(
  db: Db,
  browserHash: Buffer,
  purpose: NewCode['purpose'],
): Promise<AwaitedCode | undefined> {
  const { rows } = await sql<AwaitedCode>`
    select email, extract(epoch from now() - created_at)::int as "ageSeconds", issuer is not null as provider
    from one_time_codes
    where browser_hash = ${browserHash} and purpose = ${purpose} and used_at is null
      and wrong_tries < ${MOST_WRONG_TRIES} and expires_at > now()`.execute(db)
  return rows[0]
}

export const resendIn = (ageSeconds: number): number => Math.max(0, RESEND_SECONDS - ageSeconds)
