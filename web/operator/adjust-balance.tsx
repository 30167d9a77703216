import { useState } from 'preact/hooks'
import { CURRENCIES } from '../../src/kit/currencies.ts'
import { TextField } from '../ui/text-field.tsx'
import { amountIn } from '../shop/products/typed-amount.ts'
import { Doing } from './doing.tsx'
import { newKey } from '../ui/new-key.ts'
import { adjust } from './payouts-api.ts'

/** Books an adjustment. The key stays the same until it is booked, so that a repeat books nothing more. */
export function AdjustBalance({ sellerId, onDone }: { sellerId: string; onDone: () => void }) {
  const [currency, setCurrency] = useState('')
  const [typed, setTyped] = useState('')
  const [takes, setTakes] = useState(false)
  const [reason, setReason] = useState('')
  const [key, setKey] = useState(newKey)
  const code = currency.trim().toUpperCase()
  const isKnown = CURRENCIES.has(code)
  const amount = isKnown ? amountIn(typed, code) : undefined
  const work = async () => {
    if (!isKnown || amount === undefined || amount <= 0) throw new Error('the amount cannot be read')
    await adjust(sellerId, { amount: takes ? -amount : amount, currency: code, reason: reason.trim() }, key)
    setKey(newKey())
    setTyped('')
    return 'Booked.'
  }
  return (
    <Doing label="Adjust the balance" question="Adjust what is owed to this seller?" grave work={work} onDone={onDone}>
      <p>It is booked at once and stays in the books. To take it back, book the opposite.</p>
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
    </Doing>
  )
}
