import { useState } from 'preact/hooks'
import { useAction } from '../../ui/action.ts'
import { money, moment } from '../../ui/format.ts'
import { Notice } from '../../ui/notice.tsx'
import { Refused } from '../parts.tsx'
import { request } from '../api.ts'
import type { OrderDetail, Refund } from './orders-api.ts'
import { useRefundRequest } from './refund-request.ts'
import { refundableMinor } from './refund-sums.ts'

type Withdrawal = OrderDetail['withdrawals'][number]

interface WithdrawalPartProps {
  order: OrderDetail
  onDone: (said: string) => void
  onRefund: (refund: Refund) => void
}

/** Statements of withdrawal that wait for the seller, with the refund that answers them. */
export function WithdrawalPart({ order, onDone, onRefund }: WithdrawalPartProps) {
  const open = order.withdrawals.filter(({ doneAt }) => doneAt === null)
  const isOver = ['refunded', 'charged_back', 'expired'].includes(order.status)
  if (order.withdrawals.length === 0) return null
  return (
    <Notice
      tone={open.length > 0 && !isOver ? 'alarm' : undefined}
      title={
        open.length > 0 && !isOver ? 'A buyer withdraws from the contract.' : 'A buyer withdrew from the contract.'
      }
    >
      <ul class="stack tight">
        {order.withdrawals.map((one) => (
          <Statement key={one.withdrawalId} withdrawal={one} />
        ))}
      </ul>
      {order.consents.length > 0 && (
        <p>Before the order the buyer agreed to get the files at once and to lose the right of withdrawal.</p>
      )}
      {!isOver && !order.paidAt && (
        <p>The order is not paid yet, so there is nothing to refund. When it is paid, you can refund it here.</p>
      )}
      {open.length > 0 && !isOver && <Answer order={order} onDone={onDone} onRefund={onRefund} />}
    </Notice>
  )
}

function Statement({ withdrawal }: { withdrawal: Withdrawal }) {
  const { name, email, contract, receivedAt, named, hasAddress, daysAfterPayment } = withdrawal
  return (
    <li>
      <p>
        <bdi>{name}</bdi> (<span class="address">{email}</span>), {moment(receivedAt)}
        {daysAfterPayment !== null && daysAfterPayment >= 0 && `, ${whole(daysAfterPayment)}`}: “<bdi>{contract}</bdi>”
      </p>
      {!hasAddress && (
        <p>
          <b>The address is not the order’s.</b> Somebody else may have written this: ask the buyer first.
        </p>
      )}
      {!named && <p>The statement has no order number. It may be about another order of this address.</p>}
    </li>
  )
}

const whole = (days: number): string =>
  days === 0 ? 'on the day of the payment' : `${days === 1 ? 'one day' : `${days} days`} after the payment`

function Answer({ order, onDone, onRefund }: WithdrawalPartProps) {
  const left = refundableMinor(order)
  const canRefund = (order.status === 'paid' || order.status === 'partially_refunded') && left > 0
  const [madeId, setMadeId] = useState<string>()
  const refund = useRefundRequest(order.orderId, (made) => {
    setMadeId(made.id)
    onRefund(made)
  })
  const [refunds, setRefunds] = useState(0)
  const end = useAction()
  // Until the page has read the order with the new refund, the amount on the button is the old one.
  const isOld = madeId !== undefined && !order.refunds.some(({ id }) => id === madeId)
  const busy = refund.busy || isOld
  const { unanswered } = refund
  const send = () => {
    if (busy) return
    setRefunds(refunds + 1)
    void refund.send(left, 'Withdrawal')
  }
  return (
    <>
      <div class="row answers">
        {canRefund && (
          <button type="button" class="button main short" aria-disabled={busy ? 'true' : undefined} onClick={send}>
            {unanswered
              ? `Ask again for the refund of ${money(unanswered.amount, order.currency)}`
              : `Refund ${money(left, order.currency)} now`}
          </button>
        )}
        <button
          type="button"
          class="button"
          aria-disabled={end.busy ? 'true' : undefined}
          onClick={() =>
            void end.run(async () => {
              await request('POST', `orders/${encodeURIComponent(order.orderId)}/withdrawals/done`, {})
              onDone('Noted: nothing is left to do about the withdrawal.')
              return ''
            })
          }
        >
          Nothing is left to do
        </button>
      </div>
      {canRefund && unanswered && (
        <p>
          We do not know whether this refund was made: the answer got lost on the way. Asking again is safe: it is the
          same refund, and it is never made twice.
        </p>
      )}
      <Refused action={{ trouble: refund.trouble, tries: refunds }} />
      <Refused action={end} />
    </>
  )
}
