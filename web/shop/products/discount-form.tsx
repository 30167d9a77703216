import { useState } from 'preact/hooks'
import { useAction } from '../../ui/action.ts'
import { TextField } from '../../ui/text-field.tsx'
import { createDiscount, type Discount, type Product } from '../api.ts'
import { Refused } from '../parts.tsx'
import { amountFaultIn, amountIn } from './typed-amount.ts'

const CODE = /^[A-Z0-9-]{3,40}$/i

interface DiscountFormProps {
  product: Product
  onCreated: (discount: Discount) => void
  onCancel: () => void
}

export function DiscountForm({ product, onCreated, onCancel }: DiscountFormProps) {
  const [code, setCode] = useState('')
  const [kind, setKind] = useState<'percent' | 'amount'>('percent')
  const [off, setOff] = useState('')
  const [limit, setLimit] = useState('')
  const [until, setUntil] = useState('')
  const [faults, setFaults] = useState<Record<string, string>>({})
  const [tries, setTries] = useState(0)
  const action = useAction()
  const percent = Number(off.trim().replace(/\s*%$/, ''))
  const amount = amountIn(off, product.currency)
  const check = () => {
    const wrong: Record<string, string> = {}
    if (!CODE.test(code.trim())) wrong.code = 'Please use 3 to 40 letters, digits and “-”.'
    if (kind === 'percent' && !(Number.isInteger(percent) && percent >= 1 && percent <= 100))
      wrong.off = 'Please enter a whole number from 1 to 100.'
    if (kind === 'amount' && !amount)
      wrong.off = amountFaultIn(off, product.currency) ?? `Please enter an amount in ${product.currency}.`
    if (limit.trim() && !(/^\d{1,9}$/.test(limit.trim()) && Number(limit) > 0))
      wrong.limit = 'Please enter a number, or nothing.'
    if (until && Date.parse(endOf(until)) < Date.now()) wrong.until = 'This day is over.'
    setFaults(wrong)
    setTries(tries + 1)
    return Object.keys(wrong).length === 0
  }
  const submit = (event: Event) => {
    event.preventDefault()
    if (!check()) return
    void action.run(async () => {
      const discount = await createDiscount({
        code: code.trim(),
        productId: product.id,
        ...(kind === 'percent' ? { percentOff: percent } : { amountOff: amount!, currency: product.currency }),
        ...(limit.trim() && { limit: Number(limit) }),
        ...(until && { expiresAt: endOf(until) }),
      })
      onCreated(discount)
      return ''
    })
  }
  return (
    <form class="panel stack" noValidate onSubmit={submit} aria-label="New discount code">
      <TextField
        id="discount-code"
        label="Code"
        hint="What buyers type. Capital letters or not makes no difference."
        value={code}
        onValue={setCode}
        fault={faults.code}
        tries={tries}
        focus
        input={{ maxLength: 40, autoComplete: 'off', autoCapitalize: 'characters' }}
      />
      <div class="price-pair">
        <TextField
          id="discount-off"
          label="Off"
          value={off}
          onValue={setOff}
          fault={faults.off}
          tries={tries}
          input={{ inputMode: 'decimal', autoComplete: 'off', maxLength: 16 }}
        />
        <div class="field">
          <label for="discount-kind">In</label>
          <select
            id="discount-kind"
            value={kind}
            onChange={(event) => setKind(event.currentTarget.value === 'amount' ? 'amount' : 'percent')}
          >
            <option value="percent">%</option>
            <option value="amount">{product.currency}</option>
          </select>
        </div>
      </div>
      <div class="halves">
        <TextField
          id="discount-limit"
          label="How often"
          hint="Empty: no limit."
          value={limit}
          onValue={setLimit}
          fault={faults.limit}
          tries={tries}
          input={{ inputMode: 'numeric', autoComplete: 'off', maxLength: 9 }}
        />
        <TextField
          id="discount-until"
          label="Last day"
          hint="Empty: until you end it."
          value={until}
          onValue={setUntil}
          fault={faults.until}
          tries={tries}
          input={{ type: 'date' }}
        />
      </div>
      <Refused action={action} />
      <div class="row">
        <button type="submit" class="button main short" aria-disabled={action.busy ? 'true' : undefined}>
          {action.busy && <span class="spinner" aria-hidden="true" />}
          Create the code
        </button>
        <button type="button" class="link" onClick={onCancel}>
          Cancel
        </button>
      </div>
    </form>
  )
}

/** The end of a day in the seller's time zone. */
const endOf = (day: string): string => new Date(`${day}T23:59:59.999`).toISOString()
