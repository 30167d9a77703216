import { Refusal, notValid } from '../kit/errors.ts'
import type { Db } from '../kit/database.ts'
import { isOnSites, sitesOfProduct } from '../sellers/sites.ts'

/** A seller's own site or program adds these to an order. */
export interface Integration {
  clientReferenceId?: string | undefined
  metadata?: Record<string, string> | undefined
  successUrl?: string | undefined
  cancelUrl?: string | undefined
}

/** All keys and values together. */
const METADATA_MOST_BYTES = 4096

/**
 * The given fields in one fixed order, so that equal requests have one hash. Undefined when none is given. Refuses
 * `validation_failed`, `success_url_not_allowed`, `cancel_url_not_allowed`.
 */
export function integrationOf({
  clientReferenceId,
  metadata = {},
  successUrl,
  cancelUrl,
}: Integration): Integration | undefined {
  const entries = Object.entries(metadata).toSorted(([a], [b]) => (a < b ? -1 : 1))
  const bytes = entries.reduce((sum, [key, value]) => sum + Buffer.byteLength(key) + Buffer.byteLength(value), 0)
  if (bytes > METADATA_MOST_BYTES)
    throw notValid('metadata', `must not be longer than ${METADATA_MOST_BYTES} bytes in all`)
  const given = {
    ...(clientReferenceId !== undefined && { clientReferenceId }),
    ...(entries.length > 0 && { metadata: Object.fromEntries(entries) }),
    ...(successUrl !== undefined && { successUrl: addressOf(successUrl) ?? refuseUrl('success') }),
    ...(cancelUrl !== undefined && { cancelUrl: addressOf(cancelUrl) ?? refuseUrl('cancel') }),
  }
  return Object.keys(given).length > 0 ? given : undefined
}

/** Refuses `success_url_not_allowed` and `cancel_url_not_allowed`, where an address lies on no site of the product's seller. */
export async function refuseForeignUrls(
  db: Db,
  productId: string,
  { successUrl, cancelUrl }: Integration,
): Promise<void> {
  if (successUrl === undefined && cancelUrl === undefined) return
  const sites = await sitesOfProduct(db, productId)
  if (successUrl !== undefined && !isOnSites(sites, successUrl)) refuseUrl('success')
  if (cancelUrl !== undefined && !isOnSites(sites, cancelUrl)) refuseUrl('cancel')
}

function refuseUrl(which: 'success' | 'cancel'): never {
  throw new Refusal(
    `${which}_url_not_allowed`,
    `\`${which}Url\` lies on none of the seller’s sites. The seller registers them in the shop, under “Your sites”.`,
  )
}

/** The address as a browser reads it. Undefined when it is none. */
const addressOf = (text: string): string | undefined => (URL.canParse(text) ? new URL(text).href : undefined)
