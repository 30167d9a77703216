import { useRef, useState } from 'preact/hooks'
import { consentToMove, keepAddress, ApiError } from '../ui/api.ts'
import { Submit } from '../ui/button.tsx'
import { Notice } from '../ui/notice.tsx'
import { TextField } from '../ui/text-field.tsx'
import { sentence } from '../ui/words.ts'

const DIGITS = 6

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
  const [fault, setFault] = useState<string>()
  const [trouble, setTrouble] = useState<string>()
  const [tries, setTries] = useState(0)
  const [busy, setBusy] = useState<'keep' | 'move'>()
  const [over, setOver] = useState(false)
  const [done, setDone] = useState<'kept' | 'moved'>()
  const runningRef = useRef(false)

  const run = async (what: 'keep' | 'move', work: () => Promise<unknown>) => {
    if (runningRef.current) return
    runningRef.current = true
    setTries(tries + 1)
    setTrouble(undefined)
    setFault(undefined)
    setBusy(what)
    try {
      await work()
      setDone(what === 'keep' ? 'kept' : 'moved')
    } catch (refused) {
      const refusal = refused instanceof ApiError ? refused.code : undefined
      if (refusal === 'invalid_code') setFault('This code does not fit. Check the newest mail about this order.')
      else if (refusal === 'email_change_over') setOver(true)
      else setTrouble(sentence(refused))
    }
    runningRef.current = false
    setBusy(undefined)
  }
  const move = (event: Event) => {
    event.preventDefault()
    if (code.length === DIGITS) return void run('move', () => consentToMove(orderId, token, code))
    setTries(tries + 1)
    setFault('The code has six digits.')
  }
  if (done || over) {
    return (
      <div class="lookup stack">
        <h1 tabIndex={-1} ref={focused}>
          {over
            ? 'The order has another address now'
            : done === 'kept'
              ? 'The order stays at your address'
              : 'The order has moved'}
        </h1>
        <p class="lead">{over ? OVER : done === 'kept' ? KEPT : MOVED}</p>
        {done !== 'moved' && (
          <p>
            <button type="button" class="button" onClick={onLeave}>
              Open the order
            </button>
          </p>
        )}
      </div>
    )
  }
  return (
    <div class="lookup stack">
      <h1>Does this order stay at your address?</h1>
      <p class="lead">
        The seller was told that your address was a mistake, and the reader of another mailbox has confirmed it. If you
        bought this, keep it: nothing changes then.
      </p>
      <p class="small soft">
        Order number
        <br />
        <code>{orderId}</code>
      </p>
      {trouble && <Notice key={tries} tone="alarm" role="alert" title={trouble} />}
      <form
        onSubmit={(event) => {
          event.preventDefault()
          void run('keep', () => keepAddress(orderId, token))
        }}
      >
        <Submit busy={busy === 'keep' ? 'Keeping it…' : undefined}>Keep the order at my address</Submit>
      </form>
      <h2>Was your address really a mistake?</h2>
      <p>With the code from the same mail the order moves at once. Your address does not open it any more then.</p>
      <form class="stack" noValidate onSubmit={move}>
        <TextField
          id="code"
          label="Code"
          hint="Six digits, from the mail that led you here."
          value={code}
          onValue={(text) => {
            setCode(text.replace(/\D/g, '').slice(0, DIGITS))
            setFault(undefined)
          }}
          fault={fault}
          tries={tries}
          input={{ class: 'digits', inputMode: 'numeric', autoComplete: 'one-time-code', maxLength: 40 }}
        />
        <button type="submit" class="button" aria-disabled={busy === 'move' ? 'true' : undefined}>
          Let the order move
        </button>
      </form>
    </div>
  )
}

/** The pressed button has left the page, so its result takes the focus. */
const focused = (heading: HTMLElement | null) => heading?.focus()

const KEPT = 'It does not move any more without your consent.'
const MOVED = 'It opens with the other address now.'
const OVER =
  'It has moved already, so this link does nothing any more. The order opens with the address that it has now.'
