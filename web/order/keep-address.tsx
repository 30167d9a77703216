import { useState } from 'preact/hooks'
import { useAction } from '../ui/action.ts'
import { consentToMove, keepAddress } from '../ui/api.ts'
import { Submit } from '../ui/button.tsx'
import { Notice } from '../ui/notice.tsx'
import { sentence } from '../ui/words.ts'
import { CodeField, isWholeCode } from './code-field.tsx'
import { OrderNumber } from './order-number.tsx'

interface KeepAddressProps {
  orderId: string
  /** From the mail's link. */
  token: string
  /** Leads to the order as it is. */
  onLeave: () => void
}

/** Asks the old mailbox of an order whether the order may move to another one. One press keeps the order. */
export function KeepAddress({ orderId, token, onLeave }: KeepAddressProps) {
  const [code, setCode] = useState('')
  const [isShort, setIsShort] = useState(false)
  const [pressed, setPressed] = useState(0)
  const [outcome, setOutcome] = useState<Outcome>()
  const action = useAction()
  const isWrong = action.refusedFor('invalid_code')
  const run = (doing: 'keep' | 'move', work: () => Promise<unknown>, done: Outcome) => {
    setIsShort(false)
    void action.run(async () => {
      await work()
      setOutcome(done)
      return ''
    }, doing)
  }
  const keep = (event: Event) => {
    event.preventDefault()
    run('keep', () => keepAddress(orderId, token), 'kept')
  }
  const move = (event: Event) => {
    event.preventDefault()
    if (isWholeCode(code)) return run('move', () => consentToMove(orderId, token, code), 'moved')
    setPressed(pressed + 1)
    setIsShort(true)
  }
  const ended = outcome ?? (action.refusedFor('email_change_over') ? 'over' : undefined)
  if (ended) return <Ended outcome={ended} onLeave={onLeave} />
  return (
    <div class="lookup stack">
      <h1>Does this order stay at your address?</h1>
      <p class="lead">
        The seller was told that your address was a mistake, and the reader of another mailbox has confirmed it. If you
        bought this, keep it: nothing changes then.
      </p>
      <OrderNumber orderId={orderId} />
      {action.trouble && !isWrong ? (
        <Notice key={action.tries} tone="alarm" role="alert" title={sentence(action.trouble)} />
      ) : null}
      <form onSubmit={keep}>
        <Submit busy={action.doing === 'keep' ? 'Keeping it…' : undefined}>Keep the order at my address</Submit>
      </form>
      <h2>Was your address really a mistake?</h2>
      <p>With the code from the same mail the order moves at once. Your address does not open it any more then.</p>
      <form class="stack" noValidate onSubmit={move}>
        <CodeField
          hint="Six digits, from the mail that led you here."
          value={code}
          onValue={(digits) => {
            setCode(digits)
            setIsShort(false)
            if (isWrong) action.clear()
          }}
          fault={isShort ? 'The code has six digits.' : isWrong ? NOT_RIGHT : undefined}
          tries={action.tries + pressed}
        />
        <button type="submit" class="button" aria-disabled={action.doing === 'move' ? 'true' : undefined}>
          Let the order move
        </button>
      </form>
    </div>
  )
}

/** `over`: the order has moved before the reader of the mail answered. */
type Outcome = 'kept' | 'moved' | 'over'

function Ended({ outcome, onLeave }: { outcome: Outcome; onLeave: () => void }) {
  const [title, text] = OUTCOMES[outcome]
  return (
    <div class="lookup stack">
      <h1 tabIndex={-1} ref={focus}>
        {title}
      </h1>
      <p class="lead">{text}</p>
      {outcome !== 'moved' && (
        <p>
          <button type="button" class="button" onClick={onLeave}>
            Open the order
          </button>
        </p>
      )}
    </div>
  )
}

/** The pressed button has left the page, so its result takes the focus. */
const focus = (heading: HTMLElement | null) => heading?.focus()

const OUTCOMES: Record<Outcome, [title: string, text: string]> = {
  kept: ['The order stays at your address', 'It does not move any more without your consent.'],
  moved: ['The order has moved', 'It opens with the other address now.'],
  over: [
    'The order has another address now',
    'It has moved already, so this link does nothing any more. The order opens with the address that it has now.',
  ],
}

const NOT_RIGHT = 'This code does not fit. Check the newest mail about this order.'
