import type { ComponentChildren } from 'preact'
import { TextField } from '../../ui/text-field.tsx'
import { Icon } from '../../ui/icon.tsx'
import { LONGEST_DESCRIPTION, LONGEST_NAME, LONGEST_SUFFIX, type Draft, type Faults } from './draft.ts'
import { PriceFields } from './price-fields.tsx'

interface DetailsFormProps {
  draft: Draft
  faults: Faults
  tries: number
  onChange: (change: Partial<Draft>) => void
  onSubmit: () => void
  /** It is being made: words that are left empty can still be found for it. */
  isNew: boolean
  children: ComponentChildren
}

/** What of a product is typed. */
export function DetailsForm({ draft, faults, tries, onChange, onSubmit, isNew, children }: DetailsFormProps) {
  return (
    <form
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
          What is in it, and for whom. It stands under the price.
        </p>
        <textarea
          id="description"
          rows={6}
          maxLength={LONGEST_DESCRIPTION}
          value={draft.description}
          onInput={(event) => onChange({ description: event.currentTarget.value })}
          aria-invalid={faults.description ? 'true' : undefined}
          aria-describedby={faults.description ? 'description-fault description-hint' : 'description-hint'}
        />
        {faults.description && (
          <p class="fault" id="description-fault">
            <Icon name="alert" />
            {faults.description}
          </p>
        )}
      </div>
      <PriceFields draft={draft} faults={faults} tries={tries} onChange={onChange} />
      <TextField
        id="statementSuffix"
        label="Words on the bank statement"
        hint={`So that buyers know what the line is. Letters and digits${isNew ? '; left empty, they are made from the name' : ''}.`}
        value={draft.statementSuffix}
        onValue={(statementSuffix) => onChange({ statementSuffix })}
        fault={faults.statementSuffix}
        tries={tries}
        input={{ maxLength: LONGEST_SUFFIX, autoComplete: 'off', autoCapitalize: 'characters' }}
      />
      {children}
    </form>
  )
}
