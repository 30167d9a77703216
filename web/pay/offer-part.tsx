import type { ComponentChildren, InputHTMLAttributes } from 'preact'
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { decimalsOf, decimalText, stepOf } from '../../src/kit/money.ts'
import { readAmount } from '../ui/amounts.ts'
import { getProduct, type ProductView, type Wish } from '../ui/api.ts'
import { money, percent } from '../ui/format.ts'
import { Icon } from '../ui/icon.tsx'
import { typedBefore } from '../ui/language-choice.tsx'
import { say, saying, wordsOf } from '../ui/language.ts'
import { sentence } from '../ui/words.ts'
import { CurrencyChoice } from './currency-choice.tsx'
import type { Offer, State } from './state.ts'

const words = wordsOf('pay')
const shared = wordsOf('ui')

export interface OfferProps {
  product: ProductView
  state: State
  /** The wish of the kept order, or of the address. */
  wish: Wish
  /** The buyer changes the price or the code. */
  onType: () => void
  /** Undefined while the typed price cannot be read. */
  onOffer: (offer: Offer | undefined) => void
  onCurrency: (currency: string) => void
  /**
   * Holds the function that returns the buyer's wish when the form is sent: undefined where a field has a fault, which
   * then has the focus.
   */
  readerRef: { current: (() => Promise<Wish | undefined>) | undefined }
}

type Discount = NonNullable<ProductView['discount']>
/** The discount of a code, and the data that the payment form of such an order needs. */
interface Found {
  discount?: Discount | undefined
  form?: ProductView['payments']['form']
}
/** The typed price in minor units, or its fault. Empty where the buyer does not choose the price. */
type Typed = { minor?: number | undefined; fault?: string | undefined }
type FieldId = 'chosen' | 'code'

/** The fields for another currency, a chosen price and a discount code. Few products need them, so the page loads them on demand. */
export function OfferPart({ product, state, wish, onType, onOffer, onCurrency, readerRef }: OfferProps) {
  const { amount: leastMinor, currency } = product
  const [typed, setTyped] = useState(() => typedBefore('chosen', firstPrice(product, wish)))
  const [typedIn, setTypedIn] = useState(currency)
  // A number that was typed for one currency is no price in another.
  if (typedIn !== currency) {
    setTypedIn(currency)
    setTyped(firstPrice(product, {}))
  }
  const { faultAt, refuse, clearFault } = useFault()
  const found = useDiscount(product, { state, wish, refuse, clearFault })
  const { first, code, type, shown, discount, form, remove, waits, apply } = found
  useEffect(() => {
    // The buyer has come by a link with a code that the waiting order does not have.
    if (state.order && wish.discountCode !== state.kept?.wish?.discountCode) onType()
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- on arrival
  }, [])

  const read: Typed = product.payWhatYouWant
    ? readAmount(typed, currency, decimalsOf(currency), { words: shared, say })
    : {}
  const listMinor = read.minor ?? leastMinor
  const offMinor = discount ? takenOff(listMinor, discount, currency) : 0
  const wishWith = (used: Discount | undefined): Wish => ({
    ...(read.minor !== undefined && { chosenAmount: read.minor }),
    ...(used && { discountCode: used.code }),
  })
  useEffect(() => {
    // The discount is still on its way, or is the order's and not asked for.
    if (waits) return
    const offer = { wish: wishWith(discount), listMinor, offMinor, ...(form && { form }) }
    onOffer(read.fault ? undefined : offer)
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- the others follow from these
  }, [read.fault, listMinor, offMinor, discount, waits, currency])
  // A press on the button can come before an effect runs.
  readerRef.current = async () => {
    if (read.fault) return void refuse('chosen', read.fault)
    if (listMinor < leastMinor)
      return void refuse('chosen', say(words.leastAmount, { price: money(leastMinor, currency) }))
    // The buyer has typed a code and not pressed "Apply". The next press pays the price that the code makes.
    if (!discount && code.trim()) return void (await apply())
    return wishWith(discount)
  }

  /** The buyer's typing ends the fault of an earlier press. */
  const typing = (show: (text: string) => void) => (text: string) => {
    show(text)
    clearFault()
    onType()
  }
  return (
    <div class="stack offer">
      {product.prices[1] && <CurrencyChoice {...{ product, onType, onCurrency }} />}
      {product.payWhatYouWant && (
        <PriceField product={product} typed={typed} read={read} fault={faultAt('chosen')} onType={typing(setTyped)} />
      )}
      {(shown || product.takesCode || wish.discountCode) && (
        <CodePlace
          shown={shown}
          currency={currency}
          onRemove={() => {
            remove()
            onType()
          }}
        >
          <CodeField
            open={first !== ''}
            code={code}
            applying={waits}
            fault={faultAt('code')}
            onType={typing(type)}
            onApply={() => void apply()}
          />
        </CodePlace>
      )}
    </div>
  )
}

