import { useEffect, useRef } from 'preact/hooks'
import { moment, money } from '../ui/format.ts'
import { rememberOrder } from '../ui/my-orders.ts'
import { Notice } from '../ui/notice.tsx'
import type { ChargeFound, ChargeOrder } from './charge-api.ts'
import { say, saying, wordsOf } from '../ui/language.ts'

const words = wordsOf('charge')
const shared = wordsOf('ui')

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
  const [title, text] = wordsFor(found)
  return (
    <div class="found stack">
      <h1 tabIndex={-1} ref={heading}>
        {title}
      </h1>
      <p class="lead">{saying(text, { email: <span class="address">{email}</span> })}</p>
      {orders.length > 0 && (
        <ul class="orders stack">
          {orders.map((order) => (
            <Order key={order.orderId} order={order} email={email} />
          ))}
        </ul>
      )}
      {more && <p class="soft">{words.more}</p>}
      <Notice title={words.notYours} icon="file">
        <p>{words.notYoursText}</p>
      </Notice>
      <p>
        <button type="button" class="button" onClick={onAgain}>
          {words.again}
        </button>
      </p>
    </div>
  )
}

/** The texts above the orders. */
function wordsFor({ matched, orders }: ChargeFound): [title: string, text: string] {
  if (orders.length === 0) return [words.none, words.noneText]
  if (!matched) return [words.noMatch, words.noMatchText]
  const unpaid = orders.every(({ status }) => UNPAID.has(status))
  if (orders.length > 1) return unpaid ? [words.someUnpaid, words.unpaidText] : [words.some, words.someText]
  return unpaid ? [words.oneUnpaid, words.unpaidText] : [words.one, words.oneText]
}

const UNPAID: ReadonlySet<ChargeOrder['status']> = new Set(['pending', 'expired'])

const STATES: Record<ChargeOrder['status'], string> = {
  pending: words.notPaid,
  processing: words.processing,
  paid: shared.paid,
  partially_refunded: words.partlyRefunded,
  refunded: words.refunded,
  disputed: words.disputed,
  charged_back: words.reversed,
  expired: words.expired,
  needs_review: words.review,
}

function Order({ order, email }: { order: ChargeOrder; email: string }) {
  const id = `name-${order.orderId}`
  return (
    <li class="order stack">
      <div>
        <h2 id={id}>
          <bdi>{order.product.name}</bdi>
        </h2>
        <p class="soft">{say(wordsOf('library').by, { seller: order.seller.name })}</p>
      </div>
      <dl class="lines">
        {order.onStatement !== false && <Fact name={shared.onStatement} value={order.statementDescriptor} mono />}
        <Fact
          name={order.paidAt ? shared.paid : wordsOf('order').ordered}
          value={moment(order.paidAt ?? order.createdAt)}
        />
        <Fact name={words.state} value={order.paymentReturned ? words.returned : STATES[order.status]} />
        {order.refundedAmount > 0 && (
          <Fact name={words.refunded} value={`−${money(order.refundedAmount, order.currency)}`} />
        )}
        <div class="total">
          <dt>{words.amount}</dt>
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
          {words.open}
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
