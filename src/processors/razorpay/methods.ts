import type { Rail } from '../rails.ts'
import { ProcessorUnavailable } from '../processor.ts'
import { type Visit, isObject } from './client.ts'

/** Their names of ways of paying, in our words: device wallets come there as UPI, by intent or QR code. */
const RAILS: Readonly<Record<string, Rail>> = {
  card: 'card',
  credit_card: 'card',
  debit_card: 'debit',
  netbanking: 'bank_transfer',
  upi: 'upi',
  wallet: 'wallet',
}
/** What every account has from its beginning. */
const LEAST: readonly Rail[] = ['card', 'debit', 'upi']

/** The rails of what the account offers; while that is not known, those that can be promised without. */
export const railsOf = (ways: readonly string[] | undefined): Rail[] =>
  ways ? [...new Set(Object.keys(RAILS).flatMap((way) => (ways.includes(way) ? RAILS[way]! : [])))] : [...LEAST]

/**
 * What is switched on for the account (https://razorpay.com/docs/api/payments/payment-methods): a yes, or the banks and wallets by
 * name, where none is an empty list.
 */
export async function fetchMethods(ask: Visit, keyId: string): Promise<readonly string[] | undefined> {
  const answer = await ask.get('/v1/methods', { key_id: keyId })
  if (!isObject(answer) || answer.entity !== 'methods')
    throw new ProcessorUnavailable('the answer is no list of methods')
  const isOn = (value: unknown): boolean =>
    value === true || value === 1 || (isObject(value) && Object.values(value).some((one) => one !== false && one !== 0))
  // not every account is told its kinds of cards
  const told: Record<string, unknown> = { ...answer, debit_card: answer.debit_card ?? answer.card }
  const ways = Object.keys(RAILS).filter((way) => isOn(told[way]))
  return ways.length > 0 ? ways : undefined
}
