import { useState } from 'preact/hooks'
import { Submit } from '../ui/button.tsx'
import { EmailField, looksLikeEmail } from '../ui/email-field.tsx'
import { Notice } from '../ui/notice.tsx'
import { OrderNumber } from './order-number.tsx'

interface LookupProps {
  asked: string
  email: string | undefined
  busy: boolean
  fault: string | undefined
  tries: number
  onOpen: (orderId: string, email: string) => void
}

/** Asks for the two details that open an order: its number (filled in by a link) and its address. */
export function Lookup({ asked, email: known, busy, fault, tries, onOpen }: LookupProps) {
  const [orderId, setOrderId] = useState(asked)
  const [email, setEmail] = useState(known ?? '')
  const [wrong, setWrong] = useState<string>()
  const [pressed, setPressed] = useState(0)
  const submit = (event: Event) => {
    event.preventDefault()
    setPressed(pressed + 1)
    const bad = looksLikeEmail(email) ? undefined : 'Please enter the e-mail address of the order.'
    setWrong(bad)
    if (!bad && orderId.trim()) onOpen(orderId.trim(), email.trim())
  }
  return (
    <div class="lookup stack">
      <h1>{asked ? 'Your order' : 'Find an order'}</h1>
      <p class="lead">
        {asked
          ? 'Enter the e-mail address you ordered with, and this page shows your receipt and your files.'
          : 'With its number and your e-mail address you see the receipt and the files again, at any time. Both are in the mail you got.'}
      </p>
      {fault && (
        <Notice key={tries} tone="alarm" role="alert" title={fault}>
          <p>Please check for typing errors and try again.</p>
        </Notice>
      )}
      <form class="stack" noValidate onSubmit={submit}>
        {asked ? <OrderNumber orderId={asked} /> : <NumberField value={orderId} onValue={setOrderId} />}
        <EmailField
          value={email}
          onValue={(value) => {
            setEmail(value)
            setWrong(undefined)
          }}
          fault={wrong}
          tries={pressed}
        />
        <Submit busy={busy ? 'Looking it up…' : undefined}>Show the order</Submit>
      </form>
      {!asked && (
        <p class="small soft">
          No order number at hand, but a line on your bank statement?{' '}
          <a href="/charge/">Find out what this charge is</a>. Neither? <a href="/library/">Your library</a> shows all
          you have bought, by a code to your e-mail.
        </p>
      )}
    </div>
  )
}

function NumberField({ value, onValue }: { value: string; onValue: (text: string) => void }) {
  return (
    <div class="field">
      <label for="order">Order number</label>
      <input
        id="order"
        name="order"
        class="mono"
        autoComplete="off"
        autoCapitalize="none"
        spellcheck={false}
        maxLength={80}
        placeholder="ord_…"
        required
        value={value}
        onInput={(event) => onValue(event.currentTarget.value)}
      />
    </div>
  )
}
