import { useState } from 'preact/hooks'
import { useAction } from '../ui/action.ts'
import { ApiError, type OrderStatus, putInvoiceDetails } from '../ui/api.ts'
import { countriesIn } from '../ui/countries.ts'
import { day, moment } from '../ui/format.ts'
import { Icon } from '../ui/icon.tsx'
import { typedBefore } from '../ui/language-choice.tsx'
import { LOCALE, say, wordsOf } from '../ui/language.ts'
import { Notice } from '../ui/notice.tsx'
import { fromApi } from '../ui/page-data.ts'
import { TextField, useFaultFocus } from '../ui/text-field.tsx'
import { sentence } from '../ui/words.ts'

const words = wordsOf('invoice')
const shared = wordsOf('ui')

const KINDS = { invoice: words.invoice, credit_note: words.creditNote, correction: words.correction }

type Listed = NonNullable<OrderStatus['invoices']>

/** The invoices of an order, and the form that adds a company to them. */
export function Invoices({ order, email }: { order: OrderStatus; email: string }) {
  const [issued, setIssued] = useState<Listed>()
  const [first] = useState(() => firstTyped(order))
  if (!order.invoices) return null
  const shown = issued && issued.length > order.invoices.length ? issued : order.invoices
  return (
    <section class="stack tight invoices" aria-labelledby="invoices-title">
      <h2 id="invoices-title">{words.invoice}</h2>
      <ul>
        {shown.map(({ invoiceId, kind, number, issuedAt, url }) => (
          <li key={invoiceId}>
            <Icon name="file" />
            <div>
              <a href={fromApi(url)} target="_blank" rel="noopener">
                {KINDS[kind]} <bdi>{number}</bdi> (PDF)
              </a>
              <p class="soft small">{day(issuedAt)}</p>
            </div>
          </li>
        ))}
      </ul>
      {order.invoiceDetailsUntil && (
        <details open={first.isKept}>
          <summary>{words.addTitle}</summary>
          <Form
            order={order}
            first={first.typed}
            email={email}
            until={order.invoiceDetailsUntil}
            onIssued={setIssued}
          />
        </details>
      )}
    </section>
  )
}

const EMPTY = { name: '', address: '', postcode: '', city: '', country: ownRegion(), taxId: '' }
type Typed = typeof EMPTY
/**
 * A business that gave its VAT number on the payment page need not type it again. XI is Northern Ireland for tax alone: an address there
 * is in the United Kingdom.
 */
const businessOf = ({ tax }: OrderStatus): Partial<Typed> =>
  tax?.buyerTaxId ? { country: tax.buyerTaxId.country.replace('XI', 'GB'), taxId: tax.buyerTaxId.id } : {}
/** The first contents of the form, and whether the buyer had typed something before the page loaded itself again. */
function firstTyped(order: OrderStatus): { typed: Typed; isKept: boolean } {
  const given = { ...EMPTY, ...businessOf(order) }
  const fields = Object.keys(given) as (keyof Typed)[]
  const typed = Object.fromEntries(
    fields.map((field) => [field, typedBefore(`invoice-${field}`, given[field])]),
  ) as Typed
  // the first country follows the language, which has just changed
  return { typed, isKept: fields.some((field) => field !== 'country' && typed[field] !== given[field]) }
}
const NEEDED = ['name', 'address', 'city', 'country'] as const

interface FormProps {
  order: OrderStatus
  first: Typed
  email: string
  until: string
  onIssued: (issued: Listed) => void
}

