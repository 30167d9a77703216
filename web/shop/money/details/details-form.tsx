import { useEffect, useState } from 'preact/hooks'
import { CURRENCIES } from '../../../../src/kit/currencies.ts'
import { useAction } from '../../../ui/action.ts'
import { ApiError } from '../../../ui/api.ts'
import { countriesIn } from '../../../ui/countries.ts'
import { Icon } from '../../../ui/icon.tsx'
import { readTab, writeTab } from '../../../ui/tab-storage.ts'
import { TextField, useFaultFocus } from '../../../ui/text-field.tsx'
import { RefusedByAge } from '../../developers/refused-by-age.tsx'
import { DRAFTS } from '../../drafts.ts'
import { putDetails, type PayoutDetails } from '../payouts-api.ts'
import {
  FIELD_OF,
  KIND_NAMES,
  type DetailsFaults,
  type DetailsField,
  type TypedDetails,
  detailsFaults,
  detailsInput,
  kindsFor,
  noDetails,
} from './typed-details.ts'

/** Keeps the choice for a fresh sign-in, which leads away and back. Account numbers are not kept. */
const CHOSEN = `${DRAFTS}payout-details`
export const chosenBefore = () => readTab<Pick<TypedDetails, 'currency' | 'kind' | 'name'>>(CHOSEN)

/** Takes the kept choice only if it was made for this currency, so that an account is not saved for another one. */
function begin(currency: string): TypedDetails {
  const chosen = chosenBefore()
  return { ...noDetails(currency), ...(chosen?.currency === currency && chosen) }
}

interface DetailsFormProps {
  currency: string
  /** The currency is settled, so there is nothing to choose. */
  isSettled: boolean
  onSaved: (details: PayoutDetails) => void
  onCancel: () => void
}

/** Asks where the money of a currency goes. */
export function DetailsForm({ currency, isSettled, onSaved, onCancel }: DetailsFormProps) {
  const [typed, setTyped] = useState(() => begin(currency))
  useEffect(() => writeTab(CHOSEN, undefined), [])
  const [faults, setFaults] = useState<DetailsFaults>({})
  const [tries, setTries] = useState(0)
  const action = useAction()
  const type = (change: Partial<TypedDetails>) => {
    setTyped((before) => ({ ...before, ...change }))
    setFaults({})
  }
  const submit = (event: Event) => {
    event.preventDefault()
    const wrong = detailsFaults(typed)
    setFaults(wrong)
    setTries(tries + 1)
    if (Object.keys(wrong).length > 0) return
    void action.run(async () => {
      writeTab(CHOSEN, { currency: typed.currency, kind: typed.kind, name: typed.name })
      try {
        const saved = await putDetails(typed.currency, detailsInput(typed))
        writeTab(CHOSEN, undefined)
        onSaved(saved)
        return ''
      } catch (trouble) {
        const field = trouble instanceof ApiError ? FIELD_OF[trouble.code] : undefined
        if (!field) throw trouble
        setFaults({ [field]: (trouble as ApiError).message })
        return ''
      }
    })
  }
  return (
    <form
      class="panel stack details-form"
      noValidate
      onSubmit={submit}
      aria-label={`Payout details for ${typed.currency}`}
    >
      {!isSettled && (
        <CurrencyField
          value={typed.currency}
          onValue={(value) => type({ currency: value, kind: kindsFor(value)[0]! })}
        />
      )}
      <Kinds typed={typed} onType={type} />
      <Fields typed={typed} faults={faults} tries={tries} onType={type} />
      <p class="small soft">
        Stored encrypted and never shown in full again. You get a mail about every change, and payouts in{' '}
        {typed.currency} wait 72 hours after it, so that you notice in time if somebody else redirects your money.
      </p>
      <RefusedByAge action={action} />
      <div class="row">
        <button type="submit" class="button main short" aria-disabled={action.busy ? 'true' : undefined}>
          {action.busy && <span class="spinner" aria-hidden="true" />}
          Save
        </button>
        <button
          type="button"
          class="button"
          onClick={() => {
            writeTab(CHOSEN, undefined)
            onCancel()
          }}
        >
          Cancel
        </button>
      </div>
    </form>
  )
}

