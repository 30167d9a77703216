import { amountFaultIn, amountIn } from './typed-amount.ts'

const CODE = /^[A-Z0-9-]{3,40}$/i

/** The contents of the form for a new discount code, as they were typed. */
export interface TypedDiscount {
  code: string
  kind: 'percent' | 'amount'
  off: string
  limit: string
  /** The last day, or empty. */
  until: string
}

export type DiscountFaults = Partial<Record<keyof TypedDiscount, string>>

export const NO_DISCOUNT: TypedDiscount = { code: '', kind: 'percent', off: '', limit: '', until: '' }

/** The faults that prevent making the code, by field. */
export function discountFaults({ code, kind, off, limit, until }: TypedDiscount, currency: string): DiscountFaults {
  const faults: DiscountFaults = {}
  if (!CODE.test(code.trim())) faults.code = 'Please use 3 to 40 letters, digits and “-”.'
  const percent = percentIn(off)
  if (kind === 'percent' && !(Number.isInteger(percent) && percent >= 1 && percent <= 100))
    faults.off = 'Please enter a whole number from 1 to 100.'
  if (kind === 'amount' && !amountIn(off, currency))
    faults.off = amountFaultIn(off, currency) ?? `Please enter an amount in ${currency}.`
  if (limit.trim() && !(/^\d{1,9}$/.test(limit.trim()) && Number(limit) > 0))
    faults.limit = 'Please enter a number, or nothing.'
  if (until && Date.parse(endOf(until)) < Date.now()) faults.until = 'This day is over.'
  return faults
}

/** The members of the API for a form without faults. */
export const discountInput = ({ code, kind, off, limit, until }: TypedDiscount, currency: string) => ({
  code: code.trim(),
  ...(kind === 'percent' ? { percentOff: percentIn(off) } : { amountOff: amountIn(off, currency)!, currency }),
  ...(limit.trim() && { limit: Number(limit) }),
  ...(until && { expiresAt: endOf(until) }),
})

const percentIn = (text: string): number => Number(text.trim().replace(/\s*%$/, ''))

/** The end of a day in the seller's time zone. */
const endOf = (day: string): string => new Date(`${day}T23:59:59.999`).toISOString()
