import { sql } from 'kysely'
import type { Db, Tx } from '../kit/database.ts'
import type { Jobs } from '../kit/jobs.ts'
import { type Notice, addNotice } from './mails.ts'

/** One page. Older events stay in the table. */
const MOST_SHOWN = 50
const OWNED_LATELY = '30 days'

export interface AccountEvent {
  sellerId: string
  what: Exclude<Notice['kind'], `shop_${string}`>
  /** For a provider's account: the provider. `email` is then the provider's address for it. */
  issuer?: string
  email?: string | undefined
  /** For an API key. */
  keyName?: string
  /** For payout details: their currency, and the masked destination. */
  currency?: string
  shown?: string
  /** For an account at a processor that pays sellers: its name. */
  by?: string
  /** For the seller's mailbox: the one before. */
  previousEmail?: string
}

export interface ListedEvent {
  at: Date
  what: Exclude<Notice['kind'], `shop_${string}`>
  issuer: string | null
  email: string | null
  keyName: string | null
  currency: string | null
}

/** Writes a change to an account's security into its history, where the owner sees changes that somebody else has made. */
export async function addEvent(tx: Tx, event: AccountEvent): Promise<void> {
  const { sellerId, what, issuer, email, keyName, currency, previousEmail } = event
  await sql`
    insert into account_events (seller_id, what, issuer, email, key_name, currency, previous_email)
    values (${sellerId}, ${what}, ${issuer ?? null}, ${email ?? null}, ${keyName ?? null}, ${currency ?? null},
      ${previousEmail ?? null})`.execute(tx)
}

/** Writes the event, and enqueues a mail to the owner. */
export async function notifyOwner(tx: Tx, jobs: Jobs, event: AccountEvent, to: string): Promise<void> {
  await addEvent(tx, event)
  await addNotice(tx, jobs, noticeOf(event, to))
}

/** The same, with a mail to each mailbox that the account had lately. */
export async function notifyOwnerEverywhere(tx: Tx, jobs: Jobs, event: AccountEvent, to: string): Promise<void> {
  await notifyOwner(tx, jobs, event, to)
  for (const email of await earlierMailboxes(tx, event.sellerId, to)) await addNotice(tx, jobs, noticeOf(event, email))
}

/** The other mailboxes that the account had in the last 30 days: a thief may have moved it to another mailbox first. */
export async function earlierMailboxes(tx: Tx, sellerId: string, to: string): Promise<string[]> {
  const { rows } = await sql<{ email: string }>`
    select distinct previous_email as email from account_events
    where seller_id = ${sellerId} and at > now() - ${OWNED_LATELY}::interval and previous_email <> ${to}`.execute(tx)
  return rows.map(({ email }) => email)
}

function noticeOf({ what, email, keyName, currency, shown, by }: AccountEvent, to: string): Notice {
  if (what === 'payout_details_changed' || what === 'payout_details_removed')
    return { kind: what, to, currency: currency!, shown: shown!, ...(by && { by }) }
  if (what === 'email_changed') return { kind: what, to, newEmail: email! }
  return what === 'key_created' || what === 'key_rolled' || what === 'key_revoked'
    ? { kind: what, to, keyName: keyName! }
    : { kind: what, to }
}

/** The events of an account, newest first. */
export async function listEvents(db: Db, sellerId: string): Promise<ListedEvent[]> {
  const { rows } = await sql<ListedEvent>`
    select at, what, issuer, email, key_name as "keyName", currency from account_events where seller_id = ${sellerId}
    order by id desc limit ${MOST_SHOWN}`.execute(db)
  return rows
}
