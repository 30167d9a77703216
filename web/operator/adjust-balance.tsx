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
  const [currency, setCurrency] = useState('')
  const [typed, setTyped] = useState('')
  const [takes, setTakes] = useState(false)
  const [reason, setReason] = useState('')
  const { unanswered, send } = useKeptRequest<Adjustment>(ADJUSTMENT + sellerId)
  const code = currency.trim().toUpperCase()
  const isKnown = CURRENCIES.has(code)
  const amount = isKnown ? amountIn(typed, code) : undefined
  const wished = (): Adjustment => {
    if (!isKnown || amount === undefined || amount <= 0) throw new Error('the amount cannot be read')
    return { amount: takes ? -amount : amount, currency: code, reason: reason.trim() }
  }
  const work = async () => {
    const wish = unanswered ?? wished()
    await send(wish, (kept) => adjust(sellerId, kept))
    setTyped('')
    return 'Booked.'
  }
  return (
    <Doing label="Adjust the balance" question="Adjust what is owed to this seller?" grave work={work} onDone={onDone}>
      <p>It is booked at once and stays in the books. To take it back, book the opposite.</p>
      {unanswered ? (
        <Unanswered what="adjustment" amount={money(unanswered.amount, unanswered.currency)} />
      ) : (
        <>
          <fieldset class="kinds">
            <legend class="unseen">Direction</legend>
            <label>
              <input type="radio" name="direction" checked={!takes} onChange={() => setTakes(false)} />
              <span>Give to the seller</span>
            </label>
            <label>
              <input type="radio" name="direction" checked={takes} onChange={() => setTakes(true)} />
              <span>Take from the seller</span>
            </label>
          </fieldset>
          <TextField
            id="adjust-currency"
            label="Currency"
            value={currency}
            onValue={setCurrency}
            fault={code.length >= 3 && !isKnown ? 'Please enter a code such as EUR.' : undefined}
            input={{ autoComplete: 'off', autoCapitalize: 'characters', maxLength: 3 }}
          />
          <TextField
            id="adjust-amount"
            label={isKnown ? `Amount in ${code}` : 'Amount'}
            value={typed}
            onValue={setTyped}
            fault={
              isKnown && typed.trim() !== '' && !(amount && amount > 0)
                ? 'Please enter an amount such as 12.50.'
                : undefined
            }
            input={{ inputMode: 'decimal', autoComplete: 'off', maxLength: 30 }}
          />
          <TextField
            id="adjust-reason"
            label="Reason"
            hint="The seller reads it."
            value={reason}
            onValue={setReason}
            input={{ autoComplete: 'off', maxLength: 500 }}
          />
        </>
      )}
    </Doing>
  )
}
