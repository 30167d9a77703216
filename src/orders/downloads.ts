import { sql } from 'kysely'
import type { Db } from '../kit/database.ts'
import { Refusal } from '../kit/errors.ts'
import { type Signer, newSigner } from '../kit/signing.ts'
import { isFileOfOrder } from './bought-files.ts'
import { isFullRefundPending } from './returned-money.ts'
import { type State, isDelivered } from './states.ts'

/** How long a link works. Asking for the order's status again makes a new one. */
export const LINK_LIFE_SECONDS = 3600
/** Every file system takes a name of this length, in any alphabet. */
const LONGEST_NAME = 200

export const downloadSigner = (secrets: readonly string[]): Signer => newSigner(secrets, 'download')

/** `order.file.expiry.signature`: it opens one file only, and its signature is checked without the database. */
export function downloadToken(signer: Signer, orderId: string, fileId: string, expiresAt: Date): string {
  const claim = `${orderId}.${fileId}.${Math.floor(expiresAt.getTime() / 1000).toString(36)}`
  return `${claim}.${signer.sign(claim)}`
}

/**
 * Returns the file that a token is good for. The signature shows that we once gave the link. Whether the order still entitles to the
 * file is read from the database at each download. So a dispute ends the links at once, and so does the request to refund all the
 * money. When the order moves to another address, the links that the old address has end.
 * Refuses `download_link_invalid`, `download_link_expired`, `download_not_available`, `file_withdrawn`.
 */
export async function redeemDownload(db: Db, signer: Signer, token: string) {
  const [orderId = '', fileId = '', expiry = '', signature = '', ...rest] = token.split('.')
  if (rest.length > 0 || !signer.verify(`${orderId}.${fileId}.${expiry}`, signature)) {
    throw new Refusal('download_link_invalid', 'This link is not one of ours.')
  }
  const { rows } = await sql<{
    state: State
    fullRefundPending: boolean
    expired: boolean
    name: string
    contentType: string
    sha256: string
    recallReason: string | null
  }>`
    select o.state, ${isFullRefundPending} as "fullRefundPending", to_timestamp(${Number.parseInt(expiry, 36)}) < now()
        or coalesce(to_timestamp(${Number.parseInt(expiry, 36) - LINK_LIFE_SECONDS + 1}) <= o.email_changed_at, false) as expired, f.name, f.content_type as "contentType", f.sha256, w.reason as "recallReason"
    from orders o join files f on ${isFileOfOrder}
      left join withdrawn_files w on w.seller_id = o.seller_id and w.sha256 = f.sha256
    where o.id = ${orderId} and f.id = ${fileId}`.execute(db)
  const file = rows[0]
  if (file?.expired) throw new Refusal('download_link_expired', 'This link has expired: your order page has a new one.')
  if (!file || file.fullRefundPending || !isDelivered(file.state))
    throw new Refusal('download_not_available', 'The files of this order are not available any more.')
  if (file.recallReason !== null)
    throw new Refusal(
      'file_withdrawn',
      `This file was recalled and can no longer be downloaded: “${file.recallReason}”`,
    )
  return { fileId, ...file }
}

/** A Content-Disposition that no file name can break out of (RFC 6266): plain ASCII first, then the name as it is. */
export function attachment(name: string): string {
  const whole = name.replace(/[\p{Cc}\p{Cf}\p{Cs}/\\]/gu, '_').trim() || 'download'
  // a name that is too long keeps its ending, which says how to open the file
  const ending = /\.[^. ]{1,10}$/.exec(whole)?.[0] ?? ''
  const safe = whole.length > LONGEST_NAME ? whole.slice(0, LONGEST_NAME - ending.length) + ending : whole
  const ascii =
    safe
      .normalize('NFKD')
      .replace(/[^\x20-\x7e]/g, '')
      .replace(/["\\%;/]/g, '_')
      .trim() || 'download'
  const encoded = encodeURIComponent(safe.toWellFormed()).replace(
    /['()*!]/g,
    (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`,
  )
  return `attachment; filename="${ascii}"; filename*=UTF-8''${encoded}`
}
