import { sql } from 'kysely'
import type { Db, Tx } from '../kit/database.ts'
import type { Jobs } from '../kit/jobs.ts'
import { type Notice, addNotice } from './mails.ts'

/** As many as a page shows. The older ones stay in the table. */
const MOST_SHOWN = 50

export interface AccountEvent {
  sellerId: string
  what: Notice['kind']
  /** Of a provider's account: which provider, and what it calls the mailbox. */
  issuer?: string
  email?: string | undefined
}

export interface ListedEvent {
  at: Date
  what: Notice['kind']
  issuer: string | null
  email: string | null
}

/** Writes what protects an account into its history. The owner can read it there, who may not have done it. */
export async function addEvent(tx: Tx, { sellerId, what, issuer, email }: AccountEvent): Promise<void> {
  await sql`
    insert into account_events (seller_id, what, issuer, email)
    values (${sellerId}, ${what}, ${issuer ?? null}, ${email ?? null})`.execute(tx)
}

/** The same, and the owner is told by mail. */
export async function tellOwner(tx: Tx, jobs: Jobs, event: AccountEvent, to: string): Promise<void> {
  await addEvent(tx, event)
  await addNotice(
    tx,
    jobs,
    event.what === 'email_changed' ? { kind: event.what, to, newEmail: event.email! } : { kind: event.what, to },
  )
}

/** The events of an account, the newest first. */
export async function listEvents(db: Db, sellerId: string): Promise<ListedEvent[]> {
  const { rows } = await sql<ListedEvent>`
    select at, what, issuer, email from account_events where seller_id = ${sellerId}
    order by id desc limit ${MOST_SHOWN}`.execute(db)
  return rows
}
