import { TextField, useFaultFocus } from '../../ui/text-field.tsx'
import { Icon } from '../../ui/icon.tsx'
import { pageData } from '../../ui/page-data.ts'
import { statementLine, suffixRoom } from '../../../src/kit/statement.ts'
import { LONGEST_DESCRIPTION, LONGEST_NAME, type Draft, type Faults } from './draft.ts'
import { PriceFields } from './price-fields.tsx'

/** A page on a static host does not learn the prefix. Then only the service tells when the text is too long. */
const PREFIX = pageData.statementPrefix ?? ''

/** The saving button is outside of the form, in the bar that stays in sight. */
export const DETAILS_FORM = 'details-form'

interface DetailsFormProps {
  draft: Draft
  faults: Faults
  tries: number
  onChange: (change: Partial<Draft>) => void
  onSubmit: () => void
  /** The product is new: the service can still fill in empty fields. */
  isNew: boolean
}

/** The text fields of a product. */
export function DetailsForm({ draft, faults, tries, onChange, onSubmit, isNew }: DetailsFormProps) {
  return (
    <form
      id={DETAILS_FORM}
      class="stack details"
      noValidate
      onSubmit={(event) => {
        event.preventDefault()
        onSubmit()
      }}
    >
      <TextField
        id="name"
        label="Name"
        value={draft.name}
        onValue={(name) => onChange({ name })}
        fault={faults.name}
        tries={tries}
        input={{
          maxLength: LONGEST_NAME,
          autoComplete: 'off',
          autoCapitalize: 'sentences',
          spellcheck: true,
          required: true,
        }}
      />
      <div class="field">
        <label for="description">Description</label>
        <p class="soft small" id="description-hint">
          What is in it, and for whom. It appears below the price.
        </p>
        <textarea
          id="description"
          ref={useFaultFocus<HTMLTextAreaElement>(faults.description, tries)}
          rows={6}
          maxLength={LONGEST_DESCRIPTION}
          value={draft.description}
          onInput={(event) => onChange({ description: event.currentTarget.value })}
          aria-invalid={faults.description ? 'true' : undefined}
          aria-describedby={faults.description ? 'description-fault description-hint' : 'description-hint'}
        />
        {faults.description && (
          <p class="fault" id="description-fault" role="alert">
            <Icon name="alert" />
            {faults.description}
          </p>
        )}
      </div>
      <PriceFields draft={draft} faults={faults} tries={tries} onChange={onChange} />
      <TextField
        id="statementSuffix"
        label="Statement descriptor"
        hint={`${reads(draft.statementSuffix)} Letters and digits${isNew ? '; left empty, they are made from the name' : ''}.`}
        value={draft.statementSuffix}
        onValue={(statementSuffix) => onChange({ statementSuffix })}
        fault={faults.statementSuffix}
        tries={tries}
        input={{ maxLength: suffixRoom(PREFIX), autoComplete: 'off', autoCapitalize: 'characters' }}
      />
    </form>
  )
}

/** The line that buyers will read, as far as the page knows it. */
function reads(typed: string): string {
  const suffix = typed.trim().toUpperCase()
  return PREFIX && suffix ? `Buyers read “${statementLine(PREFIX, suffix)}”.` : 'So that buyers know what the line is.'
}
