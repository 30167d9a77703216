import { useRef, useState } from 'preact/hooks'
import { confirmEmail, ApiError } from '../ui/api.ts'
import { BetterEmail } from '../ui/better-email.tsx'
import { Submit } from '../ui/button.tsx'
import { EmailField } from '../ui/email-field.tsx'
import { Notice } from '../ui/notice.tsx'
import { emailFault, TextField } from '../ui/text-field.tsx'
import { sentence } from '../ui/words.ts'

const DIGITS = 6

interface ConfirmEmailProps {
  orderId: string
  onConfirmed: (email: string) => void
  /** Leads to the order as it is. */
  onLeave: () => void
}

/**
 * The last step of correcting a mistyped address: the reader of the right mailbox enters the code that was sent there.
 */
export function ConfirmEmail({ orderId, onConfirmed, onLeave }: ConfirmEmailProps) {
  const [email, setEmail] = useState('')
  const [left, setLeft] = useState(false)
  const [code, setCode] = useState('')
  const [faults, setFaults] = useState<{ email?: string | undefined; code?: string | undefined }>({})
  const [trouble, setTrouble] = useState<string>()
  const [tries, setTries] = useState(0)
  const [busy, setBusy] = useState(false)
  const [waiting, setWaiting] = useState<string>()
  const runningRef = useRef(false)

  const submit = async (event: Event) => {
    event.preventDefault()
    if (runningRef.current) return
    setTries(tries + 1)
    setLeft(true)
    setTrouble(undefined)
    const wrong = emailFault(email)
    const short = code.length === DIGITS ? undefined : 'The code has six digits.'
    // The page shows one fault at a time and moves the focus to its field.
    setFaults({ email: wrong, code: wrong ? undefined : short })
    if (wrong || short) return
    runningRef.current = true
    setBusy(true)
    try {
      const { moved, needsConsent } = await confirmEmail(orderId, email.trim(), code)
      if (moved) return onConfirmed(email.trim().toLowerCase())
      setWaiting(
        needsConsent
          ? 'It moves to it when the reader of the old address agrees.'
          : 'It moves to it three days after we have asked the old address, unless the reader of the old address keeps it there.',
      )
    } catch (refused) {
      if (refused instanceof ApiError && refused.code === 'invalid_code') setFaults({ code: NOT_RIGHT })
      else setTrouble(refused instanceof ApiError && refused.code === 'rate_limited' ? TOO_OFTEN : sentence(refused))
    }
    runningRef.current = false
    setBusy(false)
  }
  if (waiting) {
    return (
      <div class="lookup stack">
        <h1 tabIndex={-1} ref={focused}>
          Your address is confirmed
        </h1>
        <p class="lead">The order opens with it already. {waiting}</p>
        <p>A receipt is on its way to you.</p>
        <p>
          <button type="button" class="button primary" onClick={() => onConfirmed(email.trim().toLowerCase())}>
            Open the order
          </button>
        </p>
      </div>
    )
  }
  return (
    <div class="lookup stack">
      <h1>Confirm your address</h1>
      <p class="lead">
        The seller was told that the address of this order was mistyped. Enter the right one and the code that we mailed
        to it. The order opens with it from then on, and moves to it when the old address has had time to answer.
      </p>
      {trouble && <Notice key={tries} tone="alarm" role="alert" title={trouble} />}
      <form class="stack" noValidate onSubmit={submit} onFocusOut={() => setLeft(true)}>
        <p class="small soft">
          Order number
          <br />
          <code>{orderId}</code>
        </p>
        <EmailField
          value={email}
          onValue={(value) => {
            setEmail(value)
            setLeft(false)
            setFaults({})
          }}
          hint="The one that the mail with the code came to."
          fault={faults.email}
          tries={tries}
        >
          <BetterEmail
            value={email}
            left={left}
            onValue={(better) => {
              setEmail(better)
              setFaults({})
            }}
          />
        </EmailField>
        <TextField
          id="code"
          label="Code"
          hint="Six digits. They work for 24 hours."
          value={code}
          onValue={(text) => {
            setCode(text.replace(/\D/g, '').slice(0, DIGITS))
            setFaults({})
          }}
          fault={faults.code}
          tries={tries}
          input={{
            class: 'digits',
            inputMode: 'numeric',
            autoComplete: 'one-time-code',
            maxLength: 40,
            required: true,
          }}
        />
        <Submit busy={busy ? 'Confirming…' : undefined}>Confirm the address</Submit>
      </form>
      <p class="small">
        <button type="button" class="link" onClick={onLeave}>
          Open the order with the address it has
        </button>
      </p>
    </div>
  )
}

/** The form has left the page, so its result takes the focus. */
const focused = (heading: HTMLElement | null) => heading?.focus()

const NOT_RIGHT =
  'This code does not fit this order and address. Check both; after five wrong tries, or a day, only a new one from the seller helps.'
const TOO_OFTEN = 'Too many wrong codes were tried. Please wait a while, then ask the seller to send a new one.'
