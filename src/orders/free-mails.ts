import { sql } from 'kysely'
import type { Db, Tx } from '../kit/database.ts'
import { type Limit, type Use, countInTurn, refuseBeyond } from '../kit/limits.ts'

// Anybody can order a free product with any address, and anybody can become a seller and name a free product. So receipts of free
// orders are counted before they are mailed. A receipt of an order that cost money is never counted or held back.

export interface FreeMailLimits {
  /** For each mailbox. */
  free_mail?: Limit
  /** For each network that orders come from. */
  free_mail_network?: Limit
  /** For each seller whom the operator has not marked as trusted. */
  free_mail_seller?: Limit
  /** For all such sellers together. */
  free_mail_strangers?: Limit
}

export interface FreeMail {
  email: string
  sellerId: string
  isTrusted: boolean
  /** The buyer's network. Absent when the seller asks for the mail. */
  network?: string | undefined
}

/** Counts the mails, and returns for each whether it may be sent. */
export async function countFreeMails(db: Db, mails: readonly FreeMail[], limits: FreeMailLimits): Promise<boolean[]> {
  const counted = await countInTurn(db, mails, usesOf(limits))
  return counted.map((uses) => uses.every(({ within }) => within))
}

/** Counts one more mail about a free order, at a buyer's or a seller's request. Refuses `rate_limited`. */
export async function refuseFreeMails(
  db: Db,
  { orderId, network }: { orderId: string; network?: string },
  limits: FreeMailLimits,
): Promise<void> {
  const { rows } = await sql<FreeMail>`
    select o.email, o.seller_id as "sellerId", s.trusted_at is not null as "isTrusted"
    from orders o join sellers s on s.id = o.seller_id where o.id = ${orderId} and o.amount_minor = 0`.execute(db)
  const mails = rows.map((mail) => ({ ...mail, network }))
  refuseBeyond((await countInTurn(db, mails, usesOf(limits))).flat(), TOO_MANY)
}

/** Counts a mail with an untrusted seller's words to an address that this seller chose. Refuses `rate_limited`. */
export async function refuseStrangersMail(db: Db, sellerId: string, limits: FreeMailLimits): Promise<void> {
  const { rows } = await sql`select 1 from sellers where id = ${sellerId} and trusted_at is null`.execute(db)
  const mails = rows.map(() => ({ email: '', sellerId, isTrusted: false }))
  refuseBeyond((await countInTurn(db, mails, ofStranger(limits))).flat(), TOO_MANY)
}

/** Notes that these receipts were held back. The order's status shows it to the buyer. */
export async function recordHeldReceipts(tx: Tx, orderIds: readonly string[]): Promise<void> {
  if (orderIds.length > 0)
    await sql`update orders set receipt_held_at = now() where id = any(${orderIds}::text[])`.execute(tx)
}

const TOO_MANY =
  'Too many mails about free orders were sent today. Please try again later; the files are on the page of the order.'

const usesOf = (limits: FreeMailLimits): ((mail: FreeMail) => Use | undefined)[] => [
  ({ email }) => use(`free_mail:${plainMailbox(email)}`, limits.free_mail),
  ({ network }) => (network === undefined ? undefined : use(`free_mail from ${network}`, limits.free_mail_network)),
  ...ofStranger(limits),
]

const ofStranger = (limits: FreeMailLimits): ((mail: FreeMail) => Use | undefined)[] => [
  ({ isTrusted, sellerId }) => (isTrusted ? undefined : use(`free_mail of ${sellerId}`, limits.free_mail_seller)),
  ({ isTrusted }) => (isTrusted ? undefined : use('free_mail of strangers', limits.free_mail_strangers)),
]

const use = (key: string, limit: Limit | undefined): Use | undefined => limit && { key, limit }

/** Addresses that differ only in dots, or in the text after a "+", are the same mailbox. */
function plainMailbox(email: string): string {
  const at = email.lastIndexOf('@')
  const [name = ''] = email.slice(0, at).split('+')
  return name.replaceAll('.', '') + email.slice(at)
}
