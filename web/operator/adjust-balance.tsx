import { useState } from 'preact/hooks'
import { CURRENCIES } from '../../src/kit/currencies.ts'
import { money } from '../ui/format.ts'
import { TextField } from '../ui/text-field.tsx'
import { ADJUSTMENT } from '../shop/drafts.ts'
import { useKeptRequest } from '../shop/kept-request.ts'
import { amountIn } from '../shop/products/typed-amount.ts'
import { Unanswered } from '../shop/unanswered.tsx'
import { Doing } from './doing.tsx'
import { adjust, type Adjustment } from './payouts-api.ts'

/** Books an adjustment. The tab keeps it until it is booked, so that a repeat books nothing more. */
export function AdjustBalance({ sellerId, onDone }: { sellerId: string; onDone: () => void }) {
  const { unanswered, send } = useKeptRequest<Adjustment>(ADJUSTMENT + sellerId)
  const [typed, setTyped] = useState(NOTHING)
  const [tries, setTries] = useState(0)
  const wish = unanswered ?? wishOf(typed)
  const check = () => {
    setTries(tries + 1)
    return wish !== undefined
  }
  const work = async () => {
    await send(wish!, (kept) => adjust(sellerId, kept))
    setTyped({ ...typed, amount: '' })
    setTries(0)
    return 'Booked.'
  }
  return (
    <Doing
      label="Adjust the balance"
      question="Adjust what is owed to this seller?"
      grave
      check={check}
      work={work}
      onDone={onDone}
    >
      <p>It is booked at once and stays in the books. To take it back, book the opposite.</p>
      {unanswered ? (
        <Unanswered what="adjustment" amount={money(unanswered.amount, unanswered.currency)} />
      ) : (
        <Fields typed={typed} onTyped={(more) => setTyped({ ...typed, ...more })} tries={tries} />
      )}
    </Doing>
  )
}

const NOTHING = { currency: '', amount: '', takes: false, reason: '' }
type Typed = typeof NOTHING

const codeOf = ({ currency }: Typed): string => currency.trim().toUpperCase()

/** The typed amount in minor units, if it and its currency can be read. */
function amountOf(typed: Typed): number | undefined {
  const amount = CURRENCIES.has(codeOf(typed)) ? amountIn(typed.amount, codeOf(typed)) : undefined
  return amount !== undefined && amount > 0 ? amount : undefined
}

function wishOf(typed: Typed): Adjustment | undefined {
  const [amount, reason] = [amountOf(typed), typed.reason.trim()]
  if (amount === undefined || !reason) return undefined
  return { amount: typed.takes ? -amount : amount, currency: codeOf(typed), reason }
}

interface FieldsProps {
  typed: Typed
  onTyped: (more: Partial<Typed>) => void
  /** How often the button was pressed. Then empty fields have a fault too. */
  tries: number
}

function Fields({ typed, onTyped, tries }: FieldsProps) {
  const code = codeOf(typed)
  const isKnown = CURRENCIES.has(code)
  const isWrong = isKnown && amountOf(typed) === undefined
  return (
    <>
      <fieldset class="kinds">
        <legend class="unseen">Direction</legend>
        <label>
          <input type="radio" name="direction" checked={!typed.takes} onChange={() => onTyped({ takes: false })} />
          <span>Give to the seller</span>
        </label>
        <label>
          <input type="radio" name="direction" checked={typed.takes} onChange={() => onTyped({ takes: true })} />
          <span>Take from the seller</span>
        </label>
      </fieldset>
      <TextField
        id="adjust-currency"
        label="Currency"
        value={typed.currency}
        onValue={(currency) => onTyped({ currency })}
        fault={(code.length >= 3 || tries > 0) && !isKnown ? 'Please enter a code such as EUR.' : undefined}
        tries={tries}
        input={{ autoComplete: 'off', autoCapitalize: 'characters', maxLength: 3 }}
      />
      <TextField
        id="adjust-amount"
        label={isKnown ? `Amount in ${code}` : 'Amount'}
        value={typed.amount}
        onValue={(amount) => onTyped({ amount })}
        fault={(typed.amount.trim() === '' ? tries > 0 : isWrong) ? 'Please enter an amount such as 12.50.' : undefined}
        tries={tries}
        input={{ inputMode: 'decimal', autoComplete: 'off', maxLength: 30 }}
      />
      <TextField
        id="adjust-reason"
        label="Reason"
        hint="The seller reads it."
        value={typed.reason}
        onValue={(reason) => onTyped({ reason })}
        fault={tries > 0 && !typed.reason.trim() ? 'Please enter the reason.' : undefined}
        tries={tries}
        input={{ autoComplete: 'off', maxLength: 500 }}
      />
    </>
  )
}
