import { useState } from 'preact/hooks'
import { useAction } from '../ui/action.ts'
import { confirmEmail, ApiError } from '../ui/api.ts'
import { BetterEmail } from '../ui/better-email.tsx'
import { Submit } from '../ui/button.tsx'
import { EmailField } from '../ui/email-field.tsx'
import { Notice } from '../ui/notice.tsx'
import { emailFault } from '../ui/text-field.tsx'
import { sentence } from '../ui/words.ts'
import { CodeField, isWholeCode } from './code-field.tsx'
import { OrderNumber } from './order-number.tsx'

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
  const [waiting, setWaiting] = useState<{ email: string; needsConsent: boolean }>()
  if (waiting) return <Confirmed {...waiting} onOpen={() => onConfirmed(waiting.email)} />
  return (
    <div class="lookup stack">
      <h1>Confirm your address</h1>
      <p class="lead">
        The seller was told that the address of this order was mistyped. Enter the right one and the code that we mailed
        to it. The order opens with it from then on, and moves to it when the old address has had time to answer.
      </p>
      <ConfirmForm
        orderId={orderId}
        onMoved={onConfirmed}
        onWaiting={(email, needsConsent) => setWaiting({ email, needsConsent })}
      />
      <p class="small">
        <button type="button" class="link" onClick={onLeave}>
          Open the order with the address it has
        </button>
      </p>
    </div>
  )
}

interface ConfirmFormProps {
  orderId: string
  onMoved: (email: string) => void
  /** The address is right, and the order moves to it later. */
  onWaiting: (email: string, needsConsent: boolean) => void
}

function ConfirmForm({ orderId, onMoved, onWaiting }: ConfirmFormProps) {
  const [email, setEmail] = useState('')
  const [hasLeftField, setHasLeftField] = useState(false)
  const [code, setCode] = useState('')
  const [faults, setFaults] = useState<{ email?: string | undefined; code?: string | undefined }>({})
  const [pressed, setPressed] = useState(0)
  const action = useAction()
  const isWrong = action.refusedFor('invalid_code')
  /** Typing removes the faults that an earlier press has shown. */
  const typing = (set: (text: string) => void) => (text: string) => {
    set(text)
    setFaults({})
    if (isWrong) action.clear()
  }
  const submit = (event: Event) => {
    event.preventDefault()
    if (action.busy) return
    setPressed(pressed + 1)
    setHasLeftField(true)
    const wrong = emailFault(email)
    const short = isWholeCode(code) ? undefined : 'The code has six digits.'
    // The page shows one fault at a time and moves the focus to its field.
    setFaults({ email: wrong, code: wrong ? undefined : short })
    if (wrong || short) return action.clear()
    void action.run(async () => {
      const { moved, needsConsent } = await confirmEmail(orderId, email.trim(), code)
      const confirmed = email.trim().toLowerCase()
      if (moved) onMoved(confirmed)
      else onWaiting(confirmed, needsConsent)
      return ''
    })
  }
  return (
    <>
      {action.trouble && !isWrong ? (
        <Notice key={pressed} tone="alarm" role="alert" title={explain(action.trouble)} />
      ) : null}
      <form class="stack" noValidate onSubmit={submit} onFocusOut={() => setHasLeftField(true)}>
        <OrderNumber orderId={orderId} />
        <EmailField
          value={email}
          onValue={typing((value) => {
            setEmail(value)
            setHasLeftField(false)
          })}
          hint="The address that the code was sent to."
          fault={faults.email}
          tries={pressed}
        >
          <BetterEmail value={email} left={hasLeftField} onValue={typing(setEmail)} />
        </EmailField>
        <CodeField
          hint="Six digits. It works for 24 hours."
          value={code}
          onValue={typing(setCode)}
          fault={isWrong ? NOT_RIGHT : faults.code}
          tries={pressed}
          required
        />
        <Submit busy={action.busy ? 'Confirming…' : undefined}>Confirm the address</Submit>
      </form>
    </>
  )
}

/** The address is proved, and the reader of the old one has not answered yet. */
function Confirmed({ needsConsent, onOpen }: { needsConsent: boolean; onOpen: () => void }) {
  return (
    <div class="lookup stack">
      <h1 tabIndex={-1} ref={focus}>
        Your address is confirmed
      </h1>
      <p class="lead">
        The order opens with it already.{' '}
        {needsConsent
          ? 'It moves to it when the reader of the old address agrees.'
          : 'It moves to it three days after we have asked the old address, unless the reader of the old address keeps it there.'}
      </p>
      <p>A receipt is on its way to you.</p>
      <p>
        <button type="button" class="button primary" onClick={onOpen}>
          Open the order
        </button>
      </p>
    </div>
  )
}

/** The form has left the page, so its result takes the focus. */
const focus = (heading: HTMLElement | null) => heading?.focus()

const explain = (trouble: unknown): string =>
  trouble instanceof ApiError && trouble.code === 'rate_limited' ? TOO_OFTEN : sentence(trouble)

const NOT_RIGHT =
  'This code does not fit this order and address. Check both; after five wrong tries, or a day, only a new one from the seller helps.'
const TOO_OFTEN = 'Too many wrong codes were tried. Please wait a while, then ask the seller to send a new one.'