/** The one fault that the page shows, and the field at which it stands. */
function useFault() {
  const [fault, setFault] = useState<{ at: FieldId; text: string }>()
  return {
    faultAt: (at: FieldId) => (fault?.at === at ? fault.text : undefined),
    clearFault: () => setFault(undefined),
    /** Shows the fault and moves the focus to its field, unless the buyer is at another one. */
    refuse(at: FieldId, text: string, movesFocus = true) {
      setFault({ at, text })
      reveal(at, movesFocus)
    },
  }
}

/** A field in a closed fold cannot take the focus. */
function reveal(at: FieldId, movesFocus = true): void {
  document.getElementById(at)?.closest('details')?.setAttribute('open', '')
  if (movesFocus) document.getElementById(at)?.focus()
}

interface DiscountParts {
  state: State
  wish: Wish
  refuse: (at: FieldId, text: string, movesFocus?: boolean) => void
  clearFault: () => void
}

/**
 * The typed code, and the discount that the service gives for it. A code that is there from the beginning is applied at once, except that of
 * an order: it keeps its discount also after the code has ended, and holds the last use of a limited one. The service is asked about it once
 * the buyer changes something, because then another order comes.
 */
function useDiscount({ id, currency }: ProductView, { state, wish, refuse, clearFault }: DiscountParts) {
  const { order, typed } = state
  const own: Discount | undefined =
    wish.discountCode && order?.discountAmount
      ? { code: wish.discountCode, amountOff: order.discountAmount, amount: order.amount }
      : undefined
  const [first] = useState(() => typedBefore('code', wish.discountCode))
  const [code, setCode] = useState(first)
  const [{ discount, form }, setFound] = useState<Found>({})
  const [isAsked, setAsked] = useState(!own || !!typed)
  const [applying, setApplying] = useState(first !== '' && isAsked)
  const [foundIn, setFoundIn] = useState(currency)
  const shownRef = useRef(currency)
  /** Goes up with all that makes an answer on its way too late: another code or currency, or another press. */
  const turnRef = useRef(0)
  // With another currency the code takes off another amount, or nothing.
  if (foundIn !== currency || (typed && !isAsked)) {
    turnRef.current++
    setFoundIn(currency)
    setAsked(true)
    setFound({})
    setApplying(code.trim() !== '')
  }
  async function apply(movesFocus = true): Promise<void> {
    if (!code.trim()) return refuse('code', words.codeMissing)
    const turn = ++turnRef.current
    setApplying(true)
    clearFault()
    try {
      const found = await getProduct(id, { discountCode: code.trim(), currency })
      if (turnRef.current === turn) setFound({ discount: found.discount, form: found.payments.form })
    } catch (trouble) {
      if (turnRef.current === turn) refuse('code', sentence(trouble), movesFocus)
    } finally {
      if (turnRef.current === turn) setApplying(false)
    }
  }
  useEffect(() => {
    const isFirst = shownRef.current === currency
    shownRef.current = currency
    if (isAsked && code.trim()) void apply(isFirst && !typed)
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- only these are a reason to ask again
  }, [currency, isAsked])
  const type = (text: string) => {
    turnRef.current++
    setApplying(false)
    setCode(text)
    if (!text.trim()) forgetLinked()
  }
  const remove = () => {
    setFound({})
    type('')
  }
  const waits = applying || !isAsked
  return {
    first,
    code,
    type,
    discount,
    form,
    remove,
    apply,
    waits,
    /** The order's own stays on the screen until the service has answered. */
    shown: discount ?? (code && (waits || !typed) ? own : undefined),
  }
}

/** A reload must not bring back the code of the link, which the buyer has taken away. */
function forgetLinked(): void {
  const address = new URL(location.href)
  address.searchParams.delete('code')
  history.replaceState(history.state, '', address)
}

function firstPrice({ prices, currency }: ProductView, wish: Wish): string {
  const chosenAmount = (wish.currency ?? currency) === currency ? wish.chosenAmount : undefined
  const begin = prices.find((price) => price.currency === currency)?.amount
  const minor = chosenAmount ?? (begin || undefined)
  return minor === undefined ? '' : decimalText(minor, currency)
}

interface PriceFieldProps {
  product: ProductView
  typed: string
  read: Typed
  fault: string | undefined
  onType: (text: string) => void
}

function PriceField({ product: { amount: leastMinor, currency }, typed, read, fault, onType }: PriceFieldProps) {
  const said =
    read.minor === undefined
      ? (typed.trim() && read.fault) || ''
      : say(words.youPay, { price: money(read.minor, currency) })
  return (
    <Field
      id="chosen"
      label={say(words.chooseAmount, { currency })}
      hint={leastMinor > 0 ? say(words.chooseLeast, { price: money(leastMinor, currency) }) : words.chooseAny}
      value={typed}
      onType={onType}
      fault={fault}
      input={{ inputMode: 'decimal' }}
      below={
        // Shown while the buyer types, because "1,234" and "12,34" are one slip apart.
        <output class="soft small understood" for="chosen">
          <span key={said}>{said}</span>
        </output>
      }
    />
  )
}

