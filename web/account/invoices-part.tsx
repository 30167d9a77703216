import { useState } from 'preact/hooks'
import { useAction } from '../ui/action.ts'
import { apiBase } from '../ui/page-data.ts'
import { TextField, useFaultFocus } from '../ui/text-field.tsx'
import type { Loaded } from '../shop/load.ts'
import { Shown } from '../shop/parts.tsx'
import type { Account } from './account.ts'
import { type InvoiceProfile, type OwnProfile, getInvoiceProfile, putInvoiceProfile } from './invoices-api.ts'
import { CountryField } from './country-field.tsx'
import { Do, Part, Refused, Saved } from './part.tsx'
import { useTypedOver } from './typed.ts'

interface Typed {
  on: boolean
  name: string
  address: string
  postcode: string
  city: string
  country: string
  taxIds: string
  note: string
}

/** One id a line: its country, and the number. */
const typedOf = ({ profile }: OwnProfile): Typed => ({
  on: profile?.on ?? false,
  name: profile?.name ?? '',
  address: profile?.address.join('\n') ?? '',
  postcode: profile?.postcode ?? '',
  city: profile?.city ?? '',
  country: profile?.country ?? '',
  taxIds: profile?.taxIds.map(({ country, id }) => `${country} ${id}`).join('\n') ?? '',
  note: profile?.note ?? '',
})

const linesOf = (text: string): string[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean)

const profileOf = ({ address, taxIds, note, country, ...rest }: Typed): InvoiceProfile => ({
  ...rest,
  country: country.trim(),
  address: linesOf(address),
  taxIds: linesOf(taxIds).map((line) => ({ country: line.slice(0, 2), id: line.slice(2).trim() })),
  ...(note.trim() && { note }),
})

/** Whether sales get invoices, and the seller's texts on them. */
export function InvoicesPart({ account, loaded }: { account: Account; loaded: Loaded<OwnProfile> }) {
  return (
    <Part
      id="invoices"
      title="Invoices"
      about="While they are on, every sale gets an invoice with a gapless number of yours, and every refund a credit note. You are the seller: Till is not the merchant of record and files nothing."
    >
      <Shown of={loaded}>{(own) => <Form account={account} own={own} onSaved={loaded.put} />}</Shown>
      {loaded.value?.prefix && (
        <p class="small">
          Your numbers begin with <b>{loaded.value.prefix}</b>.{' '}
          <a href={`${apiBase}/api/invoices?format=csv`} download="invoices.csv">
            Download all invoices as CSV
          </a>
        </p>
      )}
    </Part>
  )
}

function Form({ account, own, onSaved }: { account: Account; own: OwnProfile; onSaved: (own: OwnProfile) => void }) {
  const form = useTypedOver(account, 'invoices-form', typedOf(own))
  const { typed } = form
  const [faults, setFaults] = useState<Partial<Record<keyof Typed, string>>>({})
  const [tries, setTries] = useState(0)
  const action = useAction()
  const change = (more: Partial<Typed>) => {
    form.change(more)
    setFaults({})
    action.clear()
  }
  const submit = (event: Event) => {
    event.preventDefault()
    setTries(tries + 1)
    const wrong = faultsOf(typed)
    setFaults(wrong)
    if (Object.keys(wrong).length > 0) return
    void action.run(async () => {
      const saved = await account.asSeller(async () => {
        // Another tab can have saved other fields since.
        const present = await getInvoiceProfile()
        return putInvoiceProfile(profileOf(present.profile ? { ...typedOf(present), ...form.changes } : typed))
      })
      onSaved(saved)
      form.settle(typedOf(saved))
      return saved.profile?.on ? 'Saved. New sales get an invoice.' : 'Saved. New sales get no invoice.'
    })
  }
  return (
    <form class="stack" noValidate onSubmit={submit}>
      <Fields typed={typed} faults={faults} tries={tries} change={change} />
      <Refused action={action} />
      <div class="row">
        <Do submit busy={action.busy}>
          Save the invoice profile
        </Do>
        <Saved>{action.said}</Saved>
      </div>
    </form>
  )
}

interface FieldsProps {
  typed: Typed
  faults: Partial<Record<keyof Typed, string>>
  tries: number
  change: (more: Partial<Typed>) => void
}

function Fields({ typed, faults, tries, change }: FieldsProps) {
  const field = (name: 'name' | 'postcode' | 'city', label: string) => (
    <TextField
      id={`invoices-${name}`}
      label={label}
      value={typed[name]}
      onValue={(value) => change({ [name]: value })}
      fault={faults[name]}
      tries={tries}
      input={{ maxLength: 200, autoComplete: 'off' }}
    />
  )
  const area = (name: 'address' | 'taxIds' | 'note', label: string, hint: string) => (
    <Area
      id={`invoices-${name}`}
      label={label}
      hint={hint}
      value={typed[name]}
      onValue={(value) => change({ [name]: value })}
      fault={faults[name]}
      tries={tries}
    />
  )
  return (
    <>
      <label class="row">
        <input type="checkbox" checked={typed.on} onChange={(event) => change({ on: event.currentTarget.checked })} />
        Issue an invoice for every sale
      </label>
      {field('name', 'Legal name')}
      {area('address', 'Street and number', 'One line each, up to five.')}
      {field('postcode', 'Postcode')}
      {field('city', 'City')}
      <CountryField
        id="invoices-country"
        label="Country"
        value={typed.country}
        onValue={(country) => change({ country })}
        fault={faults.country}
        tries={tries}
      />
      {area('taxIds', 'Tax IDs (optional)', 'One a line, the country first: DE DE136695976, or IN 27AAPFU0939F1ZV.')}
      {area('note', 'Note (optional)', 'Stands below the sums, such as the reason why you charge no tax.')}
    </>
  )
}

interface AreaProps {
  id: string
  label: string
  hint: string
  value: string
  onValue: (value: string) => void
  fault: string | undefined
  tries: number
}

const Area = ({ id, label, hint, value, onValue, fault, tries }: AreaProps) => (
  <div class="field">
    <label for={id}>{label}</label>
    <p class="soft small" id={`${id}-hint`}>
      {hint}
    </p>
    <textarea
      id={id}
      ref={useFaultFocus<HTMLTextAreaElement>(fault, tries)}
      rows={2}
      maxLength={600}
      value={value}
      onInput={(event) => onValue(event.currentTarget.value)}
      aria-invalid={fault ? 'true' : undefined}
      aria-describedby={fault ? `${id}-fault` : `${id}-hint`}
    />
    {fault && (
      <p class="fault" id={`${id}-fault`} role="alert">
        {fault}
      </p>
    )}
  </div>
)

function faultsOf(typed: Typed): Partial<Record<keyof Typed, string>> {
  const needed = { name: 'Please enter the legal name.', address: 'Please enter the address.', city: 'Please enter the city.', country: 'Please choose your country.' } // oxfmt-ignore
  const empty = Object.entries(needed).filter(([field]) => typed[field as keyof typeof needed].trim() === '')
  const isWrong = linesOf(typed.taxIds).some((line) => !/^[a-z]{2}\s+\S/i.test(line))
  return {
    ...Object.fromEntries(empty),
    ...(isWrong && { taxIds: 'Begin each line with the country and a space, as in DE DE136695976.' }),
  }
}
