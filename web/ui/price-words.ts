import { money } from './format.ts'

/** The price of a product in a few words. */
export function priceWords({
  amount,
  currency,
  payWhatYouWant,
}: {
  amount: number
  currency: string
  payWhatYouWant: boolean
}): string {
  if (payWhatYouWant) return amount > 0 ? `From ${money(amount, currency)}` : 'Pay what you want'
  return amount > 0 ? money(amount, currency) : 'Free'
}