const Kinds = ({ typed, onType }: Pick<FieldsProps, 'typed' | 'onType'>) => (
  <fieldset class="kinds">
    <legend>Your money in {typed.currency} goes to</legend>
    {kindsFor(typed.currency).map((kind) => (
      <label key={kind}>
        <input type="radio" name="kind" checked={typed.kind === kind} onChange={() => onType({ kind })} />
        <span>{KIND_NAMES[kind]}</span>
      </label>
    ))}
  </fieldset>
)

interface FieldsProps {
  typed: TypedDetails
  faults: DetailsFaults
  tries: number
  onType: (change: Partial<TypedDetails>) => void
}

function Fields({ typed, faults, tries, onType }: FieldsProps) {
  const field = (name: DetailsField, label: string, hint: string, more: { maxLength: number; mono?: boolean }) => (
    <TextField
      id={`details-${name}`}
      label={label}
      hint={hint}
      value={typed[name]}
      onValue={(value) => onType({ [name]: value })}
      fault={faults[name]}
      tries={tries}
      input={{ autoComplete: 'off', maxLength: more.maxLength, ...(more.mono && { class: 'mono-input' }) }}
    />
  )
  return (
    <>
      {field('name', 'Account holder', 'The name that your bank has on file.', { maxLength: 70 })}
      {typed.kind === 'iban' && (
        <>
          {field('iban', 'IBAN', 'For example DE89 3704 0044 0532 0130 00.', { maxLength: 60, mono: true })}
          {field('bic', 'BIC', 'Only if your bank asks for one.', { maxLength: 20, mono: true })}
        </>
      )}
      {typed.kind === 'upi' && field('upiId', 'UPI id', 'For example ann.shop@okbank.', { maxLength: 330, mono: true })}
      {typed.kind === 'india_account' && (
        <>
          {field('ifsc', 'IFSC', 'Of the branch, for example HDFC0001234.', { maxLength: 20, mono: true })}
          {field('accountNumber', 'Account number', '9 to 18 digits.', { maxLength: 30, mono: true })}
        </>
      )}
      {typed.kind === 'other' && <OtherFields typed={typed} faults={faults} tries={tries} onType={onType} />}
    </>
  )
}

function OtherFields({ typed, faults, tries, onType }: FieldsProps) {
  return (
    <>
      <div class="field">
        <label for="details-country">Country of the account</label>
        <select
          id="details-country"
          ref={useFaultFocus<HTMLSelectElement>(faults.country, tries)}
          value={typed.country}
          aria-invalid={faults.country ? 'true' : undefined}
          aria-describedby={faults.country ? 'details-country-fault' : undefined}
          onChange={(event) => onType({ country: event.currentTarget.value })}
        >
          <option value="">Choose…</option>
          {Array.from(countriesIn('en'), ([code, name]) => (
            <option key={code} value={code}>
              {name}
            </option>
          ))}
        </select>
        <Fault id="details-country-fault" text={faults.country} />
      </div>
      <div class="field">
        <label for="details-lines">What a bank needs to pay you</label>
        <p class="soft small" id="details-lines-hint">
          One item per line: the bank, its codes (such as routing number and SWIFT), the account number. Never a card
          number.
        </p>
        <textarea
          id="details-lines"
          ref={useFaultFocus<HTMLTextAreaElement>(faults.lines, tries)}
          rows={5}
          maxLength={1000}
          aria-invalid={faults.lines ? 'true' : undefined}
          aria-describedby={`details-lines-hint${faults.lines ? ' details-lines-fault' : ''}`}
          value={typed.lines}
          onInput={(event) => onType({ lines: event.currentTarget.value })}
        />
        <Fault id="details-lines-fault" text={faults.lines} />
      </div>
    </>
  )
}

const Fault = ({ id, text }: { id: string; text: string | undefined }) =>
  text ? (
    <p class="fault" id={id} role="alert">
      <Icon name="alert" />
      {text}
    </p>
  ) : null

const CurrencyField = ({ value, onValue }: { value: string; onValue: (value: string) => void }) => (
  <div class="field">
    <label for="details-currency">Currency</label>
    <select id="details-currency" value={value} onChange={(event) => onValue(event.currentTarget.value)}>
      {[...CURRENCIES].toSorted().map((code) => (
        <option key={code} value={code}>
          {code}
        </option>
      ))}
    </select>
  </div>
)
