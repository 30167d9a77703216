import type { InputHTMLAttributes } from 'preact'
import { useState } from 'preact/hooks'
import { useAction } from '../../ui/action.ts'
import { Icon } from '../../ui/icon.tsx'
import { TextField, useFaultFocus } from '../../ui/text-field.tsx'
import { RefusedByAge } from '../developers/refused-by-age.tsx'
import { type PayoutAccount, tellAccount } from './payouts-api.ts'
import {
  BUSINESS_TYPES,
  type Field,
  NO_ACCOUNT,
  SELLS,
  type TypedAccount,
  accountFaults,
  accountInput,
  formedAccount,
} from './typed-account.ts'

interface AccountFormProps {
  onSaved: (account: PayoutAccount) => void
  onCancel: () => void
}

type Faults = Partial<TypedAccount> & { terms?: string }

/** Asks for the details of the seller that the processor needs. Nothing typed here is kept in the browser or by the service. */
export function AccountForm({ onSaved, onCancel }: AccountFormProps) {
  const [typed, setTyped] = useState(NO_ACCOUNT)
  const [accepts, setAccepts] = useState(false)
  const [faults, setFaults] = useState<Faults>({})
  const [tries, setTries] = useState(0)
  const action = useAction()
  const submit = (event: Event) => {
    event.preventDefault()
    const values = formedAccount(typed)
    const wrong: Faults = accountFaults(values)
    if (!accepts) wrong.terms = 'Without this Razorpay opens no account.'
    setFaults(wrong)
    setTries(tries + 1)
    if (Object.keys(wrong).length > 0) return
    void action.run(async () => {
      onSaved(await tellAccount(accountInput(values)))
      return ''
    })
  }
  const type = (change: Partial<TypedAccount>) => {
    setTyped((before) => ({ ...before, ...change }))
    setFaults({})
  }
  return (
    <form class="panel stack details-form" noValidate onSubmit={submit} aria-label="Your details for the processor">
      <Fields typed={typed} faults={faults} tries={tries} onType={type} />
      <Terms
        accepts={accepts}
        fault={faults.terms}
        tries={tries}
        onAccept={(value) => {
          setAccepts(value)
          setFaults({})
        }}
      />
      <p class="small soft">
        This goes to Razorpay, and nothing of it is kept here. To correct something later, send all of it again.
      </p>
      <RefusedByAge action={action} inAnotherTab />
      <div class="row">
        <button type="submit" class="button main short" aria-disabled={action.busy ? 'true' : undefined}>
          {action.busy && <span class="spinner" aria-hidden="true" />}
          Send to Razorpay
        </button>
        <button type="button" class="button" onClick={onCancel}>
          Cancel
        </button>
      </div>
    </form>
  )
}

interface FieldsProps {
  typed: TypedAccount
  faults: Faults
  tries: number
  onType: (change: Partial<TypedAccount>) => void
}

const CODE: InputHTMLAttributes<HTMLInputElement> = { class: 'mono-input', maxLength: 60 }

function Fields({ typed, faults, tries, onType }: FieldsProps) {
  const field = (name: Field, label: string, hint = '', input: InputHTMLAttributes<HTMLInputElement> = {}) => (
    <TextField
      id={`account-${name}`}
      label={label}
      hint={hint}
      value={typed[name]}
      onValue={(value) => onType({ [name]: value })}
      fault={faults[name]}
      tries={tries}
      input={{ autoComplete: 'off', maxLength: 200, ...input }}
    />
  )
  const isBusiness = typed.businessType !== 'individual'
  return (
    <>
      <Choice name="businessType" label="Kind of business" options={BUSINESS_TYPES} typed={typed} onType={onType} />
      <Choice name="sells" label="What you sell" options={SELLS} typed={typed} onType={onType} />
      {field('legalName', isBusiness ? 'Name of the business' : 'Your full name', 'As it stands at the tax office.')}
      {field('contactName', 'Contact person', 'The person behind the business.', { autoComplete: 'name' })}
      {field('phone', 'Phone number', '', { autoComplete: 'tel', inputMode: 'tel', maxLength: 30 })}
      {field('street1', 'Address', 'Street and number.', { autoComplete: 'address-line1', maxLength: 100 })}
      {field('street2', 'Area or landmark', '', { autoComplete: 'address-line2', maxLength: 100 })}
      {field('city', 'City', '', { autoComplete: 'address-level2', maxLength: 100 })}
      {field('state', 'State', '', { autoComplete: 'address-level1', maxLength: 32 })}
      {field('postalCode', 'PIN code', '', { autoComplete: 'postal-code', inputMode: 'numeric', maxLength: 10 })}
      {field('pan', 'PAN of the contact person', 'For example ABCPE1234F.', CODE)}
      {isBusiness && field('businessPan', 'PAN of the business', 'Leave it empty if it has none of its own.', CODE)}
      {isBusiness && field('gst', 'GST number', 'Leave it empty if there is none.', CODE)}
      {field('accountNumber', 'Bank account number', 'The account that gets your money.', CODE)}
      {field('ifsc', 'IFSC', 'Of the branch, for example HDFC0000317.', CODE)}
      {field('beneficiaryName', 'Account holder', 'As the bank has it on file.', { maxLength: 120 })}
    </>
  )
}

interface ChoiceProps extends Pick<FieldsProps, 'typed' | 'onType'> {
  name: 'businessType' | 'sells'
  label: string
  options: [string, string][]
}

const Choice = ({ name, label, options, typed, onType }: ChoiceProps) => (
  <div class="field">
    <label for={`account-${name}`}>{label}</label>
    <select
      id={`account-${name}`}
      value={typed[name]}
      onChange={(event) => onType({ [name]: event.currentTarget.value })}
    >
      {options.map(([value, text]) => (
        <option key={value} value={value}>
          {text}
        </option>
      ))}
    </select>
  </div>
)

interface TermsProps {
  accepts: boolean
  fault: string | undefined
  tries: number
  onAccept: (accepts: boolean) => void
}

const Terms = ({ accepts, fault, tries, onAccept }: TermsProps) => (
  <div>
    <label class="tick">
      <input
        ref={useFaultFocus<HTMLInputElement>(fault, tries)}
        type="checkbox"
        checked={accepts}
        aria-invalid={fault ? 'true' : undefined}
        aria-describedby={fault ? 'account-terms-fault' : undefined}
        onChange={(event) => onAccept(event.currentTarget.checked)}
      />
      <span>
        I accept the{' '}
        <a href="https://razorpay.com/terms" rel="noreferrer" target="_blank">
          terms of Razorpay
        </a>
      </span>
    </label>
    {fault && (
      <p class="fault" id="account-terms-fault" role="alert">
        <Icon name="alert" />
        {fault}
      </p>
    )}
  </div>
)
