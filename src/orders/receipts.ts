import { wrongEmailKey } from './find.ts'
import { sql } from 'kysely'
import type { Db, Tx } from '../kit/database.ts'

export const TOO_MANY_RECEIPTS = 'The receipt was sent many times. Please try again later.'

// The order's address can change while the mail server works. So each statement applies only if the order still has that address.

/** Notes that the mail server refused the receipt. `isMailbox`: because of the mailbox, and not of the mail's content. */
export async function recordBounce(db: Db, orderId: string, email: string, isMailbox: boolean): Promise<void> {
  await sql`
    update orders set receipt_bounced_at = coalesce(receipt_bounced_at, now()),
      mailbox_refused_at = case when ${isMailbox} then coalesce(mailbox_refused_at, now()) else mailbox_refused_at end
    where id = ${orderId} and email = ${email}
      and (receipt_bounced_at is null or (${isMailbox} and mailbox_refused_at is null))`.execute(db)
}

/** Notes that the mail server accepted a receipt after an earlier one was refused or held back. */
export async function clearBounce(db: Db, orderId: string, email: string): Promise<void> {
  await sql`
    update orders set receipt_bounced_at = null, mailbox_refused_at = null, receipt_held_at = null
    where id = ${orderId} and email = ${email}`.execute(db)
}

/** Notes that the reader of the mailbox keeps the order. False: the order has another address by now. */
export async function confirmAddress(tx: Tx, orderId: string, email: string): Promise<boolean> {
  const { rows } = await sql`
    update orders set address_kept_at = coalesce(address_kept_at, now())
    where id = ${orderId} and email = ${email} returning 1`.execute(tx)
  return rows.length > 0
}

/**
 * Gives the order a new address, which ends the links of the old one. Returns the old address, or undefined when the order already
 * had the new one. The count of wrong addresses starts again: most likely the buyer had tried the new one.
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
