import { feeOf } from '../../../src/kit/money.ts'
import { money } from '../../ui/format.ts'
import { TextField } from '../../ui/text-field.tsx'
import { CurrencySelect } from './currency-select.tsx'
import { amountOf, MOST_PRICES, type Draft, type Faults, type Pricing, suggestedOf } from './draft.ts'
import { FurtherPrices, withPrice } from './further-prices.tsx'

const PRICINGS: [Pricing, string][] = [
  ['fixed', 'One price'],
  ['chosen', 'Pay what you want'],
  ['free', 'Free'],
]

interface PriceFieldsProps {
  draft: Draft
  faults: Faults
  tries: number
  onChange: (change: Partial<Draft>) => void
}

export function PriceFields({ draft, faults, tries, onChange }: PriceFieldsProps) {
  const { pricing, currency } = draft
  return (
    <>
      <fieldset class="choices">
        <legend>Price</legend>
        <div class="row">
          {PRICINGS.map(([value, name]) => (
            <label key={value}>
              <input
                type="radio"
                name="pricing"
                value={value}
                checked={pricing === value}
                onChange={() => onChange({ pricing: value })}
              />
              {name}
            </label>
          ))}
        </div>
      </fieldset>
      {pricing !== 'free' && (
        <div class="price-pair">
          <TextField
            id="price"
            label={pricing === 'chosen' ? 'At least' : 'What buyers pay'}
            value={draft.price}
            onValue={(price) => onChange({ price })}
            fault={faults.price}
            tries={tries}
            input={{
              inputMode: 'decimal',
              autoComplete: 'off',
              maxLength: 20,
              ...(pricing === 'chosen' && { placeholder: '0' }),
            }}
          />
          <CurrencySelect
            id="currency"
            label="Currency"
            value={currency}
            onValue={(chosen) => onChange({ currency: chosen })}
          />
        </div>
      )}
      {pricing === 'chosen' && (
        <TextField
          id="suggested"
          label="Suggestion"
          hint="The amount in the field when the page opens. Leave it empty for none."
          value={draft.suggested}
          onValue={(suggested) => onChange({ suggested })}
          fault={faults.suggested}
          tries={tries}
          input={{ inputMode: 'decimal', autoComplete: 'off', maxLength: 20 }}
        />
      )}
      <Outcome draft={draft} onChange={onChange} />
      {pricing !== 'free' && <FurtherPrices {...{ draft, faults, tries, onChange }} />}
    </>
  )
}

/** The seller's earnings from one sale, and the rails that the currency excludes. */
function Outcome({ draft, onChange }: Pick<PriceFieldsProps, 'draft' | 'onChange'>) {
  const { pricing, currency, further } = draft
  const hasRupees = [currency, ...further.map((one) => one.currency)].includes('INR')
  const shown = suggestedOf(draft) || amountOf(draft)
  return (
    <div class="small soft outcome">
      <output for="price currency">
        {pricing === 'free'
          ? 'Buyers leave their e-mail address and have the files at once. There is no payment and no fee.'
          : shown
            ? `Buyers pay ${money(shown, currency)}${suggestedOf(draft) ? ' when they follow your suggestion' : ''}. You get ${money(shown - feeOf(shown), currency)}; the fee is ${money(feeOf(shown), currency)}, 2%.`
            : 'The fee is 2% of what a buyer pays.'}
      </output>
      {pricing !== 'free' && !hasRupees && further.length < MOST_PRICES - 1 && (
        <p>
          UPI needs a price in INR, and many buyers in India have no other way to pay.{' '}
          <button type="button" class="link" onClick={() => onChange(withPrice(draft, 'INR'))}>
            Add a price in INR
          </button>
        </p>
      )}
    </div>
  )
}
