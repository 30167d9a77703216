import { useState } from 'preact/hooks'
import { amountFaultIn, amountIn } from '../products/typed-amount.ts'
import { money } from '../../ui/format.ts'
import { Refusal } from '../../ui/refusal.tsx'
import { TextField } from '../../ui/text-field.tsx'
import { explain } from '../words.ts'
import { Choices, Dialog } from '../dialog.tsx'
import { Unanswered } from '../unanswered.tsx'
import type { OrderDetail, Refund } from './orders-api.ts'
import { useRefundRequest } from './refund-request.ts'
import { refundableMinor, refundSums } from './refund-sums.ts'

interface RefundDialogProps {
  order: OrderDetail
  onDone: (refund: Refund) => void
  /** Closed. After a request that failed, the order on the screen may be out of date. */
  onClose: (hasAsked: boolean) => void
}

/**
 * Asks how much goes back, and shows the effect. One key for as long as it is open, so that no refund is made twice.
 */
export function RefundDialog({ order, onDone, onClose }: RefundDialogProps) {
  const { currency } = order
  const maxMinor = refundableMinor(order)
  const { unanswered, busy, trouble, send } = useRefundRequest(order.orderId, onDone)
  const [isPart, setIsPart] = useState(false)
  const [typed, setTyped] = useState('')
  const [reason, setReason] = useState('')
  const [fault, setFault] = useState<string>()
  const [tries, setTries] = useState(0)
  const amount = unanswered?.amount ?? (isPart ? amountIn(typed, currency) : maxMinor)
  const isPossible = amount !== undefined && amount > 0 && amount <= maxMinor
  const submit = () => {
    if (busy) return
    setTries(tries + 1)
    const wrong = unanswered ? undefined : amountFault(amount, typed, maxMinor, currency)
    setFault(wrong)
    if (!wrong && amount !== undefined) void send(amount, reason)
  }
  const leave = () => onClose(tries > 0)
  return (
    <Dialog title="Refund this order" closable={!busy} onClose={leave} onSubmit={submit}>
      {unanswered === undefined && (
        <>
          <HowMuch max={money(maxMinor, currency)} isPart={isPart} busy={busy} onPart={setIsPart} />
          {isPart && (
            <TextField
              id="refund-amount"
              label={`Amount in ${currency}`}
              value={typed}
              onValue={(text) => {
                setTyped(text)
                setFault(undefined)
              }}
              fault={fault}
              tries={tries}
              focus
              input={{ inputMode: 'decimal', autoComplete: 'off', maxLength: 30, disabled: busy }}
            />
          )}
          <TextField
            id="refund-reason"
            label="Note for yourself"
            hint="The buyer does not read it. You can leave it empty."
            value={reason}
            onValue={setReason}
            input={{ autoComplete: 'off', maxLength: 500, disabled: busy }}
          />
        </>
      )}
      {isPossible && <Consequences order={order} amount={amount} />}
      {unanswered ? <Unanswered key={tries} what="refund" amount={money(unanswered.amount, currency)} /> : null}
      {trouble && !unanswered ? <Refused key={tries} trouble={trouble} /> : null}
      <Choices
        busy={busy ? 'Asking for the refund…' : undefined}
        action={unanswered ? 'Ask again' : isPossible ? `Refund ${money(amount, currency)}` : 'Refund'}
        grave={unanswered === undefined}
        away={unanswered === undefined ? 'Keep the money' : 'Close, and look'}
        onClose={leave}
      />
    </Dialog>
  )
}

interface HowMuchProps {
  /** The amount that can still be refunded, as the page writes it. */
  max: string
  isPart: boolean
  busy: boolean
  onPart: (isPart: boolean) => void
}

function HowMuch({ max, isPart, busy, onPart }: HowMuchProps) {
  return (
    <fieldset class="stack tight" disabled={busy}>
      <legend class="unseen">How much</legend>
      <label class="choice">
        <input type="radio" name="part" checked={!isPart} onChange={() => onPart(false)} />
        <span>
          All that is left, <b>{max}</b>
        </span>
      </label>
      <label class="choice">
        <input type="radio" name="part" checked={isPart} onChange={() => onPart(true)} />
        <span>A part of it</span>
      </label>
    </fieldset>
  )
}

/** Shows the effect of the refund before it is made. */
function Consequences({ order, amount }: { order: OrderDetail; amount: number }) {
  const { currency, email } = order
  const { feeBack, net } = refundSums(order, amount)
  const isAll = amount === refundableMinor(order)
  return (
    <ul class="consequences small">
      <li>
        <b>{money(amount, currency)}</b> goes back to <span class="address">{email}</span>, the way it was paid. The
        bank can take some days.
      </li>
      <li>{isAll ? 'The files end at once: the links stop working.' : 'The buyer keeps the files.'}</li>
      <li>
        {feeBack > 0 ? `${money(feeBack, currency)} of the fee comes back to you, so your` : 'Your'} balance goes down
        by <b>{money(net, currency)}</b>.
      </li>
      <li>The buyer is told by mail. It cannot be undone.</li>
    </ul>
  )
}

function Refused({ trouble }: { trouble: unknown }) {
  const { title, text } = explain(trouble)
  return (
    <Refusal title={title}>
      <p>No money was moved. {text}</p>
    </Refusal>
  )
}

function amountFault(
  amount: number | undefined,
  typed: string,
  maxMinor: number,
  currency: string,
): string | undefined {
  if (amount === undefined) return typed.trim() ? amountFaultIn(typed, currency) : 'Please enter how much goes back.'
  if (amount < 1) return 'Please enter more than nothing.'
  return amount > maxMinor ? `No more than ${money(maxMinor, currency)} is left to go back.` : undefined
}
