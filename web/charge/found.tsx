import { useEffect, useRef } from 'preact/hooks'
import { moment, money } from '../ui/format.ts'
import { rememberOrder } from '../ui/my-orders.ts'
import { Notice } from '../ui/notice.tsx'
import type { ChargeFound, ChargeOrder } from './charge-api.ts'

interface FoundProps {
  found: ChargeFound
  email: string
  onAgain: () => void
}

/** Lists the orders that match the line; else all orders of the mailbox; else says that the mailbox has none. */
export function Found({ found, email, onAgain }: FoundProps) {
  const { orders, more } = found
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => heading.current?.focus(), [])
  const { title, before, after } = wordsFor(found)
  return (
    <div class="found stack">
      <h1 tabIndex={-1} ref={heading}>
        {title}
      </h1>
      <p class="lead">
        {before} <span class="address">{email}</span>
        {after}
      </p>
      {orders.length > 0 && (
        <ul class="orders stack">
          {orders.map((order) => (
            <Order key={order.orderId} order={order} email={email} />
          ))}
        </ul>
      )}
      {more && <p class="soft">There are more; these are the latest.</p>}
      <Notice title="Still not yours?" icon="file">
        <p>
          A person you share the card with may have bought it with another address. If not, please ask your bank about
          it.
        </p>
      </Notice>
      <p>
        <button type="button" class="button" onClick={onAgain}>
          Look up another charge
        </button>
      </p>
    </div>
  )
}

/** The texts above the orders, before and after the mailbox's address. */
function wordsFor({ matched, orders }: ChargeFound): { title: string; before: string; after: string } {
  if (orders.length === 0)
    return {
      title: 'No order with this address.',
      before: 'Nothing was bought here with',
      after: '. Please try every other address you use.',
    }
  if (!matched)
    return {
      title: 'No order matches this line.',
      before: 'But',
      after: ' has ordered here. These are the latest orders; a bank that converts a currency shows another amount.',
    }
  const unpaid = orders.every(({ status }) => UNPAID.has(status))
  if (orders.length > 1 && unpaid)
    return {
      title: 'These orders match, but none of them is paid.',
      before: 'Orders with',
      after: `. ${SUSPENSE}`,
    }
  if (orders.length > 1)
    return {
      title: 'It could be one of these.',
      before: 'Orders with',
      after: '. Open one to see the receipt and the files.',
    }
  if (unpaid)
    return {
      title: 'This order matches, but is not paid.',
      before: 'An order with',
      after: `. ${SUSPENSE}`,
    }
  return {
    title: 'This is what it was.',
    before: 'An order with',
    after: '. Open it to see the receipt and the files.',
  }
}

const SUSPENSE = 'A bank may show an amount that it only holds for a while and then releases by itself.'
const UNPAID: ReadonlySet<ChargeOrder['status']> = new Set(['pending', 'expired'])

const STATES: Record<ChargeOrder['status'], string> = {
  pending: 'Not paid',
  processing: 'Your bank is processing the payment',
  paid: 'Paid',
  partially_refunded: 'Partly refunded',
  refunded: 'Refunded',
  disputed: 'Disputed',
  charged_back: 'Reversed by your bank',
  expired: 'Not paid in time; nothing was taken',
  needs_review: 'We’re reviewing the payment',
}

function Order({ order, email }: { order: ChargeOrder; email: string }) {
  const id = `name-${order.orderId}`
  return (
    <li class="order stack">
      <div>
        <h2 id={id}>{order.product.name}</h2>
        <p class="soft">
          <span class="unseen">Sold </span>by {order.seller.name}
        </p>
      </div>
      <dl class="lines">
        <Fact name="On your statement" value={order.statementDescriptor} mono />
        <Fact name={order.paidAt ? 'Paid' : 'Ordered'} value={moment(order.paidAt ?? order.createdAt)} />
        <Fact name="State" value={STATES[order.status]} />
        {order.refundedAmount > 0 && <Fact name="Refunded" value={`−${money(order.refundedAmount, order.currency)}`} />}
        <div class="total">
          <dt>Amount</dt>
          <dd>{money(order.amount, order.currency)}</dd>
        </div>
      </dl>
      <p>
        {/* The buyer has already proved the address here, so the link saves the order page from asking again. */}
        <a
          class="button"
          id={`open-${order.orderId}`}
          aria-labelledby={`open-${order.orderId} ${id}`}
          href={`/order/?order=${encodeURIComponent(order.orderId)}`}
          onClick={() => rememberOrder(order.orderId, email)}
        >
          Open the order
        </a>
      </p>
    </li>
  )
}

const Fact = ({ name, value, mono }: { name: string; value: string; mono?: boolean }) => (
  <div>
    <dt>{name}</dt>
    <dd class={mono ? 'mono' : undefined}>{value}</dd>
  </div>
)
