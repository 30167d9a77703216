import type { FoundSeller } from './api.ts'

type Standing = Pick<FoundSeller, 'standing' | 'trusted' | 'approvalAskedAt' | 'lockedOutAt' | 'awaitsAccount'>

const LOCKED_OUT = 'The seller is locked out, and sells nothing until that ends.'
const ONCE_PAYABLE = 'The seller sells once the account at the processor takes payments.'

/** Says how an approval changes the sales of a seller who is not trusted. */
export function afterApproval({ standing, approvalAskedAt, lockedOutAt, awaitsAccount }: Standing): string {
  if (lockedOutAt) return LOCKED_OUT
  if (standing === 'suspended') return 'The seller is suspended, and sells nothing until that ends.'
  if (awaitsAccount) return ONCE_PAYABLE
  return approvalAskedAt ? 'The seller sells from now on.' : 'The seller sells already, and goes on.'
}

/** Says how the end of a suspension changes the sales, and whether the seller hears of it. */
export function afterSuspension({ trusted, approvalAskedAt, lockedOutAt, awaitsAccount }: Standing): string {
  if (lockedOutAt) return `${LOCKED_OUT} No mail is sent.`
  const sales =
    approvalAskedAt && !trusted
      ? 'The seller awaits your approval, and sells nothing until then.'
      : awaitsAccount
        ? ONCE_PAYABLE
        : 'Published products can be bought again.'
  return `${sales} The seller gets a mail.`
}
