import { useState } from 'preact/hooks'
import { endOfNumber } from '../../src/kit/order-number.ts'
import { Submit } from '../ui/button.tsx'
import { EmailField } from '../ui/email-field.tsx'
import { Notice } from '../ui/notice.tsx'
import { OrderNumber } from './order-number.tsx'
import { looksLikeEmail } from '../ui/looks-like-email.ts'
import { TextField } from '../ui/text-field.tsx'
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
  const [wrong, setWrong] = useState<{ order?: string; email?: string }>({})
  const [pressed, setPressed] = useState(0)
  const submit = (event: Event) => {
    event.preventDefault()
    setPressed(pressed + 1)
    // the first fault in the form gets the focus
    if (!orderId.trim()) return setWrong({ order: words.numberMissing })
    if (!asked && endOfNumber(orderId)) return setWrong({ order: words.numberIsShort })
    if (!looksLikeEmail(email)) return setWrong({ email: words.emailMissing })
    setWrong({})
    onOpen(orderId.trim(), email.trim())
  }
  return (
    <div class="lookup stack">
      <h1>{asked ? words.yourOrder : shared.findOrder}</h1>
      <p class="lead">{asked ? words.enterEmail : words.enterBoth}</p>
      {fault && (
        <Notice key={tries} tone="alarm" role="alert" title={fault}>
          {fault === words.noMatch && <p>{words.checkTyping}</p>}
        </Notice>
      )}
      <form class="stack" noValidate onSubmit={submit}>
        {asked ? (
          <OrderNumber orderId={asked} />
        ) : (
          <TextField
            id="order"
            label={shared.orderNumber}
            value={orderId}
            onValue={(value) => {
              setOrderId(value)
              setWrong({})
            }}
            fault={wrong.order}
            tries={pressed}
            input={{
              dir: 'ltr',
              class: 'mono',
              autoComplete: 'off',
              maxLength: 80,
              placeholder: 'ord_…',
              required: true,
            }}
          />
        )}
        <EmailField
          value={email}
          onValue={(value) => {
            setEmail(value)
            setWrong({})
          }}
          fault={wrong.email}
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
