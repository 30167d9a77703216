import { wrongEmailKey } from './find.ts'
import { sql } from 'kysely'
import type { Db, Tx } from '../kit/database.ts'

// The mail server accepts or refuses a receipt at once. The order can have another address by then: its mark stays as it is.

/** The mail server refused the receipt to this address: the mailbox itself, or what the mail says. */
export async function noteBounced(db: Db, orderId: string, email: string, isMailbox: boolean): Promise<void> {
  await sql`
    update orders set receipt_bounced_at = coalesce(receipt_bounced_at, now()),
      mailbox_refused_at = case when ${isMailbox} then coalesce(mailbox_refused_at, now()) else mailbox_refused_at end
    where id = ${orderId} and email = ${email}
      and (receipt_bounced_at is null or (${isMailbox} and mailbox_refused_at is null))`.execute(db)
}

/** It took one after all. */
export async function noteReceived(db: Db, orderId: string, email: string): Promise<void> {
  await sql`
    update orders set receipt_bounced_at = null, mailbox_refused_at = null, receipt_held_at = null
    where id = ${orderId} and email = ${email}`.execute(db)
}

/** The reader of that address keeps the order there. False: it has another address by now. */
export async function noteKept(tx: Tx, orderId: string, email: string): Promise<boolean> {
  const { rows } = await sql`
    update orders set address_kept_at = coalesce(address_kept_at, now())
    where id = ${orderId} and email = ${email} returning 1`.execute(tx)
  return rows.length > 0
}

/**
 * From now on the order is that mailbox's, and what its address opened before opens nothing more. Returns the old address; none
 * when it was there already. That other addresses were tried lately is forgotten: most likely it was this one.
 */
export async function moveToMailbox(tx: Tx, orderId: string, email: string): Promise<string | undefined> {
  const { rows } = await sql<{ oldEmail: string }>`
    update orders o set email = ${email}, email_changed_at = now(), address_kept_at = null, receipt_bounced_at = null, mailbox_refused_at = null, receipt_held_at = null
    from (select id, email from orders where id = ${orderId} for update) before
    where o.id = before.id and before.email <> ${email}
    returning before.email as "oldEmail"`.execute(tx)
  await sql`delete from limits where key = ${wrongEmailKey(orderId)}`.execute(tx)
  return rows[0]?.oldEmail
}
