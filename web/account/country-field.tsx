import { countriesIn } from '../ui/countries.ts'
import { LOCALE } from '../ui/language.ts'
import { useFaultFocus } from '../ui/text-field.tsx'

export const COUNTRIES = countriesIn(LOCALE)

interface CountryFieldProps {
  id: string
  label: string
  /** ISO 3166-1, or empty. */
  value: string
  onValue: (value: string) => void
  fault: string | undefined
  /** Grows with each refused try. */
  tries: number
}

export const CountryField = ({ id, label, value, onValue, fault, tries }: CountryFieldProps) => (
  <div class="field">
    <label for={id}>{label}</label>
    <select
      id={id}
      ref={useFaultFocus<HTMLSelectElement>(fault, tries)}
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
