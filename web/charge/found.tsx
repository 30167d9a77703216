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

/** The orders that it can be; else those that the mailbox has; else that it has none. */
export function Found({ found: { matched, orders, more }, email, onAgain }: FoundProps) {
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => heading.current?.focus(), [])
  return (
    <div class="found stack">
      <h1 tabIndex={-1} ref={heading}>
        {matched
          ? orders.length === 1
            ? 'This is what it was.'
            : 'It can be one of these.'
          : orders.length > 0
            ? 'No order fits this line.'
            : 'No order with this address.'}
      </h1>
      <p class="lead">
        {matched ? (
          <>
            {orders.length === 1 ? 'An order' : 'Orders'} with <span class="address">{email}</span>. Open{' '}
            {orders.length === 1 ? 'it' : 'one'} to see the receipt and the files.
          </>
        ) : orders.length > 0 ? (
          <>
            But <span class="address">{email}</span> has ordered here. These are the latest orders; a bank that converts
            a currency shows another amount.
          </>
        ) : (
          <>
            Nothing was bought here with <span class="address">{email}</span>. Please try every other address you use.
          </>
        )}
      </p>
      {orders.length > 0 && (
        <ul class="orders stack">
          {orders.map((order) => (
            <Order key={order.orderId} order={order} email={email} />
          ))}
        </ul>
      )}
      {more && <p class="soft">There are more; these are the latest.</p>}
      <Notice title="Still not yours?" icon="card">
        <p>
          Somebody you share the card with may have bought it with another address. If nobody did, please ask your bank
          about it.
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

const STATES: Record<ChargeOrder['status'], string> = {
  pending: 'Not paid',
  processing: 'Your bank is working on it',
  paid: 'Paid',
  partially_refunded: 'Partly refunded',
  refunded: 'Refunded',
  disputed: 'Disputed',
  charged_back: 'Taken back by the bank',
  expired: 'Not paid in time; nothing was taken',
  needs_review: 'A person is looking at the payment',
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
        {/* Whoever follows the link has shown that the address is theirs: the order's page need not ask for it again. */}
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
