import { useState } from 'preact/hooks'
import { Submit } from '../ui/button.tsx'
import { EmailField } from '../ui/email-field.tsx'
import { Notice } from '../ui/notice.tsx'
import { OrderNumber } from './order-number.tsx'
import { looksLikeEmail } from '../ui/looks-like-email.ts'
import { typedBefore } from '../ui/language-choice.tsx'
import { saying, wordsOf } from '../ui/language.ts'

const words = wordsOf('order')
const shared = wordsOf('ui')

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
  const [orderId, setOrderId] = useState(asked || typedBefore('order'))
  const [email, setEmail] = useState(known ?? typedBefore('email'))
  const [wrong, setWrong] = useState<string>()
  const [pressed, setPressed] = useState(0)
  const submit = (event: Event) => {
    event.preventDefault()
    setPressed(pressed + 1)
    const bad = looksLikeEmail(email) ? undefined : words.emailMissing
    setWrong(bad)
    if (!bad && orderId.trim()) onOpen(orderId.trim(), email.trim())
  }
  return (
    <div class="lookup stack">
      <h1>{asked ? words.yourOrder : shared.findOrder}</h1>
      <p class="lead">{asked ? words.enterEmail : words.enterBoth}</p>
      {fault && (
        <Notice key={tries} tone="alarm" role="alert" title={fault}>
          <p>{words.checkTyping}</p>
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
        <Submit busy={busy ? words.lookingUp : undefined}>{words.show}</Submit>
      </form>
      {!asked && (
        <p class="small soft">
          {words.noNumber} <a href="/charge/">{words.findCharge}</a>.{' '}
          {saying(words.neither, { library: <a href="/library/">{wordsOf('site').library}</a> })}
        </p>
      )}
    </div>
  )
}

function NumberField({ value, onValue }: { value: string; onValue: (text: string) => void }) {
  return (
    <div class="field">
      <label for="order">{shared.orderNumber}</label>
      <input
        id="order"
        name="order"
        type="text"
        dir="ltr"
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
