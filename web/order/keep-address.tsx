import { useState } from 'preact/hooks'
import { useAction } from '../ui/action.ts'
import { consentToMove, keepAddress } from '../ui/api.ts'
import { Submit } from '../ui/button.tsx'
import { Notice } from '../ui/notice.tsx'
import { sentence } from '../ui/words.ts'
import { CodeField, isWholeCode } from './code-field.tsx'
import { OrderNumber } from './order-number.tsx'
import { wordsOf } from '../ui/language.ts'

const words = wordsOf('address')

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
      <h1>{words.stays}</h1>
      <p class="lead">{words.staysLead}</p>
      <OrderNumber orderId={orderId} />
      {action.trouble && !isWrong ? (
        <Notice key={action.tries} tone="alarm" role="alert" title={sentence(action.trouble)} />
      ) : null}
      <form onSubmit={keep}>
        <Submit busy={action.doing === 'keep' ? words.keeping : undefined}>{words.keep}</Submit>
      </form>
      <h2>{words.mistake}</h2>
      <p>{words.mistakeText}</p>
      <form class="stack" noValidate onSubmit={move}>
        <CodeField
          hint={words.codeHintMail}
          value={code}
          onValue={(digits) => {
            setCode(digits)
            setIsShort(false)
            if (isWrong) action.clear()
          }}
          fault={isShort ? wordsOf('code').short : isWrong ? words.newestMail : undefined}
          tries={action.tries + pressed}
        />
        <button type="submit" class="button" aria-disabled={action.doing === 'move' ? 'true' : undefined}>
          {words.move}
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
            {words.openOrder}
          </button>
        </p>
      )}
    </div>
  )
}

/** The pressed button has left the page, so its result takes the focus. */
const focus = (heading: HTMLElement | null) => heading?.focus()

const OUTCOMES: Record<Outcome, [title: string, text: string]> = {
  kept: [words.kept, words.keptText],
  moved: [words.moved, words.movedText],
  over: [words.over, words.overText],
}
