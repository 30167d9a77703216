import { useState } from 'preact/hooks'
import { useAction } from '../../ui/action.ts'
import { money, moment } from '../../ui/format.ts'
import { Notice } from '../../ui/notice.tsx'
import { Refused } from '../parts.tsx'
import { request } from '../api.ts'
import type { OrderDetail } from './orders-api.ts'
import { useRefundRequest } from './refund-request.ts'
import { refundableMinor } from './refund-sums.ts'

type Withdrawal = OrderDetail['withdrawals'][number]

/** Statements of withdrawal that wait for the seller, with the refund that answers them. */
export function WithdrawalPart({ order, onDone }: { order: OrderDetail; onDone: (said: string) => void }) {
  const open = order.withdrawals.filter(({ doneAt }) => doneAt === null)
  const isOver = order.status === 'refunded' || order.status === 'charged_back'
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
      {open.length > 0 && !isOver && <Answer order={order} onDone={onDone} />}
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

function Answer({ order, onDone }: { order: OrderDetail; onDone: (said: string) => void }) {
  const left = refundableMinor(order)
  const canRefund = (order.status === 'paid' || order.status === 'partially_refunded') && left > 0
  const refund = useRefundRequest(order.orderId, () => onDone('The refund is on its way. The buyer is told by mail.'))
  const [refunds, setRefunds] = useState(0)
  const end = useAction()
  const send = () => {
    setRefunds(refunds + 1)
    void refund.send(left, 'Withdrawal')
  }
  return (
    <>
      <div class="row answers">
        {canRefund && (
          <button
            type="button"
            class="button main short"
            aria-disabled={refund.busy ? 'true' : undefined}
            onClick={send}
          >
            Refund {money(left, order.currency)} now
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
      <Refused action={{ trouble: refund.trouble, tries: refunds }} />
      <Refused action={end} />
    </>
  )
}
