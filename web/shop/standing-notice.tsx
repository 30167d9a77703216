import type { Seller } from '../ui/auth-api.ts'
import { Notice } from '../ui/notice.tsx'

/** Says on every view of the shop that nothing is sold at the moment, and why. */
export function StandingNotice({ standing }: Pick<Seller, 'standing'>) {
  if (standing === 'awaiting_approval') {
    return (
      <Notice title="Your shop awaits its approval">
        <p>
          Prepare everything: products, files, pictures, discounts. Your links open for buyers when the operator of this
          service approves your shop, and a mail tells you.
        </p>
      </Notice>
    )
  }
  if (standing === 'suspended') {
    return (
      <Notice title="Your shop is suspended" tone="alarm">
        <p>
          The operator of this service has stopped your sales. Buyers keep what they bought, and you can still refund
          them.
        </p>
      </Notice>
    )
  }
  return null
}
