import { decimalsOf } from '../../../src/kit/money.ts'

export type Rounding = 'exact' | 'down' | 'up' | 'half'

/** 2% of an amount before rounding, as an exact decimal, and the direction of the rounding. */
export function exactFee(amountMinor: number, currency: string): { text: string; rounding: Rounding } {
  // Two hundredths: the digits of twice the amount, moved two places to the right.
  const places = decimalsOf(currency) + 2
  const digits = String(2 * amountMinor).padStart(places + 1, '0')
  const text = `${digits.slice(0, -places)}.${digits.slice(-places)}`
  const beyond = (2 * amountMinor) % 100
  const rounding = beyond === 0 ? 'exact' : beyond === 50 ? 'half' : beyond < 50 ? 'down' : 'up'
  return { text: text.replace(/0{1,2}$/, '').replace(/\.$/, ''), rounding }
}
