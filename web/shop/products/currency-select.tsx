import { CURRENCIES } from '../../../src/kit/currencies.ts'

/** The most common currencies come first. */
export const COMMON = ['USD', 'EUR', 'GBP', 'INR', 'JPY', 'AUD', 'CAD']
const OTHERS = [...CURRENCIES].filter((code) => !COMMON.includes(code))

interface CurrencySelectProps {
  id: string
  label: string
  value: string
  onValue: (currency: string) => void
}

export function CurrencySelect({ id, label, value, onValue }: CurrencySelectProps) {
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <select id={id} value={value} onChange={(event) => onValue(event.currentTarget.value)}>
        <optgroup label="Common">
          {(COMMON.includes(value) ? COMMON : [value, ...COMMON]).map((code) => (
            <option key={code}>{code}</option>
          ))}
        </optgroup>
        <optgroup label="All">
          {OTHERS.filter((code) => code !== value).map((code) => (
            <option key={code}>{code}</option>
          ))}
        </optgroup>
      </select>
    </div>
  )
}
