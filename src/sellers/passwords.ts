import type { ZxcvbnFactory } from '@zxcvbn-ts/core'
import { sql } from 'kysely'
import type { Asker } from '../kit/codes.ts'
import { type Db, type Tx, inTransaction, retryConflicts } from '../kit/database.ts'
import { Refusal } from '../kit/errors.ts'
import type { Jobs } from '../kit/jobs.ts'
import { type Limit, countOneThenOther, countUses, giveBack, refuseBeyond } from '../kit/limits.ts'
import { hashPassword, verifyPassword } from '../kit/password-hash.ts'
import { notifyOwner } from './history.ts'
import type { SellerRow } from './sellers.ts'
import { standingOf } from './standing.ts'
import { type Browser, MOST_SESSIONS, type SignedIn, endOtherSessions, lockSignedIn, newSession } from './sessions.ts'

/** Below this score the estimator expects an attacker with lists of common passwords to need less than a million guesses. */
const LEAST_SCORE = 2

/** The estimator blocks the process, so it checks only the beginning of a password and few spellings of letters as digits. */
const BOUNDS = { maxLength: 64, l33tMaxSubstitutions: 8 }

export interface PasswordParts {
  db: Db
  jobs: Jobs
  limit: Limit | undefined
}

export interface Guess {
  email: string
  password: string
  /** The names under which limits count wrong tries. */
  asker: Asker
}

/**
 * Signs in by mailbox and password. A wrong password, an unknown mailbox and an account without a password get the same response after
 * the same work. Throws `invalid_credentials`, `rate_limited`, `sign_in_busy`.
 */
export async function signInByPassword(
  parts: PasswordParts,
  { browser, ...guess }: Guess & { browser: Browser },
): Promise<{ seller: SellerRow; token: string }> {
  const found = await checkGuess(parts, guess)
  const session = found && retryConflicts(() => startByPassword(parts.db, found, browser))
  const [signedIn] = await Promise.all([session, found?.countReturned])
  if (!signedIn) throw new Refusal('invalid_credentials', 'The mailbox or the password is not right.')
  return signedIn
}

export interface PasswordChange {
  newPassword: string
  currentPassword: string | undefined
  asker: Asker
}

/**
 * Sets a password, ends all other sessions, and enqueues a mail to the owner. It needs a recent sign-in or the present password.
 * Throws `recent_sign_in_required`, `wrong_password`, `password_too_common`, `rate_limited`, `not_signed_in`.
 */
export async function changePassword(
  parts: PasswordParts,
  signedIn: SignedIn,
  { newPassword, currentPassword, asker }: PasswordChange,
): Promise<void> {
  const {
    id: sessionId,
    isRecent,
    seller: { id, email },
  } = signedIn
  const wrong = new Refusal('wrong_password', 'The present password is not right.')
  const present =
    currentPassword === undefined ? undefined : await checkGuess(parts, { email, password: currentPassword, asker })
  await present?.countReturned
  if (currentPassword !== undefined && !present) throw wrong
  if (!isRecent && !present) {
    throw new Refusal('recent_sign_in_required', 'Give the present password, or sign in again first.')
  }
  if (parts.limit)
    refuseBeyond(
      await countUses(parts.db, [{ key: `password set ${id}`, limit: parts.limit }]),
      'The password was set too often.',
    )
  if (await isCommon(newPassword, email))
    throw new Refusal('password_too_common', 'This password is among the first that an attacker would try.')
  const hash = await hashPassword(newPassword)
  await inTransaction(parts.db, async (tx) => {
    const seller = await lockSignedIn(tx, signedIn)
    if (present && !(await isUnchanged(tx, present))) throw wrong
    await sql`
      insert into passwords (seller_id, hash) values (${id}, ${hash})
      on conflict (seller_id) do update set hash = excluded.hash, set_at = now()`.execute(tx)
    await endOtherSessions(tx, id, sessionId)
    await notifyOwner(tx, parts.jobs, { sellerId: id, what: 'password_changed' }, seller.email)
  })
}

interface StoredPassword {
  sellerId: string
  hash: string
  /** A right password is not counted. Resolves when its count is taken back. */
  countReturned?: Promise<void> | undefined
}

