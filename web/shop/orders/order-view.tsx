import './orders.css'
import type { VNode } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { fileSize } from '../../ui/format.ts'
import { Icon } from '../../ui/icon.tsx'
import { Notice } from '../../ui/notice.tsx'
import { isRefusal } from '../api.ts'
import { useLoad } from '../load.ts'
import { Head, Refused, Shown } from '../parts.tsx'
import { address } from '../router.ts'
import type { ViewProps } from '../views.ts'
import { RecalledFromSale } from '../recalled.tsx'
import { adviceOf, stateOf, whenItMoves } from './order-words.ts'
import { EmailDialog, hasTyped } from './email-dialog.tsx'
import { getOrder, sendReceipt, type OrderDetail } from './orders-api.ts'
import { OrderSlip } from './order-slip.tsx'
import { RefundDialog } from './refund-dialog.tsx'
import { leftOf } from './refund-sums.ts'
import { Refunds } from './refunds.tsx'
import { Timeline } from './timeline.tsx'

/** While a refund is pending the answer can change at any time. After this time the page stops polling. */
const LOOK_AGAIN_MS = [1_000, 2_000, 4_000, 8_000, 15_000, 30_000, 60_000]

export default function OrderView({ id }: ViewProps): VNode {
  const order = useLoad(id, () => getOrder(id))
  const above = (
    <a class="back" href={address('orders')} onClick={backToList}>
      <Icon name="back" /> Orders
    </a>
  )
  if (isRefusal(order.trouble, 'order_not_found') || isRefusal(order.trouble, 'validation_failed')) {
    return (
      <>
        <Head title="No such order" above={above} />
        <p class="lead">There is no such order in your shop. The link may be mistyped.</p>
      </>
    )
  }
  return (
    <>
      <Head title={order.value?.product.name ?? 'Order'} above={above} />
      <Shown of={order}>{(value) => <Detail order={value} again={order.again} />}</Shown>
    </>
  )
}

/** Leads back to the list with its filters, if the seller came from there. */
function backToList(event: MouseEvent): void {
  if (history.length < 2 || event.metaKey || event.ctrlKey || event.shiftKey) return
  const from = (window as unknown as { navigation?: Navigation }).navigation
  const entries = from?.entries?.() ?? []
  const last = entries[(from?.currentEntry?.index ?? 0) - 1]
  if (last?.url && new URL(last.url).hash.startsWith(`${address('orders')}?`)) {
    event.preventDefault()
    history.back()
  }
}

interface Navigation {
  entries?: () => { url: string | null }[]
  currentEntry?: { index: number } | null
}

