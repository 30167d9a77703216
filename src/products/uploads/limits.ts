/** How large a file may be, and how much a seller may keep here in all: 0 is no limit. */
export interface UploadLimits {
  maxBytes: number
  quotaBytes: number
  /** The same for a seller whom the operator does not trust yet, where it is less. */
  untrustedQuotaBytes: number
}

/** How much such a seller may keep here; 0 is no limit. */
export function quotaOf({ quotaBytes, untrustedQuotaBytes }: UploadLimits, isTrusted: boolean): number {
  if (isTrusted || untrustedQuotaBytes === 0) return quotaBytes
  return quotaBytes === 0 ? untrustedQuotaBytes : Math.min(quotaBytes, untrustedQuotaBytes)
}
