import { useRef, useState } from 'preact/hooks'
import type { ProductView, Wish } from '../ui/api.ts'
import { Icon } from '../ui/icon.tsx'
import { wordsOf } from '../ui/language.ts'

const words = wordsOf('pay')

/**
 * The statements that a seller can make the buyer agree to before the order, one box for each. No box is ticked beforehand, except
 * for an order for which the buyer has `given` the consents already. `onType`: the buyer changes one.
 */
export function useConsents({ consents = [] }: ProductView, given: Wish['consents'] = [], onType: () => void) {
  const [ticked, setTicked] = useState<ReadonlySet<string>>(() => new Set(given.map(({ textId }) => textId)))
  const [isRefused, setRefused] = useState(false)
  const place = useRef<HTMLFieldSetElement>(null)
  const tick = (id: string, isTicked: boolean) => {
    setTicked((before) => new Set([...before].filter((one) => one !== id).concat(isTicked ? [id] : [])))
    setRefused(false)
    onType()
  }
  return {
    /** Whether every box is ticked. Otherwise the first open one gets the focus. */
    check(): boolean {
      const isComplete = consents.every(({ textId }) => ticked.has(textId))
      setRefused(!isComplete)
      if (!isComplete) place.current?.querySelector<HTMLInputElement>('input:not(:checked)')?.focus()
      return isComplete
    },
    /** The wish with the statements that the buyer has agreed to. */
    add: (wish: Wish | undefined): Wish | undefined =>
      consents.length === 0 ? wish : { ...wish, consents: consents.map(({ textId, locale }) => ({ textId, locale })) },
    part: consents.length > 0 && (
      <fieldset class="consents stack tight" ref={place} aria-describedby={isRefused ? 'consents-fault' : undefined}>
        <legend class="unseen">{words.yourConsent}</legend>
        {consents.map(({ textId, locale, text }) => (
          <label key={textId} class="choice small" lang={locale} dir="auto">
            <input
              type="checkbox"
              checked={ticked.has(textId)}
              aria-invalid={isRefused && !ticked.has(textId) ? 'true' : undefined}
              onChange={(event) => tick(textId, event.currentTarget.checked)}
            />
            <span>{text}</span>
          </label>
        ))}
        {isRefused && (
          <p class="fault" id="consents-fault" role="alert">
            <Icon name="alert" />
            {words.consentMissing}
          </p>
        )}
      </fieldset>
    ),
  }
}
