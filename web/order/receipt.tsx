import { useEffect, useRef } from 'preact/hooks'
import type { Download, OrderStatus } from '../ui/api.ts'
import { Files } from '../ui/files.tsx'
import { moment, money } from '../ui/format.ts'
import { Icon } from '../ui/icon.tsx'
import { Notice } from '../ui/notice.tsx'
import { Progress } from '../ui/progress.tsx'
import { RAIL_NAMES } from '../ui/words.ts'
import { SendAgain } from './send-again.tsx'
import { HAPPENINGS, HEADLINES } from './words.ts'

interface ReceiptProps {
  order: OrderStatus
  email: string
  fault: string | undefined
  /** The buyer has just pressed the button, so the focus goes to what came of it. */
  byHand: boolean
  renew: () => Promise<Download[]>
  onForget: () => void
}

export function Receipt({ order, email, fault, byHand, renew, onForget }: ReceiptProps) {
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => {
    if (byHand) heading.current?.focus()
  }, [byHand])
  const [title, text] = HEADLINES[order.status]
  const files = order.downloads.length > 0
  return (
    <div class="receipt">
      <section class="stack told">
        <h1 tabIndex={-1} ref={heading}>
          {title}
        </h1>
        <output class="lead">{text}</output>
        {fault && <Notice tone="alarm" role="alert" title={fault} />}
        {files && <Files downloads={order.downloads} renew={renew} />}
        <Progress order={order} />
        <Log order={order} />
        <div class="actions">
          {files && <SendAgain orderId={order.orderId} email={email} />}
          <button type="button" class="button" onClick={() => print()}>
            <Icon name="print" /> Print
          </button>
          <button type="button" class="link small" onClick={onForget}>
            Forget this order on this device
          </button>
        </div>
      </section>
      <aside class="slip-shadow" aria-label="Receipt">
        <div class="slip stack">
          <p class="slip-title">Receipt</p>
          <h2>{order.product?.name}</h2>
          <dl class="lines">
            {order.paidAt && <Line name="Paid" value={moment(order.paidAt)} />}
            {!order.paidAt && order.createdAt && <Line name="Ordered" value={moment(order.createdAt)} />}
            {order.rail && <Line name="Paid with" value={RAIL_NAMES[order.rail]} />}
            {order.statementDescriptor && <Line name="On your statement" value={order.statementDescriptor} mono />}
            <div class="wide">
              <dt>Sent to</dt>
              <dd>{email}</dd>
            </div>
            <div class="wide">
              <dt>Order number</dt>
              <dd>
                <code>{order.orderId}</code>
              </dd>
            </div>
            {order.refundedAmount ? (
              <Line name="Refunded" value={`−${money(order.refundedAmount, order.currency)}`} />
            ) : null}
            <div class="total">
              <dt>{order.paidAt ? 'Total' : 'Price'}</dt>
              <dd>{money(order.amount, order.currency)}</dd>
            </div>
          </dl>
        </div>
      </aside>
    </div>
  )
}

const Line = ({ name, value, mono }: { name: string; value: string; mono?: boolean }) => (
  <div>
    <dt>{name}</dt>
    <dd class={mono ? 'mono' : undefined}>{value}</dd>
  </div>
)

/** Everything that happened to the order, with its time, for who wants to know (or has to ask their bank). */
const Log = ({ order }: { order: OrderStatus }) => (
  <details class="log small">
    <summary>Everything that happened</summary>
    <ul>
      {order.timeline?.map(({ at, what }) => (
        <li key={at + what}>
          <time dateTime={at}>{moment(at)}</time> {HAPPENINGS[what] ?? what}
        </li>
      ))}
    </ul>
  </details>
)
