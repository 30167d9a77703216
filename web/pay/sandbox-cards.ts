// The sandbox's own cards, and the reading of its card fields. A typed number never leaves the browser: the service only
// hears which scenario its bank plays.

/** The number, the scenario, and what the bank does. The first three are the ones that developers know. */
export const CARDS: readonly (readonly [number: string, scenario: string, label: string])[] = [
  ['4242424242424242', 'success', 'Approves at once'],
  ['4000000000000002', 'decline', 'Declines'],
  ['4000000000003220', 'delayed', 'Asks the buyer first (3-D Secure), then approves after some seconds'],
  ['4000000000001018', 'delayed_decline', 'Takes some seconds, then declines'],
  ['4000000000001026', 'lost_webhook', 'Approves, but the shop is never told'],
  ['4000000000001034', 'repeated_webhook', 'Approves, and the shop is told several times'],
  ['4000000000001042', 'reordered_webhook', 'Approves, and the news arrives out of order'],
  ['4000000000001059', 'late_success', 'Declines, then approves after all'],
  ['4000000000001067', 'wrong_amount', 'Takes an amount other than the price'],
  ['4000000000001075', 'double_capture', 'Takes the money twice'],
]

export type CardField = 'number' | 'expiry' | 'cvc'
export type Card = Record<CardField, string>
export const NO_CARD: Card = { number: '', expiry: '', cvc: '' }

/** A card of the list, filled in as a buyer would do it. */
export const filled = (number: string): Card => ({ number: grouped(number), expiry: '12 / 34', cvc: '123' })

const digitsOf = (text: string): string => text.replace(/\D/g, '')

/** "4242 4242 4242 4242" */
export const grouped = (text: string): string =>
  digitsOf(text)
    .slice(0, 19)
    .replace(/(\d{4})(?=\d)/g, '$1 ')

/** "12 / 34" */
export function expiryText(text: string): string {
  const digits = digitsOf(/^\s*[2-9]/.test(text) ? `0${text}` : text).slice(0, 4)
  return digits.length > 2 ? `${digits.slice(0, 2)} / ${digits.slice(2)}` : digits
}

/** The possible faults of the fields. Their texts are in sandbox-words.ts. */
export type CardFault = 'noNumber' | 'otherNumber' | 'noExpiry' | 'over' | 'noCode'

/** The fault of each wrong field. Only the numbers of the list are taken. */
export function faultsOf({ number, expiry, cvc }: Card, now = new Date()): Partial<Record<CardField, CardFault>> {
  const digits = digitsOf(number)
  const [, month, year] = /^(\d\d)(\d\d)$/.exec(digitsOf(expiry)) ?? []
  const isMonth = Number(month) >= 1 && Number(month) <= 12
  // A card is good until the end of its month.
  const isOver = isMonth && new Date(2000 + Number(year), Number(month), 1) <= now
  return {
    ...(!scenarioOf(number) && { number: digits ? ('otherNumber' as const) : ('noNumber' as const) }),
    ...(isMonth ? isOver && { expiry: 'over' as const } : { expiry: 'noExpiry' as const }),
    ...(!/^\d{3,4}$/.test(cvc.trim()) && { cvc: 'noCode' as const }),
  }
}

/** The bank's scenario for a card. Undefined: it is not one of the sandbox's. */
export const scenarioOf = (number: string): string | undefined => CARDS.find(([one]) => one === digitsOf(number))?.[1]
