import { useEffect, useRef, useState } from 'preact/hooks'
import { getProduct, type ProductView, type Wish } from '../ui/api.ts'
import { countriesIn } from '../ui/countries.ts'
import { LOCALE, say, wordsOf } from '../ui/language.ts'
import { sentence } from '../ui/words.ts'

const words = wordsOf('pay')
const names = countriesIn(LOCALE)

export interface TaxPartProps {
  product: ProductView
  /** The country of an order that this browser has kept. */
  kept: string | undefined
  /** Shows the tax of a country. */
  onTax: (tax: ProductView['tax']) => void
  /** Holds the function that returns where the buyer is; undefined where that is not said yet, and the field has the focus. */
  readerRef: { current: (() => Pick<Wish, 'country' | 'countryConfirmed'> | undefined) | undefined }
}

const nameOf = (code: string): string => names.get(code) ?? code

/** Asks for the buyer's country. Only products with tax need it, so the page loads it on demand. */
export function TaxPart({ product: { id, tax }, kept, onTax, readerRef }: TaxPartProps) {
  const { buyerCountry, seenCountry } = tax!
  const [country, setCountry] = useState(kept ?? buyerCountry ?? '')
  const [fault, setFault] = useState<string | undefined>(undefined)
  /** The country whose tax is on the page. */
  const shownRef = useRef(buyerCountry)
  /** The country with which a contradiction was shown. */
  const toldRef = useRef('')
  const place = useRef<HTMLSelectElement>(null)
  // oxlint-disable-next-line react-hooks/exhaustive-deps -- `show` is new at every render, and asks about the country
  useEffect(() => show(country), [country])
  function show(code: string): void {
    if (!code || shownRef.current === code) return
    getProduct(id, { country: code }).then(
      ({ tax: found }) => {
        // the buyer may have chosen another one meanwhile
        if (place.current?.value !== code) return
        shownRef.current = code
        onTax(found)
      },
      (trouble: unknown) => setFault(sentence(trouble)),
    )
  }
  const differs = seenCountry !== undefined && seenCountry !== country
  const refuse = (why: string | undefined) => {
    setFault(why)
    place.current?.focus()
  }
  // A press on the button can come before an effect runs.
  readerRef.current = () => {
    if (!country) return void refuse(words.chooseCountry)
    if (differs && toldRef.current !== country) {
      toldRef.current = country
      return void refuse(say(words.countryDoubt, { seen: nameOf(seenCountry), country: nameOf(country) }))
    }
    // no order before its total was on the page
    if (shownRef.current !== country) return void (show(country), refuse(fault))
    return { country, ...(differs && { countryConfirmed: true }) }
  }
  return (
    <div class="field">
      <label for="country">{words.yourCountry}</label>
      <select
        id="country"
        autocomplete="country"
        ref={place}
        value={country}
        aria-invalid={fault ? 'true' : undefined}
        aria-describedby={fault ? 'country-fault' : undefined}
        onChange={(event) => {
          setCountry(event.currentTarget.value)
          setFault(undefined)
        }}
      >
        {!country && <option value="">{words.chooseCountry}</option>}
        {Array.from(names, ([code, name]) => (
          <option key={code} value={code}>
            {name}
          </option>
        ))}
      </select>
      {fault && (
        <p class="fault" id="country-fault" role="alert">
          {fault}
        </p>
      )}
    </div>
  )
}
