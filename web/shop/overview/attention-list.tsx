import { moment } from '../../ui/format.ts'
import { Icon } from '../../ui/icon.tsx'
import type { Attention } from '../api.ts'
import { address } from '../router.ts'

const WORDS: Record<Attention['what'], string> = {
  needs_review: 'A buyer paid an amount other than the price. The operator decides.',
  disputed: 'A buyer disputes a payment. The bank waits for an answer.',
  refund_failed: 'A refund did not go through.',
  withdrawn: 'A buyer withdraws from the contract. Refund the order, or write to the buyer.',
  receipt_bounced: 'A receipt could not be delivered.',
  file_withdrawn: 'A file was recalled: it can no longer be downloaded, and its buyers are told why.',
  no_files: 'Off sale: it has no files, so a buyer would get nothing.',
  no_payments: 'On sale, but buyers cannot pay for it here: no payment method takes any of its currencies.',
  tax_rate_missing: 'Buyers in these countries cannot buy: the operator has not loaded their tax rate.',
  price_not_offered: 'Buyers cannot pay one of its prices: no payment method here takes that currency.',
}

/** Matters for a person, the most important first. Entries that lose money by waiting are marked. */
export const AttentionList = ({ items }: { items: Attention[] }) => (
  <section class="stack" aria-labelledby="attention">
    <h2 id="attention">Needs attention</h2>
    <ul class="rows attention">
      {items.map((one) => (
        <li
          class={URGENT.has(one.what) ? 'urgent' : undefined}
          key={`${one.what} ${one.orderId ?? one.productId} ${one.at}`}
        >
          <Icon name="alert" />
          <div>
            <a class="name" href={hrefOf(one)}>
              {WORDS[one.what] ?? 'Something needs your attention.'}
            </a>
            <p class="small soft cut">{[moment(one.at), one.name, one.email].filter(Boolean).join(' · ')}</p>
          </div>
        </li>
      ))}
    </ul>
  </section>
)

/** A bank or a buyer waits for an answer. */
const URGENT: ReadonlySet<Attention['what']> = new Set(['disputed', 'needs_review', 'refund_failed', 'withdrawn'])

const hrefOf = ({ what, orderId, productId }: Attention): string =>
  what === 'tax_rate_missing'
    ? '/account/#tax'
    : orderId
      ? address('order', orderId)
      : productId
        ? address('product', productId)
        : address('overview')
