import { useRef, useState } from 'preact/hooks'
import { useAction } from '../ui/action.ts'
import { ApiError, confirmEmail, getStatus } from '../ui/api.ts'
import { BetterEmail } from '../ui/better-email.tsx'
import { Submit } from '../ui/button.tsx'
import { EmailField } from '../ui/email-field.tsx'
import { typedBefore } from '../ui/language-choice.tsx'
import { Notice } from '../ui/notice.tsx'
import { emailFault } from '../ui/text-field.tsx'
import { sentence } from '../ui/words.ts'
import { CodeField, isWholeCode } from './code-field.tsx'
import { OrderNumber } from './order-number.tsx'
import { wordsOf } from '../ui/language.ts'

const words = wordsOf('address')

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
      <h1>{words.confirm}</h1>
      <p class="lead">{words.confirmLead}</p>
      <ConfirmForm
        orderId={orderId}
        onMoved={onConfirmed}
        onWaiting={(email, needsConsent) => setWaiting({ email, needsConsent })}
      />
      <p class="small">
        <button type="button" class="link" onClick={onLeave}>
          {words.openAsIs}
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
  const [email, setEmail] = useState(() => typedBefore('email'))
  const [hasLeftField, setHasLeftField] = useState(false)
  const [code, setCode] = useState(() => typedBefore('code'))
  const [faults, setFaults] = useState<{ email?: string | undefined; code?: string | undefined }>({})
  const [pressed, setPressed] = useState(0)
  const action = useAction()
  const isWrong = action.refusedFor('invalid_code')
  /** The address of a try whose outcome is unknown. */
  const triedRef = useRef('')
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
    const short = isWholeCode(code) ? undefined : wordsOf('code').short
    // The page shows one fault at a time and moves the focus to its field.
    setFaults({ email: wrong, code: wrong ? undefined : short })
    if (wrong || short) return action.clear()
    void action.run(async () => {
      const { moved, needsConsent } = await confirmed(orderId, email.trim(), code, triedRef)
      const proved = email.trim().toLowerCase()
      if (moved) onMoved(proved)
      else onWaiting(proved, needsConsent)
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
          hint={words.emailHint}
          fault={faults.email}
          tries={pressed}
        >
          <BetterEmail value={email} left={hasLeftField} onValue={typing(setEmail)} />
        </EmailField>
        <CodeField
          hint={words.codeHint}
          value={code}
          onValue={typing(setCode)}
          fault={isWrong ? words.codeWrong : faults.code}
          tries={pressed}
          required
        />
        <Submit busy={action.busy ? words.confirming : undefined}>{words.confirmIt}</Submit>
      </form>
    </>
  )
}

/** A try whose answer was lost can have used the code. The address opens the order then, also where the order moves to it later. */
async function confirmed(orderId: string, email: string, code: string, triedRef: { current: string }) {
  try {
    return await confirmEmail(orderId, email, code)
  } catch (trouble) {
    if (!(trouble instanceof ApiError)) throw trouble
    if (trouble.unknown) triedRef.current = email
    const isUsed = trouble.code === 'invalid_code' && triedRef.current === email
    if (!isUsed || !(await opens(orderId, email))) throw trouble
    return { moved: true, needsConsent: false }
  }
}

/** Whether the order opens with this address. */
const opens = (orderId: string, email: string): Promise<boolean> =>
  getStatus(orderId, email).then(
    ({ timeline }) => timeline !== undefined,
    () => false,
  )

/** The address is proved, and the reader of the old one has not answered yet. */
function Confirmed({ needsConsent, onOpen }: { needsConsent: boolean; onOpen: () => void }) {
  return (
    <div class="lookup stack">
      <h1 tabIndex={-1} ref={focus}>
        {words.confirmed}
      </h1>
      <p class="lead">
        {words.confirmedLead} {needsConsent ? words.movesWithConsent : words.movesLater}
      </p>
      <p>{words.receiptComing}</p>
      <p>
        <button type="button" class="button main" onClick={onOpen}>
          {words.openOrder}
        </button>
      </p>
    </div>
  )
}

/** The form has left the page, so its result takes the focus. */
const focus = (heading: HTMLElement | null) => heading?.focus()

const explain = (trouble: unknown): string =>
  trouble instanceof ApiError && trouble.code === 'rate_limited' ? words.tooOften : sentence(trouble)