function Form({ order, first, email, until, onIssued }: FormProps) {
  const [typed, setTyped] = useState(first)
  const [faults, setFaults] = useState<Partial<Typed>>({})
  const [tries, setTries] = useState(0)
  const [isDone, setDone] = useState(false)
  const action = useAction()
  const change = (field: keyof Typed) => (value: string) => {
    setTyped({ ...typed, [field]: value })
    setFaults({ ...faults, [field]: undefined })
    setDone(false)
    action.clear()
  }
  const submit = (event: Event) => {
    event.preventDefault()
    setTries(tries + 1)
    const empty = NEEDED.filter((field) => typed[field].trim() === '')
    setFaults(Object.fromEntries(empty.map((field) => [field, shared.checkEntered])))
    if (empty.length > 0) return
    void action.run(async () => {
      const { address, taxId, ...rest } = typed
      const lines = address.split('\n').map((line) => line.trim()).filter(Boolean) // oxfmt-ignore
      const given = { ...rest, address: lines, ...(taxId.trim() && { taxId }) }
      try {
        onIssued((await putInvoiceDetails(order.orderId, email, given)).invoices)
        setDone(true)
      } catch (refused) {
        if (!(refused instanceof ApiError && refused.code === 'tax_id_invalid')) throw refused
        setFaults({ taxId: words.taxIdWrong })
      }
      return ''
    })
  }
  return (
    <form class="stack" noValidate onSubmit={submit}>
      <p class="soft small">{say(words.addText, { date: moment(until) })}</p>
      <Fields typed={typed} faults={faults} tries={tries} change={change} />
      {action.trouble ? <Notice tone="alarm" role="alert" title={why(action.trouble)} /> : null}
      <button type="submit" class="button" aria-disabled={action.busy ? 'true' : undefined}>
        {action.busy && <span class="spinner" aria-hidden="true" />} {words.save}
      </button>
      <output>
        {isDone && (
          <Notice title={words.saved} icon="check">
            {<p>{words.savedText}</p>}
          </Notice>
        )}
      </output>
    </form>
  )
}

interface FieldsProps {
  typed: Typed
  faults: Partial<Typed>
  tries: number
  change: (field: keyof Typed) => (value: string) => void
}

function Fields({ typed, faults, tries, change }: FieldsProps) {
  const field = (name: keyof Typed, label: string, autoComplete: string, hint?: string) => (
    <TextField
      id={`invoice-${name}`}
      label={label}
      hint={hint}
      value={typed[name]}
      onValue={change(name)}
      fault={faults[name]}
      tries={tries}
      input={{ autoComplete: autoComplete as 'name', autoCapitalize: 'words', maxLength: name === 'taxId' ? 40 : 100 }}
    />
  )
  return (
    <>
      {field('name', words.name, 'organization')}
      <Lines value={typed.address} fault={faults.address} tries={tries} onValue={change('address')} />
      {field('postcode', words.postcode, 'postal-code')}
      {field('city', words.city, 'address-level2')}
      <Country value={typed.country} fault={faults.country} tries={tries} onValue={change('country')} />
      {field('taxId', words.taxIdOptional, 'off', words.taxIdHint)}
    </>
  )
}

const WHYS: Record<string, string> = { invoice_details_over: words.over, too_many_corrections: words.tooOften }
const why = (trouble: unknown): string => (trouble instanceof ApiError && WHYS[trouble.code]) || sentence(trouble)

interface FieldProps {
  value: string
  fault: string | undefined
  tries: number
  onValue: (value: string) => void
}

const Lines = ({ value, fault, tries, onValue }: FieldProps) => (
  <div class="field">
    <label for="invoice-address">{words.address}</label>
    <p class="soft small" id="invoice-address-hint">
      {words.addressHint}
    </p>
    <textarea
      id="invoice-address"
      ref={useFaultFocus<HTMLTextAreaElement>(fault, tries)}
      rows={2}
      maxLength={400}
      autoComplete="street-address"
      aria-describedby={fault ? 'invoice-address-fault' : 'invoice-address-hint'}
      aria-invalid={fault ? 'true' : undefined}
      value={value}
      onInput={(event) => onValue(event.currentTarget.value)}
    />
    {fault && (
      <p class="fault" id="invoice-address-fault" role="alert">
        <Icon name="alert" /> {fault}
      </p>
    )}
  </div>
)

const Country = ({ value, fault, tries, onValue }: FieldProps) => (
  <div class="field">
    <label for="invoice-country">{words.country}</label>
    <select
      id="invoice-country"
      ref={useFaultFocus<HTMLSelectElement>(fault, tries)}
      autoComplete="country"
      value={value}
      aria-describedby={fault ? 'invoice-country-fault' : undefined}
      aria-invalid={fault ? 'true' : undefined}
      onChange={(event) => onValue(event.currentTarget.value)}
    >
      <option value="">–</option>
      {Array.from(countriesIn(LOCALE), ([code, name]) => (
        <option key={code} value={code}>
          {name}
        </option>
      ))}
    </select>
    {fault && (
      <p class="fault" id="invoice-country-fault" role="alert">
        <Icon name="alert" /> {fault}
      </p>
    )}
  </div>
)

function ownRegion(): string {
  const region = new Intl.Locale(LOCALE).region ?? ''
  return /^[A-Z]{2}$/.test(region) ? region : ''
}
