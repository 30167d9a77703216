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
  /** For an API key. */
  keyName?: string
}

export interface ListedEvent {
  at: Date
  what: Exclude<Notice['kind'], `shop_${string}`>
  issuer: string | null
  email: string | null
  keyName: string | null
}

/** Writes a change to an account's security into its history, where the owner sees changes that somebody else has made. */
export async function addEvent(tx: Tx, { sellerId, what, issuer, email, keyName }: AccountEvent): Promise<void> {
  await sql`
    insert into account_events (seller_id, what, issuer, email, key_name)
    values (${sellerId}, ${what}, ${issuer ?? null}, ${email ?? null}, ${keyName ?? null})`.execute(tx)
}

/** Writes the event, and enqueues a mail to the owner. */
export async function notifyOwner(tx: Tx, jobs: Jobs, event: AccountEvent, to: string): Promise<void> {
  await addEvent(tx, event)
  await addNotice(tx, jobs, noticeOf(event, to))
}

function noticeOf({ what, email, keyName }: AccountEvent, to: string): Notice {
  if (what === 'email_changed') return { kind: what, to, newEmail: email! }
  return what === 'key_created' || what === 'key_rolled' || what === 'key_revoked'
    ? { kind: what, to, keyName: keyName! }
    : { kind: what, to }
}

/** The events of an account, newest first. */
export async function listEvents(db: Db, sellerId: string): Promise<ListedEvent[]> {
  const { rows } = await sql<ListedEvent>`
    select at, what, issuer, email, key_name as "keyName" from account_events where seller_id = ${sellerId}
    order by id desc limit ${MOST_SHOWN}`.execute(db)
  return rows
}
