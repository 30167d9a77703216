import { sql } from 'kysely'
import type { Db, Tx } from '../kit/database.ts'
import type { Jobs } from '../kit/jobs.ts'
import { type Notice, addNotice } from './mails.ts'

/** One page. Older events stay in the table. */
const MOST_SHOWN = 50

export interface AccountEvent {
  sellerId: string
  what: Exclude<Notice['kind'], `shop_${string}`>
  /** For a provider's account: the provider. `email` is then the provider's address for it. */
  issuer?: string
  email?: string | undefined
}

export interface ListedEvent {
  at: Date
  what: Exclude<Notice['kind'], `shop_${string}`>
  issuer: string | null
  email: string | null
}

/** Writes a change to an account's security into its history, where the owner sees changes that somebody else has made. */
export async function addEvent(tx: Tx, { sellerId, what, issuer, email }: AccountEvent): Promise<void> {
  await sql`
    insert into account_events (seller_id, what, issuer, email)
    values (${sellerId}, ${what}, ${issuer ?? null}, ${email ?? null})`.execute(tx)
}

/** Writes the event, and enqueues a mail to the owner. */
export async function notifyOwner(tx: Tx, jobs: Jobs, event: AccountEvent, to: string): Promise<void> {
  await addEvent(tx, event)
  await addNotice(
    tx,
    jobs,
    event.what === 'email_changed' ? { kind: event.what, to, newEmail: event.email! } : { kind: event.what, to },
  )
}

/** The events of an account, newest first. */
export async function listEvents(db: Db, sellerId: string): Promise<ListedEvent[]> {
  const { rows } = await sql<ListedEvent>`
    select at, what, issuer, email from account_events where seller_id = ${sellerId}
    order by id desc limit ${MOST_SHOWN}`.execute(db)
  return rows
}
