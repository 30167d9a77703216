import { useState } from 'preact/hooks'
import { useAction } from '../../ui/action.ts'
import { TextField } from '../../ui/text-field.tsx'
import { createDiscount, isUnknown, type Discount, type Product } from '../api.ts'
import { Refused } from '../parts.tsx'
import {
  discountFaults,
  discountInput,
  LAST_DAY,
  NO_DISCOUNT,
  type Currencies,
  type DiscountFaults,
  type TypedDiscount,
} from './typed-discount.ts'

interface DiscountFormProps {
  product: Product
  onCreated: (discount: Discount) => void
  onCancel: () => void
  /** No good answer came: the service may have made the code. */
  onUnknown: () => void
}

export function DiscountForm({ product: { id, currency, prices }, onCreated, onCancel, onUnknown }: DiscountFormProps) {
  const currencies: Currencies = [currency, ...prices.slice(1).map((price) => price.currency)]
  const [typed, setTyped] = useState(NO_DISCOUNT)
  const [faults, setFaults] = useState<DiscountFaults>({})
  const [tries, setTries] = useState(0)
  const action = useAction()
  const submit = (event: Event) => {
    event.preventDefault()
    const wrong = discountFaults(typed, currencies)
    setFaults(wrong)
    setTries(tries + 1)
    if (Object.keys(wrong).length > 0) return
    void action.run(async () => {
      try {
        onCreated(await createDiscount({ ...discountInput(typed, currencies), productId: id }))
      } catch (trouble) {
        if (isUnknown(trouble)) onUnknown()
        throw trouble
      }
      return ''
    })
  }
  return (
    <form class="panel stack" noValidate onSubmit={submit} aria-label="New discount code">
      <DiscountFields
        typed={typed}
        currencies={currencies}
        faults={faults}
        tries={tries}
        onType={(change) => setTyped((before) => ({ ...before, ...change }))}
      />
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

interface DiscountFieldsProps {
  typed: TypedDiscount
  currencies: Currencies
  faults: DiscountFaults
  tries: number
  onType: (change: Partial<TypedDiscount>) => void
}

function DiscountFields({ typed, currencies, faults, tries, onType }: DiscountFieldsProps) {
  const [currency, ...further] = currencies
  /** The fields have these in common. */
  const field = (name: Exclude<keyof TypedDiscount, 'kind' | 'offIn'>) => ({
    id: `discount-${name}`,
    value: typed[name],
    onValue: (text: string) => onType({ [name]: text }),
    fault: faults[name],
    tries,
  })
  return (
    <>
      <TextField
        {...field('code')}
        label="Code"
        hint="What buyers type. Capital letters or not makes no difference."
        focus
        input={{ maxLength: 40, autoComplete: 'off', autoCapitalize: 'characters' }}
      />
      <div class="price-pair">
        <TextField {...field('off')} label="Off" input={{ inputMode: 'decimal', autoComplete: 'off', maxLength: 16 }} />
        <div class="field">
          <label for="discount-kind">In</label>
          <select
            id="discount-kind"
            value={typed.kind}
            onChange={(event) => onType({ kind: event.currentTarget.value === 'amount' ? 'amount' : 'percent' })}
          >
            <option value="percent">%</option>
            <option value="amount">{currency}</option>
          </select>
        </div>
      </div>
      {typed.kind === 'amount' &&
        further.map((one) => (
          <TextField
            key={one}
            id={`discount-off-${one}`}
            label={`Off in ${one}`}
            hint="Empty: the code does not apply to this price."
            value={typed.offIn[one] ?? ''}
            onValue={(text) => onType({ offIn: { ...typed.offIn, [one]: text } })}
            fault={faults[`off-${one}`]}
            tries={tries}
            input={{ inputMode: 'decimal', autoComplete: 'off', maxLength: 16 }}
          />
        ))}
      <div class="halves">
        <TextField
          {...field('limit')}
          label="How often"
          hint="Empty: no limit."
          input={{ inputMode: 'numeric', autoComplete: 'off', maxLength: 9 }}
        />
        <TextField
          {...field('until')}
          label="Last day"
          hint="Empty: until you end it."
          input={{ type: 'date', max: LAST_DAY }}
        />
      </div>
    </>
  )
}
