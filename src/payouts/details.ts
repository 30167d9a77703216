import { sql } from 'kysely'
import { type Db, type Tx, inTransaction } from '../kit/database.ts'
import { Refusal } from '../kit/errors.ts'
import type { Jobs } from '../kit/jobs.ts'
import { type TextSeal, textSeal } from '../kit/sealed-text.ts'
import { notifyOwnerEverywhere } from '../sellers/history.ts'
import { type SignedIn, lockSignedIn } from '../sellers/sessions.ts'
import { confirmDetails, isRefusedAccount } from './refused-account.ts'
import { type Destination, openDestination, sealDestination, shownOf } from './destination.ts'

/** No owner changes them more often. Each change sends mails, and among thousands of mails the owner would miss the one that matters. */
const MOST_CHANGES_A_DAY = 20
/** The time in which the owner can notice a change that somebody else has made. Details that are new wait too: see putDetails(). */
const HOLD = '72 hours'

export const payoutSeal = (secrets: readonly string[]): TextSeal => textSeal(secrets, 'payout details')

export interface DetailsRow {
  currency: string
  kind: Destination['kind']
  country: string
  shown: string
  changedAt: Date
  payableFrom: Date
  /** The bank refused the last payout to this account. */
  isRefused: boolean
}

const COLUMNS = sql`d.currency, d.kind, d.country, d.shown, d.changed_at as "changedAt", d.payable_from as "payableFrom",
  ${isRefusedAccount} as "isRefused"`

export async function listDetails(db: Db, sellerId: string): Promise<DetailsRow[]> {
  const { rows } = await sql<DetailsRow>`
    select ${COLUMNS} from payout_details d where d.seller_id = ${sellerId} order by d.currency`.execute(db)
  return rows
}

interface ChangeParts {
  db: Db
  jobs: Jobs
  seal: TextSeal
}

/**
 * Sets where the money of one currency goes. Every change holds payouts for 72 hours, also the first one: a thief of a session could
 * otherwise name the first destination and be paid the whole balance. The owner gets a mail. A repeat of the same
 * destination sends no mail: it only confirms the account after a payout that failed or came back.
 * Throws `not_signed_in`, `recent_sign_in_required`, `rate_limited`.
 */
export const putDetails = (
  { db, jobs, seal }: ChangeParts,
  signedIn: SignedIn,
  currency: string,
  destination: Destination,
): Promise<DetailsRow> =>
  inTransaction(db, async (tx) => {
    const seller = await lockOwner(tx, signedIn)
    const { rows: before } = await sql<DetailsRow & { sealed: Buffer }>`
      select ${COLUMNS}, d.sealed from payout_details d
      where d.seller_id = ${seller.id} and d.currency = ${currency}`.execute(tx)
    if (before[0]) {
      const { sealed, ...row } = before[0]
      const opened = openDestination(seal, sealed)
      if (opened && JSON.stringify(opened) === JSON.stringify(destination)) {
        const changedAt = await confirmDetails(tx, seller.id, currency)
        return changedAt ? { ...row, changedAt, isRefused: false } : row
      }
    }
    await refuseManyChanges(tx, seller.id)
    const { kind, country } = destination
    const shown = shownOf(destination)
    const { rows } = await sql<DetailsRow>`
      insert into payout_details as d (seller_id, currency, kind, country, sealed, shown, payable_from)
      values (${seller.id}, ${currency}, ${kind}, ${country}, ${sealDestination(seal, destination)}, ${shown}, now() + ${HOLD}::interval)
      on conflict (seller_id, currency) do update set kind = excluded.kind, country = excluded.country,
        sealed = excluded.sealed, shown = excluded.shown, changed_at = now(), payable_from = excluded.payable_from
      returning ${COLUMNS}`.execute(tx)
    await notifyOwnerEverywhere(tx, jobs, { sellerId: seller.id, what: 'payout_details_changed', currency, shown }, seller.email) // oxfmt-ignore
    return rows[0]!
  })

/**
 * Removes the destination of one currency. Payouts that are approved keep theirs. Throws `payout_details_not_found`, `not_signed_in`,
 * `recent_sign_in_required`.
 */
export const removeDetails = ({ db, jobs }: ChangeParts, signedIn: SignedIn, currency: string): Promise<void> =>
  inTransaction(db, async (tx) => {
    const seller = await lockOwner(tx, signedIn)
    const { rows } = await sql<{ shown: string }>`
      delete from payout_details where seller_id = ${seller.id} and currency = ${currency} returning shown`.execute(tx)
    if (!rows[0]) throw new Refusal('payout_details_not_found', `You have no payout details for ${currency}.`)
    const event = { sellerId: seller.id, what: 'payout_details_removed', currency, shown: rows[0].shown } as const
    await notifyOwnerEverywhere(tx, jobs, event, seller.email)
  })

/**
 * Notes a change of the account at the processor that pays sellers, before the processor is told: nothing holds its payouts back, so the
 * mail must not depend on an answer. Without `change` the bank account stays, so there is no mail. Throws the same refusals as putDetails().
 */
export const noteToldAccount = (
  { db, jobs }: Omit<ChangeParts, 'seal'>,
  signedIn: SignedIn,
  change: { currency: string; shown: string; by: string } | undefined,
): Promise<void> =>
  inTransaction(db, async (tx) => {
    const seller = await lockOwner(tx, signedIn)
    await refuseManyChanges(tx, seller.id)
    if (change)
      await notifyOwnerEverywhere(tx, jobs, { sellerId: seller.id, what: 'payout_details_changed', ...change }, seller.email) // oxfmt-ignore
  })

/** Counts removals too: they send mails as well, and stay possible. */
async function refuseManyChanges(tx: Tx, sellerId: string): Promise<void> {
  // when the first of the changes that fill the day is a day old, another one is possible
  const { rows } = await sql<{ secondsLeft: number }>`
    select ceil(extract(epoch from at + interval '1 day' - now()))::int as "secondsLeft" from account_events
    where seller_id = ${sellerId} and at > now() - interval '1 day'
      and what in ('payout_details_changed', 'payout_details_removed')
    order by at desc offset ${MOST_CHANGES_A_DAY - 1} limit 1`.execute(tx)
  if (!rows[0]) return
  throw new Refusal('rate_limited', `Payout details can be changed ${MOST_CHANGES_A_DAY} times a day.`, {
    retryAfterSeconds: Math.max(1, rows[0].secondsLeft),
    limitCount: MOST_CHANGES_A_DAY,
  })
}

/** Locks the seller. A run locks the sellers too, so it sees the details before or after the change. */
async function lockOwner(tx: Tx, signedIn: SignedIn) {
  const seller = await lockSignedIn(tx, signedIn)
  // somebody else may have made this account, and its money belongs to the owner of the mailbox
  if (!seller.isProven) throw new Refusal('recent_sign_in_required', 'Sign in by a code to your mailbox first.')
  return seller
}
