import type { Rail } from '../rails.ts'
import { type Payment, shapes } from './entities.ts'

/** The rail of each of Razorpay's payment methods. Device wallets pay there by UPI, with an intent or a QR code. */
const METHODS: Readonly<Record<string, Rail>> = {
  card: 'card',
  credit_card: 'card',
  debit_card: 'debit',
  netbanking: 'bank_transfer',
  upi: 'upi',
  wallet: 'wallet',
}
export const METHOD_NAMES: readonly string[] = Object.keys(METHODS)
/** Every account has these from its beginning. */
const LEAST: readonly Rail[] = ['card', 'debit', 'upi']

/** The rails that the account offers. While the offers are unknown, those that every account has. */
export const railsOf = (ways: readonly string[] | undefined): Rail[] =>
  ways ? [...new Set(METHOD_NAMES.flatMap((way) => (ways.includes(way) ? METHODS[way]! : [])))] : [...LEAST]

/** The documented values of `method`. `emandate` and `nach` are bank debits. An unknown method counts as a wallet, not as a card. */
export function railOf({ method, provider, card }: Payment): Rail {
  if (provider === 'google_pay' && method !== 'upi') return 'google_pay'
  switch (method) {
    case 'card':
    case 'emi':
      return cardTypeOf(card) === 'debit' ? 'debit' : 'card'
    case 'upi':
      return 'upi'
    case 'netbanking':
    case 'bank_transfer':
      return 'bank_transfer'
    case 'emandate':
    case 'nach':
      return 'debit'
    default:
      return 'wallet'
  }
}

/** Whether the rail depends on a card type that the answer does not contain. */
export const lacksCard = ({ method, card }: Payment): boolean =>
  (method === 'card' || method === 'emi') && cardTypeOf(card) === undefined

const cardTypeOf = (card: unknown): string | undefined => (shapes.card.Check(card) ? card.type : undefined)
