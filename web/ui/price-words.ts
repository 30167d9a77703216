import { money } from './format.ts'

interface Priced {
  payWhatYouWant: boolean
  prices: { currency: string; amount: number; minimum?: number }[]
}

/** More prices are a number, so that a list stays one line. */
const MOST_SHOWN = 3

/** The prices of a product in a few words. */
export function priceWords({ payWhatYouWant, prices }: Priced): string {
  const least = prices.map(({ currency, amount, minimum = amount }) => ({ currency, minor: minimum }))
  if (least.every(({ minor }) => minor === 0)) return payWhatYouWant ? 'Pay what you want' : 'Free'
  const more = least.length - MOST_SHOWN
  const shown = least.slice(0, MOST_SHOWN).map(({ currency, minor }) => money(minor, currency))
  return `${payWhatYouWant ? 'From ' : ''}${shown.join(' · ')}${more > 0 ? ` and ${more} more` : ''}`
}
