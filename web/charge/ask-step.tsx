import { useState } from 'preact/hooks'
import { Submit } from '../ui/button.tsx'
import { TextField, emailFault } from '../ui/text-field.tsx'
import type { Line } from './charge-api.ts'
import type { Charge, ChargeState } from './charge.ts'
import { LOCALE, wordsOf } from '../ui/language.ts'

const words = wordsOf('charge')

const EXAMPLE = new Intl.NumberFormat(LOCALE, { minimumFractionDigits: 2 }).format(4.99)

type Faults = Partial<Record<'email' | keyof Line, string>>

/**
 * Asks for the line as the bank prints it (by its text, or by amount and date) and the mailbox that may have ordered.
 */
export function AskStep({ charge, state: { email, line, busy, message } }: { charge: Charge; state: ChargeState }) {
  const [faults, setFaults] = useState<Faults>({})
  const [pressed, setPressed] = useState(0)
  const faultOf = (name: keyof Faults) =>
    faults[name] ?? (message?.field?.name === name ? message.field.text : undefined)
  const submit = (event: Event) => {
    event.preventDefault()
    if (busy) return
    setPressed(pressed + 1)
    const wrong = faultsOf(email, line)
    setFaults(wrong)
    if (Object.keys(wrong).length === 0) void charge.sendCode()
  }
  const type = (name: keyof Line, text: string) => {
    charge.typeLine({ [name]: text })
    setFaults({})
  }
  return (
    <form class="stack" noValidate onSubmit={submit}>
      <StatementFields line={line} faultOf={faultOf} tries={pressed} onType={type} />
      <TextField
        id="email"
        label={wordsOf('ui').email}
        hint={words.emailHint}
        value={email}
        onValue={(text) => {
          charge.type(text)
          setFaults({})
        }}
        fault={faultOf('email')}
        tries={pressed}
        input={{
          type: 'email',
          inputMode: 'email',
          autoComplete: 'email',
          maxLength: 254,
          required: true,
          placeholder: 'you@example.com',
        }}
      />
      <Submit busy={busy}>{wordsOf('code').sendMe}</Submit>
      <output class="unseen">{message ? '' : busy}</output>
    </form>
  )
}

interface StatementFieldsProps {
  line: Line
  faultOf: (name: keyof Faults) => string | undefined
  tries: number
  onType: (name: keyof Line, text: string) => void
}

function StatementFields({ line, faultOf, tries, onType }: StatementFieldsProps) {
  return (
    <fieldset class="statement stack">
      <legend>{words.whatSays}</legend>
      <TextField
        id="descriptor"
        label={words.text}
        hint={words.textHint}
        value={line.descriptor}
        onValue={(text) => onType('descriptor', text)}
        fault={faultOf('descriptor')}
        tries={tries}
        input={{ class: 'mono', autoComplete: 'off', maxLength: 100 }}
      />
      <p class="or small soft">{words.or}</p>
      <div class="pair">
        <TextField
          id="amount"
          label={words.amount}
          value={line.amount}
          onValue={(text) => onType('amount', text)}
          fault={faultOf('amount')}
          tries={tries}
          input={{ inputMode: 'decimal', autoComplete: 'off', maxLength: 40, placeholder: EXAMPLE }}
        />
        <TextField
          id="date"
          label={words.date}
          value={line.date}
          onValue={(text) => onType('date', text)}
          fault={faultOf('date')}
          tries={tries}
          input={{ type: 'date', min: '2000-01-01', max: '2999-12-31' }}
        />
      </div>
    </fieldset>
  )
}

/** The first wrong field in the order of the page. The page shows one fault at a time and moves the focus there. */
function faultsOf(email: string, { descriptor, amount, date }: Line): Faults {
  const hasText = descriptor.trim() !== ''
  if (hasText && (descriptor.normalize('NFKC').match(/[a-z0-9]/gi) ?? []).length < 3)
    return { descriptor: words.textShort }
  if (!hasText && !amount.trim() && !date) return { descriptor: words.nothingEntered }
  if (date && !amount.trim()) return { amount: words.amountMissing }
  if (amount.trim() && !/\p{Nd}/u.test(amount)) return { amount: words.amountBad }
  if (amount.trim() && !date) return { date: words.dateMissing }
  const bad = emailFault(email)
  return bad ? { email: bad } : {}
}
