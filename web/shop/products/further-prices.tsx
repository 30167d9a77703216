import { TextField } from '../../ui/text-field.tsx'
import { CurrencySelect, COMMON } from './currency-select.tsx'
import { type Draft, type Faults, type FurtherPrice, MOST_PRICES } from './draft.ts'

interface FurtherPricesProps {
  draft: Draft
  faults: Faults
  tries: number
  onChange: (change: Partial<Draft>) => void
}

/** The prices in other currencies. A product is sold at these prices: nothing is converted. */
export function FurtherPrices({ draft, faults, tries, onChange }: FurtherPricesProps) {
  const { further } = draft
  const change = (at: number, to: Partial<FurtherPrice>) =>
    onChange({ further: further.map((one, place) => (place === at ? { ...one, ...to } : one)) })
  return (
    <fieldset class="further stack">
      <legend>Prices in other currencies</legend>
      <p class="soft small">
        {further.length > 0
          ? 'The page begins with the price of the buyer’s country, if there is one here. The buyer can switch.'
          : 'Buyers pay the price above, in its currency. You can add what they pay in others.'}
      </p>
      {further.map((one, at) => (
        // oxlint-disable-next-line react/no-array-index-key -- a price has no other name: its currency can change
        <div class="stack tight" key={at}>
          <Row
            one={one}
            at={at}
            isChosen={draft.pricing === 'chosen'}
            fault={faults[`further${at}`]}
            tries={tries}
            onChange={(to) => change(at, to)}
          />
          <button
            type="button"
            class="link small"
            onClick={() => {
              onChange({ further: further.filter((_, place) => place !== at) })
              requestAnimationFrame(() => document.getElementById('add-currency')?.focus())
            }}
          >
            Remove the price in {one.currency}
          </button>
        </div>
      ))}
      {further.length < MOST_PRICES - 1 && (
        <div class="row">
          <button type="button" class="button" id="add-currency" onClick={() => onChange(withPrice(draft))}>
            Add a currency
          </button>
        </div>
      )}
    </fieldset>
  )
}

/** The draft with one more price, in a currency that it does not have yet. */
export function withPrice({ currency, further }: Draft, wanted?: string): Pick<Draft, 'further'> {
  const taken = new Set([currency, ...further.map((one) => one.currency)])
  const next = wanted ?? COMMON.find((code) => !taken.has(code)) ?? 'CHF'
  requestAnimationFrame(() => document.getElementById(`further${further.length}`)?.focus())
  return { further: [...further, { currency: next, price: '', suggested: '' }] }
}

interface RowProps {
  one: FurtherPrice
  at: number
  isChosen: boolean
  fault: string | undefined
  tries: number
  onChange: (to: Partial<FurtherPrice>) => void
}

function Row({ one: { currency, price, suggested }, at, isChosen, fault, tries, onChange }: RowProps) {
  const typing = { inputMode: 'decimal', autoComplete: 'off', maxLength: 20 } as const
  return (
    <>
      <div class="price-pair">
        <TextField
          id={`further${at}`}
          label={isChosen ? `At least, in ${currency}` : `Price in ${currency}`}
          value={price}
          onValue={(to) => onChange({ price: to })}
          fault={fault}
          tries={tries}
          input={{ ...typing, ...(isChosen && { placeholder: '0' }) }}
        />
        <CurrencySelect
          id={`further-currency${at}`}
          label="Currency"
          value={currency}
          onValue={(to) => onChange({ currency: to })}
        />
      </div>
      {isChosen && (
        <TextField
          id={`further-suggested${at}`}
          label={`Suggestion in ${currency}`}
          value={suggested}
          onValue={(to) => onChange({ suggested: to })}
          input={typing}
        />
      )}
    </>
  )
}
