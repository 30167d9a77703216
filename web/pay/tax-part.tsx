import { useEffect, useRef, useState } from 'preact/hooks'
import { ApiError, getProduct, type ProductView, type Wish } from '../ui/api.ts'
import { typedBefore } from '../ui/language-choice.tsx'
import { sentence } from '../ui/words.ts'
import { nameOf, useCountry } from './country-field.tsx'
import { useShownTax } from './shown-tax.ts'
import { isAboutVatId, VatIdField } from './vat-id-field.tsx'

export interface TaxPartProps {
  product: ProductView
  /** Of an order that this browser has kept. */
  kept: Wish | undefined
  /** Why the order was not made. */
  refused: unknown
  /** Shows the tax of a country. Undefined: that of the product. */
  onTax: (tax: ProductView['tax']) => void
  /** The buyer types. */
  onType: () => void
  /** Holds the function that returns where the buyer is; undefined where that is not said yet, and the field has the focus. */
  readerRef: { current: (() => Pick<Wish, 'country' | 'countryConfirmed' | 'taxId'> | undefined) | undefined }
}

/** Asks for the buyer's country, and a business for its VAT number. Only products with tax need it, so the page loads it on demand. */
export function TaxPart({ product, kept, refused, onTax, onType, readerRef }: TaxPartProps) {
  const { country, differs, check, place, part, refuse } = useCountry(product.tax!, kept?.country, onType)
  const [typed, setTyped] = useState(() => typedBefore('vat-id', kept?.taxId))
  const vatIdPlace = useRef<HTMLInputElement>(null)
  const shown = useShownTax(product, onTax)
  const { tax, trouble, takesVatId } = shown
  const vatId = typed.trim()
  const isShown = shown.isOf(country) && (!takesVatId || shown.vatId === vatId)
  const ask = () => void (country && !isShown && shown.ask(country, vatId))
  // oxlint-disable-next-line react-hooks/exhaustive-deps -- `ask` is new at every render; a VAT number is asked about on leaving its field
  useEffect(() => (isShown ? shown.stop() : ask()), [country])
  const focusVatId = () => {
    vatIdPlace.current?.closest('details')?.setAttribute('open', '')
    vatIdPlace.current?.focus()
  }
  useEffect(() => {
    // the network of the buyer has changed since the page was opened
    if (refused instanceof ApiError && refused.code === 'country_unconfirmed')
      void getProduct(product.id, { country }).then(
        ({ tax }) => refuse(tax?.seenCountry),
        () => refuse(),
      )
    if (!isAboutVatId(refused)) return
    shown.dropVatId(refused)
    focusVatId()
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- once for each refusal
  }, [refused])
  const type = (text: string) => {
    setTyped(text)
    shown.dropVatId()
    onType()
  }
  // A press on the button can come before an effect runs.
  readerRef.current = () => {
    if (!check()) return undefined
    // no order before its total was on the page
    if (!isShown) {
      ask()
      return void (tax.buyerCountry === country ? focusVatId() : place.current?.focus())
    }
    const taxId = tax.buyerTaxId?.id
    return { country, ...(taxId && { taxId }), ...(differs && { countryConfirmed: true }) }
  }
  return (
    <>
      {part(trouble?.about === 'country' ? sentence(trouble.why) : undefined)}
      {takesVatId && (
        <VatIdField
          country={nameOf(country)}
          value={typed}
          isAsking={shown.isAsking}
          isValid={tax.treatment === 'reverse_charge'}
          trouble={trouble?.about === 'vatId' ? trouble.why : undefined}
          place={vatIdPlace}
          onType={type}
          onDone={() => trouble === undefined && ask()}
          onRemove={() => {
            type('')
            vatIdPlace.current?.focus()
          }}
        />
      )}
    </>
  )
}
