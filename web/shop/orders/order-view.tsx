import './orders.css'
import type { VNode } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { useAction } from '../../ui/action.ts'
import { fileSize } from '../../ui/file-size.ts'
import { Icon, type IconName } from '../../ui/icon.tsx'
import { isRefusal } from '../api.ts'
import { useLoad } from '../load.ts'
import { Head, Refused, Shown } from '../parts.tsx'
import { address } from '../router.ts'
import type { ViewProps } from '../views.ts'
import { RecalledFromSale } from '../recalled.tsx'
import { stateOf } from './order-words.ts'
import { hasTyped } from './email-dialog.tsx'
import { getOrder, sendReceipt, type OrderDetail, type Refund } from './orders-api.ts'
import { Invoices } from './invoices.tsx'
import { OrderDialog } from './order-dialog.tsx'
import { OrderNotices } from './order-notices.tsx'
import { OrderSlip } from './order-slip.tsx'
import { refundableMinor } from './refund-sums.ts'
import { Refunds } from './refunds.tsx'
import { Timeline } from './timeline.tsx'
import { WithdrawalPart } from './withdrawal-part.tsx'

/** A pending refund can end at any time. The seller watches for it, so the first two minutes have no long pause. */
const LOOK_AGAIN_MS = [1_000, 2_000, ...Array<number>(23).fill(5_000), 30_000, 60_000]

export default function OrderView({ id }: ViewProps): VNode {
  const order = useLoad(id, () => getOrder(id))
  const above = (
    <a class="back" href={address('orders')} onClick={backToList}>
      <Icon name="back" /> Orders
    </a>
  )
  if (isRefusal(order.trouble, 'order_not_found')) {
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
      <Shown of={order}>{(value) => <Detail order={value} busy={order.busy} again={order.again} />}</Shown>
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

function Detail({ order, busy, again }: { order: OrderDetail; busy: boolean; again: () => void }) {
  // After a fresh sign-in the seller goes on where it was asked for.
  const [dialog, setDialog] = useState<'refund' | 'email' | undefined>(() =>
    hasTyped(order.orderId) ? 'email' : undefined,
  )
  /** How often the dialog was closed after it had asked for a refund. */
  const [asked, setAsked] = useState(0)
  const [said, setSaid] = useState<SaidProps>()
  const resending = useAction()
  usePolling(order, busy, again)
  const open = (which: 'refund' | 'email') => {
    resending.clear()
    setDialog(which)
  }
  const close = (hasAsked: boolean) => {
    setDialog(undefined)
    if (hasAsked) setAsked(asked + 1)
  }
  // An answer of the withdrawal's notice can come while a dialog is open.
  const done = (text: string, icon: IconName = 'check') => {
    setSaid({ text, icon })
    again()
  }
  // Asked for again after a lost answer, a refund may have failed in the meantime.
  const refunded = ({ status }: Refund) =>
    status === 'failed'
      ? done('This refund did not go through: the money stayed with you.', 'alert')
      : done('The refund is on its way. The buyer is told by mail.')
  const resend = () => {
    setSaid(undefined)
    void resending.run(async () => {
      await sendReceipt(order.orderId)
      setSaid({ text: `The receipt is on its way to ${order.email}.`, icon: 'check' })
      return ''
    })
  }
  const [name, tone] = stateOf(order)
  return (
    <div class="order-detail">
      <div class="stack">
        <p class="row">
          <span class={`tag ${tone}`}>{name}</span>
          <span class="address">{order.email}</span>
        </p>
        {/* After the dialog has asked for a refund, it looks anew for one whose result is unknown. */}
        <WithdrawalPart key={asked} order={order} onDone={done} onRefund={refunded} />
        <OrderNotices order={order} />
        <output class="saved">{said && <Said {...said} />}</output>
        <OrderActions order={order} busy={resending.busy} onOpen={open} onResend={resend} />
        <Refused action={resending} />
        <RefundsAndInvoices order={order} />
        <section class="stack" aria-labelledby="happened">
          <h2 id="happened">What happened</h2>
          <Timeline timeline={order.timeline} />
        </section>
        <RecalledFromSale files={order.withdrawnFiles} />
        {order.files.length > 0 && <BoughtFiles order={order} />}
      </div>
      <OrderSlip order={order} />
      {dialog && (
        <OrderDialog which={dialog} order={order} again={again} onClose={close} onDone={done} onRefund={refunded} />
      )}
    </div>
  )
}

interface SaidProps {
  text: string
  icon: IconName
}

const Said = ({ text, icon }: SaidProps) => (
  <>
    <Icon name={icon} />
    {text}
  </>
)

const RefundsAndInvoices = ({ order }: { order: OrderDetail }) => (
  <>
    <Refunds refunds={order.refunds} />
    <Invoices order={order} />
  </>
)

interface OrderActionsProps {
  order: OrderDetail
  /** The receipt is being sent again. */
  busy: boolean
  onOpen: (dialog: 'refund' | 'email') => void
  onResend: () => void
}

function OrderActions({ order, busy, onOpen, onResend }: OrderActionsProps) {
  const isDelivered = order.status === 'paid' || order.status === 'partially_refunded'
  return (
    <div class="row actions">
      {isDelivered && refundableMinor(order) > 0 && (
        <button type="button" class="button" onClick={() => onOpen('refund')}>
          <Icon name="back" /> Refund…
        </button>
      )}
      {isDelivered && (
        <button type="button" class="button" aria-disabled={busy ? 'true' : undefined} onClick={onResend}>
          <Icon name="mail" /> Send the receipt again
        </button>
      )}
      {order.paidAt && (
        <button type="button" class="button" onClick={() => onOpen('email')}>
          {order.pendingEmail && !order.emailMove ? 'Send another code…' : 'Change the address…'}
        </button>
      )}
    </div>
  )
}

/** Polls while a refund is pending, and stops after the last of the pauses. */
function usePolling({ refunds }: OrderDetail, busy: boolean, again: () => void): void {
  const busyRef = useRef(busy)
  useEffect(() => {
    busyRef.current = busy
  }, [busy])
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
        // Another request would drop the answer that is on its way.
        if (!busyRef.current) again()
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
