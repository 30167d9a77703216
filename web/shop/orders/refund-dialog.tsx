import { useRef, useState } from 'preact/hooks'
import { minorUnits } from '../../pricing/minor-units.ts'
import { Trouble } from '../../ui/api.ts'
import { money } from '../../ui/format.ts'
import { Notice } from '../../ui/notice.tsx'
import { TextField } from '../../ui/text-field.tsx'
import { explain } from '../words.ts'
import { Choices, Dialog } from './dialog.tsx'
import { refundOrder, type OrderDetail, type Refund } from './orders-api.ts'
import { leftOf, refundSums } from './refund-sums.ts'

interface RefundDialogProps {
  order: OrderDetail
  onDone: (refund: Refund) => void
  /** Left; where it was asked for and not done, what is known of the order may be old. */
  onClose: (asked: boolean) => void
}

/** How much goes back to whom, and what that does. One key for as long as it is open: nothing it asks is done twice. */
export function RefundDialog({ order, onDone, onClose }: RefundDialogProps) {
  const { currency, email } = order
  const left = leftOf(order)
  const [key] = useState(newKey)
  const [part, setPart] = useState(false)
  const [typed, setTyped] = useState('')
  const [reason, setReason] = useState('')
  const [fault, setFault] = useState<string>()
  const [tries, setTries] = useState(0)
  const [busy, setBusy] = useState(false)
  const [trouble, setTrouble] = useState<unknown>()
  const runningRef = useRef(false)
  // Asked, and nobody knows with what result: only the very same may be asked again.
  const [unsure, setUnsure] = useState<number>()
  const typedMinor = minorUnits(typed, currency)
  const amount = unsure ?? (part ? typedMinor : left)

  const send = async () => {
    if (runningRef.current) return
    setTries(tries + 1)
    const wrong = amount === undefined ? wrongAmount(typed, currency) : amountFault(amount, left, currency)
    setFault(wrong)
    if (wrong || amount === undefined) return
    runningRef.current = true
    setBusy(true)
    setTrouble(undefined)
    try {
      onDone(await refundOrder(order.orderId, amount, reason.trim(), key))
    } catch (refused) {
      setTrouble(refused)
      setUnsure(refused instanceof Trouble && refused.unknown ? amount : undefined)
      setBusy(false)
    }
    runningRef.current = false
  }

  const leave = () => onClose(tries > 0)
  return (
    <Dialog title="Refund this order" closable={!busy} onClose={leave} onSubmit={send}>
      {unsure === undefined && (
        <>
          <fieldset class="stack tight" disabled={busy}>
            <legend class="unseen">How much</legend>
            <label class="choice">
              <input type="radio" name="part" checked={!part} onChange={() => setPart(false)} />
              <span>
                All that is left, <b>{money(left, currency)}</b>
              </span>
            </label>
            <label class="choice">
              <input type="radio" name="part" checked={part} onChange={() => setPart(true)} />
              <span>A part of it</span>
            </label>
          </fieldset>
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
      {amount !== undefined && amount > 0 && amount <= left && (
        <Consequences order={order} amount={amount} email={email} />
      )}
      {trouble ? <Refused trouble={trouble} tries={tries} unsure={unsure !== undefined} /> : null}
      <Choices
        busy={busy ? 'Asking for the refund…' : undefined}
        action={
          unsure === undefined
            ? amount !== undefined && amount > 0 && amount <= left
              ? `Refund ${money(amount, currency)}`
              : 'Refund'
            : 'Ask again'
        }
        away={unsure === undefined ? 'Keep the money' : 'Close, and look'}
        onClose={leave}
      />
    </Dialog>
  )
}

/** What happens if it is done, before it is. */
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

function Refused({ trouble, tries, unsure }: { trouble: unknown; tries: number; unsure: boolean }) {
  const { title, text } = explain(trouble)
  if (unsure) {
    return (
      <Notice key={tries} tone="alarm" role="alert" title="We do not know whether the refund was made.">
        <p>The answer got lost on the way. Asking again is safe: it is the same refund, and it is never made twice.</p>
      </Notice>
    )
  }
  return (
    <Notice key={tries} tone="alarm" role="alert" title={title}>
      <p>No money was moved. {text}</p>
    </Notice>
  )
}

const wrongAmount = (typed: string, currency: string): string =>
  typed.trim() ? `Please enter an amount in ${currency}.` : 'Please enter how much goes back.'

function amountFault(amount: number, left: number, currency: string): string | undefined {
  if (amount < 1) return 'Please enter more than nothing.'
  return amount > left ? `No more than ${money(left, currency)} is left to go back.` : undefined
}

/** `randomUUID` is missing where the page is not on https or localhost. */
const newKey = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('')