interface CodeFieldProps {
  /** There was a code from the beginning. */
  open: boolean
  code: string
  applying: boolean
  fault: string | undefined
  onType: (text: string) => void
  onApply: () => void
}

function CodeField({ open, code, applying, fault, onType, onApply }: CodeFieldProps) {
  return (
    <details open={open || undefined}>
      <summary>{words.haveCode}</summary>
      <Field
        id="code"
        label={words.discountCode}
        value={code}
        onType={onType}
        fault={fault}
        input={{
          autoCapitalize: 'characters',
          // Enter in this field applies the code and does not send the form.
          onKeyDown: (event) => {
            if (event.key !== 'Enter') return
            event.preventDefault()
            onApply()
          },
        }}
        end={
          <button type="button" class="button" aria-disabled={applying || undefined} onClick={onApply}>
            {applying ? words.checking : words.apply}
          </button>
        }
      />
    </details>
  )
}

interface CodePlaceProps {
  /** The discount of the code that is applied. Undefined: the field for a code is shown. */
  shown: Discount | undefined
  currency: string
  onRemove: () => void
  children: ComponentChildren
}

/** The field for a code, or the code that is applied. If the one that leaves the page has the focus, the other takes it. */
function CodePlace({ shown, currency, onRemove, children }: CodePlaceProps) {
  const place = useRef<HTMLDivElement>(null)
  // An effect comes after the change, when the focus is lost.
  const hasFocus = place.current?.contains(document.activeElement)
  const isApplied = shown !== undefined
  useLayoutEffect(() => {
    if (!hasFocus) return
    if (isApplied) document.getElementById('remove-code')?.focus()
    else reveal('code')
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- only for the change
  }, [isApplied])
  return (
    <div class={isApplied ? 'recipient' : undefined} ref={place}>
      {/* A screen reader reads a change in it, and so it is there before the text. */}
      <output>{shown && <TakesOff discount={shown} currency={currency} />}</output>
      {shown ? <AppliedCode code={shown.code} onRemove={onRemove} /> : children}
    </div>
  )
}

function TakesOff({ discount: { code, percentOff, amountOff }, currency }: { discount: Discount; currency: string }) {
  const steps = amountOff - (amountOff % stepOf(currency))
  const amount = percentOff ? percent(percentOff) : money(steps || amountOff, currency)
  return (
    <span id="takes-off" key={code + amount}>
      {saying(words.takesOff, { code: <b>{code}</b>, amount })}
    </span>
  )
}

const AppliedCode = ({ code, onRemove }: { code: string; onRemove: () => void }) => (
  <>
    <input type="hidden" id="code" value={code} />
    <button
      type="button"
      class="link"
      id="remove-code"
      aria-label={words.removeCode}
      aria-describedby="takes-off"
      onClick={onRemove}
    >
      {words.remove}
    </button>
  </>
)

interface FieldProps {
  id: FieldId
  label: string
  hint?: string
  value: string
  onType: (text: string) => void
  fault: string | undefined
  /** Further attributes of the input. */
  input: InputHTMLAttributes<HTMLInputElement>
  /** Appears beside the input. */
  end?: ComponentChildren
  /** Appears below the input while the field has no fault. */
  below?: ComponentChildren
}

function Field({ id, label, hint, value, onType, fault, input, end, below }: FieldProps) {
  return (
    <div class="field">
      <label for={id} key={label}>
        {label}
      </label>
      {hint && (
        <p class="soft small" id={`${id}-hint`} key={hint}>
          {hint}
        </p>
      )}
      <div class="beside">
        <input
          id={id}
          name={id}
          type="text"
          autoComplete="off"
          spellcheck={false}
          maxLength={60}
          aria-invalid={fault ? 'true' : undefined}
          aria-describedby={[fault && `${id}-fault`, hint && `${id}-hint`].filter(Boolean).join(' ') || undefined}
          value={value}
          onInput={(event) => onType(event.currentTarget.value)}
          {...input}
        />
        {end}
      </div>
      {fault ? (
        <p class="fault" id={`${id}-fault`} key={fault}>
          <Icon name="alert" />
          {fault}
        </p>
      ) : (
        below
      )}
    </div>
  )
}

/** Calculated as the service does it: rounded down to a step of the currency, and at most the price. */
function takenOff(listMinor: number, { percentOff, amountOff }: Discount, currency: string): number {
  const off = percentOff ? Math.floor((listMinor * percentOff) / 100) : amountOff
  return off < listMinor ? off - (off % stepOf(currency)) : listMinor
}
