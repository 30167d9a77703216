import { amountFaultIn, amountIn } from './typed-amount.ts'

const CODE = /^[A-Z0-9-]{3,40}$/i

/** The last day that can be entered: a year has four digits. */
export const LAST_DAY = '2999-12-31'

/** The contents of the form for a new discount code, as they were typed. */
export interface TypedDiscount {
  code: string
  kind: 'percent' | 'amount'
  off: string
  /** The amounts off in further currencies, by their codes. Empty: the code does not apply there. */
  offIn: Record<string, string>
  limit: string
  /** The last day, or empty. */
  until: string
}

/** The currencies of a product's prices, the default one first. */
export type Currencies = readonly [string, ...string[]]

export type DiscountFaults = Partial<Record<keyof TypedDiscount | `off-${string}`, string>>

export const NO_DISCOUNT: TypedDiscount = { code: '', kind: 'percent', off: '', offIn: {}, limit: '', until: '' }

/** The faults that prevent making the code, by field. */
export function discountFaults(
  { code, kind, off, offIn, limit, until }: TypedDiscount,
  [currency, ...further]: Currencies,
): DiscountFaults {
  const faults: DiscountFaults = {}
  if (!CODE.test(code.trim())) faults.code = 'Please use 3 to 40 letters, digits and “-”.'
  const percent = percentIn(off)
  if (kind === 'percent' && !(Number.isInteger(percent) && percent >= 1 && percent <= 100))
    faults.off = 'Please enter a whole number from 1 to 100.'
  if (kind === 'amount' && !amountIn(off, currency))
    faults.off = amountFaultIn(off, currency) ?? `Please enter an amount in ${currency}.`
  for (const one of kind === 'amount' ? further : []) {
    const typed = offIn[one] ?? ''
    if (typed.trim() && !amountIn(typed, one))
      faults[`off-${one}`] = amountFaultIn(typed, one) ?? `Please enter an amount in ${one}, or nothing.`
  }
  if (limit.trim() && !(/^\d{1,9}$/.test(limit.trim()) && Number(limit) > 0))
    faults.limit = 'Please enter a number, or nothing.'
  // Browsers take years of five digits.
  if (until > LAST_DAY || until.length > LAST_DAY.length) faults.until = 'Please enter a day before the year 3000.'
  else if (until && Date.parse(endOf(until)) < Date.now()) faults.until = 'This day is over.'
  return faults
}

/** The members of the API for a form without faults. */
export const discountInput = (
  { code, kind, off, offIn, limit, until }: TypedDiscount,
  [currency, ...further]: Currencies,
) => ({
  code: code.trim(),
  ...(kind === 'percent'
    ? { percentOff: percentIn(off) }
    : {
        amounts: [
          { currency, amount: amountIn(off, currency)! },
          ...further.flatMap((one) => {
            const amount = amountIn(offIn[one] ?? '', one)
            return amount ? [{ currency: one, amount }] : []
          }),
        ],
      }),
  ...(limit.trim() && { limit: Number(limit) }),
  ...(until && { expiresAt: endOf(until) }),
})

const percentIn = (text: string): number => Number(text.trim().replace(/\s*%$/, ''))

/** The end of a day in the seller's time zone. */
const endOf = (day: string): string => new Date(`${day}T23:59:59.999`).toISOString()
