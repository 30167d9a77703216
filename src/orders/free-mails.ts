import { sql } from 'kysely'
import type { Db, Tx } from '../kit/database.ts'
import { type Limit, type Use, countInTurn, refuseBeyond } from '../kit/limits.ts'

// Anybody can order what is free, for anybody, and anybody can become a seller and name a free product. So receipts of free orders
// are counted before they are mailed. The receipt of an order that was paid for is never counted, and never held back.

export interface FreeMailLimits {
  /** Of each mailbox. */
  free_mail?: Limit
  /** Of each network that orders. */
  free_mail_network?: Limit
  /** Of each seller who is not trusted yet. */
  free_mail_seller?: Limit
  /** Of all sellers who are not trusted yet. */
  free_mail_strangers?: Limit
}

export interface FreeMail {
  email: string
  sellerId: string
  isTrusted: boolean
  /** Absent: no buyer asks, but the seller. */
  network?: string | undefined
}

/** Counts a mail of each, and says which may be sent. */
export async function countFreeMails(db: Db, mails: readonly FreeMail[], limits: FreeMailLimits): Promise<boolean[]> {
  const counted = await countInTurn(db, mails, usesOf(limits))
  return counted.map((uses) => uses.every(({ within }) => within))
}

/** Before one more mail about an order that cost nothing, whoever asks for it. Refuses `rate_limited`. */
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

/** Before a mail with a seller's words to an address that the seller names. Refuses `rate_limited`. */
export async function refuseStrangersMail(db: Db, sellerId: string, limits: FreeMailLimits): Promise<void> {
  const { rows } = await sql`select 1 from sellers where id = ${sellerId} and trusted_at is null`.execute(db)
  const mails = rows.map(() => ({ email: '', sellerId, isTrusted: false }))
  refuseBeyond((await countInTurn(db, mails, ofStranger(limits))).flat(), TOO_MANY)
}

/** The buyers' status says that these receipts were held back. */
export async function noteHeld(tx: Tx, orderIds: readonly string[]): Promise<void> {
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

/** An address with other points, or another text after a "+", is the same mailbox. */
function plainMailbox(email: string): string {
  const at = email.lastIndexOf('@')
  const [name = ''] = email.slice(0, at).split('+')
  return name.replaceAll('.', '') + email.slice(at)
}
