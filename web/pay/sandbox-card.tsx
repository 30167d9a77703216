import { Icon } from '../ui/icon.tsx'
import { say, wordsOf } from '../ui/language.ts'
import { CARDS, type Card, type CardField, type CardFault, expiryText, filled, grouped } from './sandbox-cards.ts'
import { FAULTS, shownNumber } from './sandbox-words.ts'

const words = wordsOf('pay')

export type Faults = Partial<Record<CardField, CardFault>>

interface CardFieldsProps {
  card: Card
  faults: Faults
  onType: (change: Partial<Card>) => void
}

/** Card fields as buyers know them. They take the sandbox's own numbers alone, and browsers are asked to fill in none. */
export function CardFields({ card, faults, onType }: CardFieldsProps) {
  const field = (id: CardField) => ({ id, value: card[id], fault: faults[id] && FAULTS[faults[id]] })
  return (
    <div class="card-fields">
      <Field
        {...field('number')}
        label={words.sandboxNumber}
        placeholder="1234 1234 1234 1234"
        onText={(text) => onType({ number: grouped(text) })}
      />
      <Field
        {...field('expiry')}
        label={words.sandboxExpiry}
        placeholder="MM / YY"
        onText={(text) => onType({ expiry: text.length < card.expiry.length ? text : expiryText(text) })}
      />
      <Field
        {...field('cvc')}
        label={words.sandboxCode}
        placeholder="CVC"
        onText={(text) => onType({ cvc: text.slice(0, 4) })}
      />
      <p>
        <button type="button" class="link" onClick={() => onType(filled(CARDS[0]![0]))}>
          {say(words.sandboxTry, { number: shownNumber(CARDS[0]![0]) })}
        </button>
      </p>
    </div>
  )
}

interface FieldProps {
  id: CardField
  label: string
  placeholder: string
  value: string
  fault: string | undefined
  onText: (text: string) => void
}

function Field({ id, label, placeholder, value, fault, onText }: FieldProps) {
  return (
    <div class={`field card-${id}`}>
      <label for={`card-${id}`}>{label}</label>
      <input
        id={`card-${id}`}
        // Not text: the page never keeps these fields, also not over a change of the language.
        type="tel"
        inputMode="numeric"
        dir="ltr"
        // A browser or a password manager must not fill in a real card.
        autoComplete="off"
        data-1p-ignore
        data-lpignore="true"
        spellcheck={false}
        maxLength={23}
        placeholder={placeholder}
        value={value}
        aria-invalid={fault ? 'true' : undefined}
        aria-describedby={fault ? `card-${id}-fault` : undefined}
        onInput={(event) => onText(event.currentTarget.value)}
      />
      {fault && (
        <p class="fault" id={`card-${id}-fault`}>
          <Icon name="alert" />
          {fault}
        </p>
      )}
    </div>
  )
}

/** For developers, in English: the numbers that the sandbox takes, and what its bank does with each. A press fills one in. */
export const TestCards = ({ onCard }: { onCard: (card: Card) => void }) => (
  <div class="stack tight" dir="ltr" lang="en">
    <p class="small">Only these numbers work here. Choose one to fill it in.</p>
    <ul class="test-cards small">
      {CARDS.map(([number, scenario, label]) => (
        <li key={scenario}>
          <button type="button" onClick={() => onCard(filled(number))}>
            <span class="mono" dir="ltr">
              {grouped(number)}
            </span>{' '}
            <span>{label}</span>
          </button>
        </li>
      ))}
    </ul>
  </div>
)
