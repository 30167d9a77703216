import type { Rail } from '../rails.ts'
import { ProcessorUnavailable } from '../processor.ts'
import { type Visit, isObject } from './client.ts'

/** The rail of each of Razorpay's ways of paying. Device wallets pay there by UPI, with an intent or a QR code. */
const RAILS: Readonly<Record<string, Rail>> = {
  card: 'card',
  credit_card: 'card',
  debit_card: 'debit',
  netbanking: 'bank_transfer',
  upi: 'upi',
  wallet: 'wallet',
}
/** Every account has these from its beginning. */
const LEAST: readonly Rail[] = ['card', 'debit', 'upi']

/** The rails that the account offers. While the offers are unknown, those that every account has. */
export const railsOf = (ways: readonly string[] | undefined): Rail[] =>
  ways ? [...new Set(Object.keys(RAILS).flatMap((way) => (ways.includes(way) ? RAILS[way]! : [])))] : [...LEAST]

/**
 * Reads what is switched on for the account (https://razorpay.com/docs/api/payments/payment-methods). Each way of paying is a
 * boolean, or a list of banks or wallets by name, which is empty when it is off.
 */
export async function fetchMethods(ask: Visit, keyId: string): Promise<readonly string[] | undefined> {
  const answer = await ask.get('/v1/methods', { key_id: keyId })
  if (!isObject(answer) || answer.entity !== 'methods')
    throw new ProcessorUnavailable('the answer is not a list of methods')
  const isOn = (value: unknown): boolean =>
    value === true || value === 1 || (isObject(value) && Object.values(value).some((one) => one !== false && one !== 0))
  // Razorpay does not tell every account its kinds of cards
  const told: Record<string, unknown> = { ...answer, debit_card: answer.debit_card ?? answer.card }
  const ways = Object.keys(RAILS).filter((way) => isOn(told[way]))
  return ways.length > 0 ? ways : undefined
}
