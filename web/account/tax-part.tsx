import { useState } from 'preact/hooks'
import type { Loaded } from '../shop/load.ts'
import { Shown } from '../shop/parts.tsx'
import { useAction } from '../ui/action.ts'
import { TextField } from '../ui/text-field.tsx'
import type { Account } from './account.ts'
import { COUNTRIES, CountryField } from './country-field.tsx'
import { Do, Part, Refused, Saved } from './part.tsx'
import { getTax, removeTax, saveTax, type OwnTax, type TaxProfile } from './tax-api.ts'
import { useTypedOver } from './typed.ts'

const EMPTY: TaxProfile = { country: '', taxIds: [], oss: false, exempt: false, prices: 'inclusive', category: 'standard' } // oxfmt-ignore

/** With the tax ids as they were typed. */
type Typed = Omit<TaxProfile, 'taxIds'> & { taxIds: string }

const typedOf = ({ profile }: OwnTax): Typed => {
  const { taxIds, ...rest } = profile ?? EMPTY
  return { ...rest, taxIds: taxIds.join(', ') }
}

const profileOf = ({ taxIds, ...rest }: Typed): TaxProfile => ({
  ...rest,
  taxIds: taxIds.split(/[,;\n]/).map((one) => one.trim()).filter(Boolean), // oxfmt-ignore
})

/** Whether and how the seller's orders have tax. */
export function TaxPart({ account, loaded }: { account: Account; loaded: Loaded<OwnTax> }) {
  return (
    <Part
      id="tax"
      title="Tax"
      about="With a tax profile, buyers see the tax of each price, and orders keep it. Without one, nothing is said about tax. This service is not the merchant of record and files nothing: you owe the tax. Ask a tax adviser."
    >
      <Shown of={loaded}>{(tax) => <TaxForm account={account} tax={tax} onChanged={loaded.put} />}</Shown>
    </Part>
  )
}

function TaxForm({ account, tax, onChanged }: { account: Account; tax: OwnTax; onChanged: (tax: OwnTax) => void }) {
  const form = useTypedOver(account, 'tax-form', typedOf(tax))
  const { typed } = form
  const [fault, setFault] = useState<string>()
  const [tries, setTries] = useState(0)
  const action = useAction()
  const set = (more: Partial<Typed>) => {
    form.change(more)
    setFault(undefined)
    action.clear()
  }
  const submit = (event: Event) => {
    event.preventDefault()
    setTries(tries + 1)
    setFault(typed.country ? undefined : 'Please choose your country.')
    if (!typed.country) return
    void action.run(async () => {
      const saved = await account.asSeller(async () => {
        // Another tab can have saved other fields since.
        const present = await getTax()
        return saveTax(profileOf(present.profile ? { ...typedOf(present), ...form.changes } : typed))
      })
      onChanged(saved)
      form.settle(typedOf(saved))
      return 'Saved. It counts for new orders.'
    })
  }
  const remove = () =>
    void action.run(async () => {
      const removed = await account.asSeller(removeTax)
      onChanged(removed)
      form.settle(typedOf(removed))
      return 'Removed. Nothing is said about tax.'
    })
  return (
    <form class="stack" noValidate onSubmit={submit}>
      <Fields typed={typed} set={set} fault={fault} tries={tries} />
      {tax.missingRates.length > 0 && (
        <p class="small">
          Buyers in these countries cannot buy, because the operator has not loaded the rate:{' '}
          {tax.missingRates.map((code) => COUNTRIES.get(code) ?? code).join(', ')}
        </p>
      )}
      <Refused action={action} />
      <div class="row">
        <Do submit busy={action.busy}>
          Save the tax profile
        </Do>
        {tax.profile && (
          <Do busy={action.busy} onClick={remove}>
            Remove it
          </Do>
        )}
        <Saved>{action.said}</Saved>
      </div>
    </form>
  )
}

interface FieldsProps {
  typed: Typed
  set: (more: Partial<Typed>) => void
  fault: string | undefined
  tries: number
}

const Fields = (props: FieldsProps) => (
  <>
    <Who {...props} />
    <How {...props} />
  </>
)

function Who({ typed, set, fault, tries }: FieldsProps) {
  return (
    <>
      <CountryField
        id="tax-country"
        label="Where you are established"
        value={typed.country}
        onValue={(country) => set({ country })}
        fault={fault}
        tries={tries}
      />
      <TextField
        id="tax-ids"
        label="Your tax IDs"
        hint="Such as DE123456789. Separate several with commas."
        value={typed.taxIds}
        onValue={(taxIds) => set({ taxIds })}
        tries={0}
        input={{ maxLength: 400, autoComplete: 'off' }}
      />
    </>
  )
}

function How({ typed, set }: FieldsProps) {
  return (
    <>
      <div class="field">
        <label for="tax-prices">Your prices</label>
        <select
          id="tax-prices"
          value={typed.prices}
          onChange={(event) => set({ prices: event.currentTarget.value as TaxProfile['prices'] })}
        >
          <option value="inclusive">contain the tax</option>
          <option value="exclusive">are without tax, which comes on top</option>
        </select>
      </div>
      <TextField
        id="tax-category"
        label="Category of what you sell"
        hint="“standard”, or another category of rates that the operator has loaded."
        value={typed.category}
        onValue={(category) => set({ category })}
        tries={0}
        input={{ maxLength: 40, autoComplete: 'off' }}
      />
      <Choice checked={typed.oss} onChange={(oss) => set({ oss })}>
        I use the EU’s one-stop-shop: buyers in the EU pay the rate of their own country.
      </Choice>
      <Choice checked={typed.exempt} onChange={(exempt) => set({ exempt })}>
        I charge no tax, for example as a small business.
      </Choice>
    </>
  )
}

interface ChoiceProps {
  checked: boolean
  onChange: (checked: boolean) => void
  children: string
}

const Choice = ({ checked, onChange, children }: ChoiceProps) => (
  <label class="choice small">
    <input type="checkbox" checked={checked} onChange={(event) => onChange(event.currentTarget.checked)} />
    <span>{children}</span>
  </label>
)
