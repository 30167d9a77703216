import type { Ref } from 'preact'
import { useState } from 'preact/hooks'
import { ApiError } from '../ui/api.ts'
import { Icon } from '../ui/icon.tsx'
import { say, wordsOf } from '../ui/language.ts'
import { sentence } from '../ui/words.ts'

const words = wordsOf('pay')

const REFUSALS: Record<string, string> = {
  tax_id_invalid: words.vatIdWrong,
  tax_id_not_registered: words.vatIdUnknown,
  tax_id_check_unavailable: words.vatIdUnchecked,
}

/** Whether a number was refused, or could not be checked. */
export const isAboutVatId = (trouble: unknown): boolean => trouble instanceof ApiError && trouble.code in REFUSALS

interface VatIdFieldProps {
  /** The name of the country that the number belongs to. */
  country: string
  value: string
  isAsking: boolean
  /** The total on the page is without tax, because of this number. */
  isValid: boolean
  trouble: unknown
  place: Ref<HTMLInputElement>
  onType: (text: string) => void
  /** The buyer has typed it. */
  onDone: () => void
  onRemove: () => void
}

/** For a business: its VAT number, and the effect on the price. */
export function VatIdField(props: VatIdFieldProps) {
  const { country, value, isAsking, isValid, trouble, place, onType, onDone, onRemove } = props
  // A number of a kept order is there from the beginning.
  const [open] = useState(value.trim() !== '')
  return (
    <details open={open || undefined}>
      <summary>{words.forBusiness}</summary>
      <div class="field">
        <label for="vat-id">{words.vatId}</label>
        <p class="soft small" id="vat-id-hint">
          {words.vatIdHint}
        </p>
        <input
          id="vat-id"
          name="vat-id"
          type="text"
          dir="ltr"
          autoComplete="off"
          autoCapitalize="characters"
          spellcheck={false}
          maxLength={40}
          ref={place}
          value={value}
          aria-invalid={trouble ? 'true' : undefined}
          aria-describedby={trouble ? 'vat-id-fault vat-id-hint' : 'vat-id-said vat-id-hint'}
          onInput={(event) => onType(event.currentTarget.value)}
          onBlur={onDone}
          onKeyDown={(event) => {
            // Enter in this field checks the number and does not send the form.
            if (event.key !== 'Enter') return
            event.preventDefault()
            onDone()
          }}
        />
        {trouble !== undefined && (
          <div role="alert" id="vat-id-fault">
            <p class="fault">
              <Icon name="alert" />
              <span>
                {trouble instanceof ApiError
                  ? say(REFUSALS[trouble.code] ?? sentence(trouble), { country })
                  : sentence(trouble)}
              </span>
            </p>
            <p class="small">{words.vatIdLater}</p>
          </div>
        )}
        {trouble !== undefined && (
          <button type="button" class="link small" onClick={onRemove}>
            {words.vatIdRemove}
          </button>
        )}
        {/* Its place is reserved, so that the button does not move away under the mouse. */}
        <p aria-live="polite" class={trouble === undefined ? 'small better' : 'unseen'} id="vat-id-said">
          {isAsking ? words.checking : isValid ? words.vatIdValid : ''}
        </p>
      </div>
    </details>
  )
}