function Detail({ order, again }: { order: OrderDetail; again: () => void }) {
  // After a fresh sign-in the seller goes on where it was asked for.
  const [asking, setAsking] = useState<'refund' | 'email' | undefined>(() =>
    hasTyped(order.orderId) ? 'email' : undefined,
  )
  const [said, setSaid] = useState('')
  const [busy, setBusy] = useState(false)
  const [trouble, setTrouble] = useState<unknown>()
  const [tries, setTries] = useState(0)
  const { status, email, pendingEmail, receipt } = order
  useFollowing(order, again)
  const open = (what: typeof asking) => {
    setTrouble(undefined)
    setAsking(what)
  }
  const close = () => setAsking(undefined)
  const resend = async () => {
    if (busy) return
    setBusy(true)
    setSaid('')
    setTrouble(undefined)
    setTries(tries + 1)
    try {
      await sendReceipt(order.orderId)
      setSaid(`The receipt is on its way to ${email}.`)
    } catch (refused) {
      setTrouble(refused)
    }
    setBusy(false)
  }
  const delivered = status === 'paid' || status === 'partially_refunded'
  const canRefund = delivered && leftOf(order) > 0
  const advice = adviceOf(order)
  const [name, tone] = stateOf(order)
  return (
    <div class="order-detail">
      <div class="stack">
        <p class="row">
          <span class={`tag ${tone}`}>{name}</span>
          <span class="address">{email}</span>
        </p>
        {advice && (
          <Notice tone="alarm" title={advice[0]}>
            <p>{advice[1]}</p>
          </Notice>
        )}
        {order.paymentFailed && (
          <Notice title="The buyer’s bank has said no after all." icon="clock">
            <p>Nothing was paid. The buyer was told by mail and can pay again; there is nothing for you to do.</p>
          </Notice>
        )}
        {receipt === 'bounced' && !pendingEmail && (
          <Notice tone="alarm" title="The receipt could not be delivered.">
            <p>
              The mail server of <span class="address">{email}</span> refused it. If the address is mistyped, name the
              right one; its reader has to confirm it.
            </p>
          </Notice>
        )}
        {pendingEmail && (
          <Notice
            title={
              order.emailMove ? 'The order is on its way to another address.' : 'Another address waits to be confirmed.'
            }
            icon="clock"
          >
            <p>
              {order.emailMove ? (
                <>
                  The reader of <span class="address">{pendingEmail}</span> has confirmed it, and both addresses open
                  the order. {whenItMoves(order.emailMove)}
                </>
              ) : (
                <>
                  A code went to <span class="address">{pendingEmail}</span>. Until its reader enters it, the order
                  stays under <span class="address">{email}</span>.
                </>
              )}
            </p>
          </Notice>
        )}
        <output class="saved">
          {said && (
            <>
              <Icon name="check" />
              {said}
            </>
          )}
        </output>
        <div class="row actions">
          {canRefund && (
            <button type="button" class="button" onClick={() => open('refund')}>
              <Icon name="back" /> Refund…
            </button>
          )}
          {delivered && (
            <button type="button" class="button" aria-disabled={busy ? 'true' : undefined} onClick={resend}>
              <Icon name="mail" /> Send the receipt again
            </button>
          )}
          {order.paidAt && (
            <button type="button" class="button" onClick={() => open('email')}>
              {pendingEmail && !order.emailMove ? 'Send another code…' : 'Change the address…'}
            </button>
          )}
        </div>
        <Refused action={{ trouble, tries }} />
        <Refunds refunds={order.refunds} />
        <section class="stack" aria-labelledby="happened">
          <h2 id="happened">What happened</h2>
          <Timeline timeline={order.timeline} />
        </section>
        <RecalledFromSale files={order.withdrawnFiles} />
        {order.files.length > 0 && <BoughtFiles order={order} />}
      </div>
      <OrderSlip order={order} />
      {asking === 'refund' && (
        <RefundDialog
          order={order}
          onDone={() => {
            close()
            setSaid('The refund is on its way. The buyer is told by mail.')
            again()
          }}
          onClose={(asked) => {
            close()
            if (asked) again()
          }}
        />
      )}
      {asking === 'email' && (
        <EmailDialog
          order={order}
          onDone={(to) => {
            close()
            setSaid(`A code is on its way to ${to}.`)
            again()
          }}
          onClose={close}
        />
      )}
    </div>
  )
}

/** Polls at growing intervals while a refund is pending. */
function useFollowing({ refunds }: OrderDetail, again: () => void): void {
  const pending = refunds.some(({ status }) => status === 'pending')
  useEffect(() => {
    if (!pending) return
    let looked = 0
    let timer: ReturnType<typeof setTimeout>
    const next = () => {
      const wait = LOOK_AGAIN_MS[looked]
      if (wait === undefined) return
      looked += 1
      timer = setTimeout(() => {
        again()
        next()
      }, wait)
    }
    next()
    return () => clearTimeout(timer)
  }, [pending, again])
}

const BoughtFiles = ({ order }: { order: OrderDetail }) => (
  <details class="small">
    <summary>
      {order.files.length} {order.files.length === 1 ? 'file' : 'files'} of this order
    </summary>
    <ul class="rows">
      {order.files.map(({ id, name, size }) => (
        <li key={id} class="file-row">
          <span>{name}</span>
          <span class="soft number">{fileSize(size)}</span>
        </li>
      ))}
    </ul>
  </details>
)