/** Checks a password. A wrong one counts for the account and for the network, before any work is done for it. */
async function checkGuess(
  { db, limit }: PasswordParts,
  { email, password, asker: { mailbox, network, known } }: Guess,
): Promise<StoredPassword | undefined> {
  // A known browser has a count of its own, whatever its network does. For a stranger the network's count comes first, so a network
  // that is over its limit uses nothing up of the account's.
  const keys = known === undefined ? [`password from ${network}`, `password ${mailbox}`] : [`password ${known}`]
  const [found] = await Promise.all([findHash(db, email), limit && countGuess(db, keys, limit)])
  const isRight = await verifyPassword(password, found?.hash).catch(async (error: unknown) => {
    // the password was not checked, so it does not count as wrong
    if (limit) await giveBack(db, keys)
    throw error
  })
  return isRight && found ? { ...found, countReturned: limit && giveBack(db, keys) } : undefined
}

async function findHash(db: Db, email: string): Promise<StoredPassword | undefined> {
  const { rows } = await sql<StoredPassword>`
    select s.id as "sellerId", p.hash
    from sellers s join passwords p on p.seller_id = s.id
    where s.email = ${email} and s.email_proven_at is not null and s.disabled_at is null`.execute(db)
  return rows[0]
}

async function countGuess(db: Db, keys: readonly string[], limit: Limit): Promise<void> {
  const [one, other] = keys.map((key) => ({ key, limit, grows: true }))
  const counted = other ? await countOneThenOther(db, one!, other) : await countUses(db, [one!])
  refuseBeyond(counted, 'Too many wrong passwords. A code by mail works meanwhile.')
}

/**
 * Starts a session as startSession() does, in one statement, because the seller waits for it. It locks the seller and the password, so it
 * sees a change of the password during our hashing, and the old password opens nothing. Simultaneous sign-ins can leave more than
 * MOST_SESSIONS, until the next one.
 */
async function startByPassword(
  db: Db,
  { sellerId, hash }: StoredPassword,
  browser: Browser,
): Promise<{ seller: SellerRow; token: string } | undefined> {
  const { token, id, tokenHash, userAgent, replaced } = newSession(browser)
  const { rows } = await sql<Omit<SellerRow, 'hasPassword'>>`
    with seller as materialized (
      select id, name, email, support_email, created_at, ${standingOf('sellers')} as standing from sellers where id = ${sellerId} and disabled_at is null for no key update),
    still as materialized (
      select p.seller_id from passwords p join seller on seller.id = p.seller_id where p.hash = ${hash} for share of p),
    replaced as (delete from sessions where token_hash = any(${replaced}) and exists (select from still)),
    oldest as (
      delete from sessions where id in (
        select s.id from sessions s join still on still.seller_id = s.seller_id where s.token_hash <> all(${replaced})
        order by s.created_at desc, s.id desc offset ${MOST_SESSIONS - 1})),
    made as (
      insert into sessions (id, token_hash, seller_id, method, user_agent)
      select ${id}, ${tokenHash}, seller_id, 'password', ${userAgent} from still returning seller_id)
    select seller.id, seller.name, seller.email, seller.support_email as "supportEmail", seller.created_at as "createdAt", seller.standing
    from seller join made on made.seller_id = seller.id`.execute(db)
  return rows[0] && { seller: { ...rows[0], hasPassword: true }, token }
}

async function isUnchanged(tx: Tx, { sellerId, hash }: StoredPassword): Promise<boolean> {
  const { rows } = await sql`select 1 from passwords where seller_id = ${sellerId} and hash = ${hash}`.execute(tx)
  return rows.length > 0
}

let estimator: ZxcvbnFactory | undefined

/** Loads the estimator with the first new password, because its lists are larger than all of our code. */
async function isCommon(password: string, email: string): Promise<boolean> {
  const [core, common] = await Promise.all([import('@zxcvbn-ts/core'), import('@zxcvbn-ts/language-common')])
  estimator ??= new core.ZxcvbnFactory({ dictionary: common.dictionary, graphs: common.adjacencyGraphs, ...BOUNDS })
  // normalised as for the hash, so that full-width letters are the same letters
  return estimator.check(password.normalize('NFKC'), [email, ...email.split('@'), 'till']).score < LEAST_SCORE
}
