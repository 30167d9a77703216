import { useRef, useState } from 'preact/hooks'
import type { ProductView } from '../ui/api.ts'
import { countriesIn } from '../ui/countries.ts'
import { typedBefore } from '../ui/language-choice.tsx'
import { LOCALE, say, wordsOf } from '../ui/language.ts'

const words = wordsOf('pay')
const names = countriesIn(LOCALE)

export const nameOf = (code: string): string => names.get(code) ?? code

/** The buyer's country, as the buyer says. `kept`: of an order that this browser has kept. `onType`: the buyer changes it. */
export function useCountry(
  { buyerCountry, seenCountry: first }: NonNullable<ProductView['tax']>,
  kept: string | undefined,
  onType: () => void,
) {
  const [country, setCountry] = useState(() => typedBefore('country', kept) || (buyerCountry ?? ''))
  const [seenCountry, setSeen] = useState(first)
  const [fault, setFault] = useState<string | undefined>(undefined)
  /** The country with which a contradiction was shown. */
  const toldRef = useRef('')
  const place = useRef<HTMLSelectElement>(null)
  const differs = seenCountry !== undefined && seenCountry !== country
  const refuse = (why: string) => {
    setFault(why)
    place.current?.focus()
    return false
  }
  const doubt = (seen: string): boolean => {
    toldRef.current = country
    return refuse(say(words.countryDoubt, { seen: nameOf(seen), country: nameOf(country) }))
  }
  return {
    country,
    /** Against the country of the connection. */
    differs,
    place,
    /** Whether the buyer has said it. Otherwise the field says what is wrong, and gets the focus. */
    check(): boolean {
      if (!country) return refuse(words.chooseCountry)
      if (!differs || toldRef.current === country) return true
      return doubt(seenCountry)
    },
    /** The service refused the country, because the connection comes from another one by now. `seen`: that one, if it is known. */
    refuse(seen?: string): void {
      if (seen) setSeen(seen)
      if (seen && seen !== country) doubt(seen)
      else refuse(words.chooseCountry)
    },
    part: (trouble: string | undefined) => (
      <div class="field">
        <label for="country">{words.yourCountry}</label>
        <select
          id="country"
          autocomplete="country"
          ref={place}
          value={country}
          aria-invalid={(fault ?? trouble) ? 'true' : undefined}
          aria-describedby={(fault ?? trouble) ? 'country-fault' : undefined}
          onChange={(event) => {
            setCountry(event.currentTarget.value)
            setFault(undefined)
            onType()
          }}
        >
          {!country && <option value="">{words.chooseCountry}</option>}
          {Array.from(names, ([code, name]) => (
            <option key={code} value={code}>
              {name}
            </option>
          ))}
        </select>
        {(fault ?? trouble) && (
          <p class="fault" id="country-fault" role="alert">
            {fault ?? trouble}
          </p>
        )}
      </div>
    ),
  }
}
