import { money } from '../../ui/format.ts'
import type { Product } from '../api.ts'

/** What a product costs, in a few words. */
export function priceWords({
  amount,
  currency,
  payWhatYouWant,
}: Pick<Product, 'amount' | 'currency' | 'payWhatYouWant'>): string {
  if (payWhatYouWant) return amount > 0 ? `From ${money(amount, currency)}` : 'Pay what you want'
  return amount > 0 ? money(amount, currency) : 'Free'
}
