import { useState } from 'preact/hooks'
import { decimalsOf, feeOf } from '../../src/kit/money.ts'
import { readAmount } from '../ui/amounts.ts'
import { money } from '../ui/format.ts'
import { say, wordsOf } from '../ui/language.ts'

const CURRENCIES = ['INR', 'USD', 'EUR', 'GBP', 'JPY', 'KWD']

/**
 * The slip of one sale: price, fee, and the rest. The function that books the fee of a real sale computes it here too.
 */
export function Calculator() {
  const [price, setPrice] = useState('499.00')
  const [currency, setCurrency] = useState('INR')
  const read = readAmount(price, currency, decimalsOf(currency), { words: wordsOf('ui'), say })
  const fault = price.trim() ? read.fault : undefined
  const shown = read.minor ?? 0
  return (
    <div class="slip stack">
      <h2>What a sale leaves you</h2>
      <div class="pair">
        <div class="field">
          <label for="price">Price</label>
          <input
            id="price"
            inputMode="decimal"
            autoComplete="off"
            maxLength={16}
            value={price}
            onInput={(event) => setPrice(event.currentTarget.value)}
            aria-invalid={fault ? 'true' : undefined}
            aria-describedby={fault ? 'price-fault' : undefined}
          />
        </div>
        <div class="field">
          <label for="currency">Currency</label>
          <select id="currency" value={currency} onChange={(event) => setCurrency(event.currentTarget.value)}>
            {CURRENCIES.map((code) => (
              <option key={code}>{code}</option>
            ))}
          </select>
        </div>
      </div>
      {fault && (
        <p class="fault" id="price-fault">
          {fault}
        </p>
      )}
      <output for="price currency">
        <dl class="lines">
          <div>
            <dt>Your buyer pays</dt>
            <dd>{money(shown, currency)}</dd>
          </div>
          <div>
            <dt>Fee, 2%</dt>
            <dd>−{money(feeOf(shown), currency)}</dd>
          </div>
          <div class="total">
            <dt>You get</dt>
            <dd>{money(shown - feeOf(shown), currency)}</dd>
          </div>
        </dl>
      </output>
      <p class="soft small">Before the payment processor’s own charges.</p>
    </div>
  )
}
