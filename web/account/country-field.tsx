import { countriesIn } from '../ui/countries.ts'
import { LOCALE } from '../ui/language.ts'

export const COUNTRIES = countriesIn(LOCALE)

interface CountryFieldProps {
  id: string
  label: string
  /** ISO 3166-1, or empty. */
  value: string
  onValue: (value: string) => void
  fault: string | undefined
}

export const CountryField = ({ id, label, value, onValue, fault }: CountryFieldProps) => (
  <div class="field">
    <label for={id}>{label}</label>
    <select
      id={id}
      value={value}
      aria-invalid={fault ? 'true' : undefined}
      aria-describedby={fault ? `${id}-fault` : undefined}
      onChange={(event) => onValue(event.currentTarget.value)}
    >
      <option value="">Choose a country</option>
      {Array.from(COUNTRIES, ([code, name]) => (
        <option key={code} value={code}>
          {name}
        </option>
      ))}
    </select>
    {fault && (
      <p class="fault" id={`${id}-fault`} role="alert">
        {fault}
      </p>
    )}
  </div>
)
