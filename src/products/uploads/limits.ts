/** The limits of one file and of all files of a seller. 0 is no limit. */
export interface UploadLimits {
  maxBytes: number
  quotaBytes: number
  /** The quota of a seller whom the operator has not marked as trusted, if it is lower. */
  untrustedQuotaBytes: number
}

export interface QuotaOwner {
  isTrusted: boolean
  /** The seller's own quota, set by the operator. Null: the service's. */
  ownQuotaBytes: number | null
}

/** The seller's quota in bytes. 0 is no limit. */
export function quotaOf({ quotaBytes, untrustedQuotaBytes }: UploadLimits, owner: QuotaOwner): number {
  const { isTrusted, ownQuotaBytes } = owner
  if (ownQuotaBytes !== null) return ownQuotaBytes
  if (isTrusted || untrustedQuotaBytes === 0) return quotaBytes
  return quotaBytes === 0 ? untrustedQuotaBytes : Math.min(quotaBytes, untrustedQuotaBytes)
}
