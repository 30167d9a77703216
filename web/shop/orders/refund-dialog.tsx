import { useRef, useState } from 'preact/hooks'
import { ApiError } from '../../ui/api.ts'
import { amountFaultIn, amountIn } from '../products/typed-amount.ts'
import { money } from '../../ui/format.ts'
import { Refusal } from '../../ui/refusal.tsx'
import { TextField } from '../../ui/text-field.tsx'
import { explain } from '../words.ts'
import { Choices, Dialog } from '../dialog.tsx'
import { askedBefore, keepAsked, newKey } from './refund-asked.ts'
import { refundOrder, type OrderDetail, type Refund } from './orders-api.ts'
import { leftOf, refundSums } from './refund-sums.ts'

interface RefundDialogProps {
  order: OrderDetail
  onDone: (refund: Refund) => void
  /** Closed. After a request that failed, the order on the screen may be out of date. */
  onClose: (asked: boolean) => void
}

/**
 * Asks how much goes back, and shows the effect. One key for as long as it is open, so that no refund is made twice.
 */
export function RefundDialog({ order, onDone, onClose }: RefundDialogProps) {
  const { currency, email } = order
  const left = leftOf(order)
  // A request whose result is unknown. Until it is known, only the very same request may be sent.
  const [unsure, setUnsure] = useState(() => askedBefore(order.orderId))
  const [key] = useState(() => unsure?.key ?? newKey())
  const [part, setPart] = useState(false)
  const [typed, setTyped] = useState('')
  const [reason, setReason] = useState('')
  const [fault, setFault] = useState<string>()
  const [tries, setTries] = useState(0)
  const [busy, setBusy] = useState(false)
  const [trouble, setTrouble] = useState<unknown>()
  const runningRef = useRef(false)
  const typedMinor = amountIn(typed, currency)
  const amount = unsure?.amount ?? (part ? typedMinor : left)

  const send = async () => {
    if (runningRef.current) return
    setTries(tries + 1)
    const wrong = unsure ? undefined : amountFault(amount, typed, left, currency)
    setFault(wrong)
    if (wrong || amount === undefined) return
    const asked = unsure ?? { key, amount, reason: reason.trim() }
    runningRef.current = true
    setBusy(true)
    setTrouble(undefined)
    keepAsked(order.orderId, asked)
    try {
      const refund = await refundOrder(order.orderId, asked)
      keepAsked(order.orderId, undefined)
      onDone(refund)
    } catch (refused) {
      const unknown = isUnknown(refused, unsure !== undefined)
      if (!unknown) keepAsked(order.orderId, undefined)
      setTrouble(refused)
      setUnsure(unknown ? asked : undefined)
      setBusy(false)
    }
    runningRef.current = false
  }

  const isPossible = amount !== undefined && amount > 0 && amount <= left
  const leave = () => onClose(tries > 0)
  return (
    <Dialog title="Refund this order" closable={!busy} onClose={leave} onSubmit={send}>
      {unsure === undefined && (
        <>
          <HowMuch left={money(left, currency)} part={part} busy={busy} onPart={setPart} />
          {part && (
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
      {isPossible && <Consequences order={order} amount={amount} email={email} />}
      {unsure ? <Unsure key={tries} amount={money(unsure.amount, currency)} /> : null}
      {trouble && !unsure ? <Refused key={tries} trouble={trouble} /> : null}
      <Choices
        busy={busy ? 'Asking for the refund…' : undefined}
        action={unsure ? 'Ask again' : isPossible ? `Refund ${money(amount, currency)}` : 'Refund'}
        grave={unsure === undefined}
        away={unsure === undefined ? 'Keep the money' : 'Close, and look'}
        onClose={leave}
      />
    </Dialog>
  )
}

interface HowMuchProps {
  /** The amount that can still be refunded, as the page writes it. */
  left: string
  part: boolean
  busy: boolean
  onPart: (part: boolean) => void
}

function HowMuch({ left, part, busy, onPart }: HowMuchProps) {
  return (
    <fieldset class="stack tight" disabled={busy}>
      <legend class="unseen">How much</legend>
      <label class="choice">
        <input type="radio" name="part" checked={!part} onChange={() => onPart(false)} />
        <span>
          All that is left, <b>{left}</b>
        </span>
      </label>
      <label class="choice">
        <input type="radio" name="part" checked={part} onChange={() => onPart(true)} />
        <span>A part of it</span>
      </label>
    </fieldset>
  )
}

/** Shows the effect of the refund before it is made. */
function Consequences({ order, amount, email }: { order: OrderDetail; amount: number; email: string }) {
  const { currency } = order
  const { feeBack, net } = refundSums(order, amount)
  const all = amount === leftOf(order)
  return (
    <ul class="consequences small">
      <li>
        <b>{money(amount, currency)}</b> goes back to <span class="address">{email}</span>, the way it was paid. The
        bank can take some days.
      </li>
      <li>{all ? 'The files end at once: the links stop working.' : 'The buyer keeps the files.'}</li>
      <li>
        {feeBack > 0 ? `${money(feeBack, currency)} of the fee comes back to you, so your` : 'Your'} balance goes down
        by <b>{money(net, currency)}</b>.
      </li>
      <li>The buyer is told by mail. It cannot be undone.</li>
    </ul>
  )
}

/** Also after a reload: until the answer arrives, the dialog sends no other request. */
const Unsure = ({ amount }: { amount: string }) => (
  <Refusal title={`We do not know whether the refund of ${amount} was made.`}>
    <p>The answer got lost on the way. Asking again is safe: it is the same refund, and it is never made twice.</p>
  </Refusal>
)

function Refused({ trouble }: { trouble: unknown }) {
  const { title, text } = explain(trouble)
  return (
    <Refusal title={title}>
      <p>No money was moved. {text}</p>
    </Refusal>
  )
}

/** After an earlier request, only an answer about this refund tells its result. A rate limit tells nothing. */
const isUnknown = (refused: unknown, askedBefore: boolean): boolean =>
  !(refused instanceof ApiError) || refused.unknown || (askedBefore && ![400, 404, 409].includes(refused.status))

function amountFault(amount: number | undefined, typed: string, left: number, currency: string): string | undefined {
  if (amount === undefined) return typed.trim() ? amountFaultIn(typed, currency) : 'Please enter how much goes back.'
  if (amount < 1) return 'Please enter more than nothing.'
  return amount > left ? `No more than ${money(left, currency)} is left to go back.` : undefined
}
