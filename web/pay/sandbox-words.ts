import type { Rail } from '../ui/api.ts'
import { say, wordsOf } from '../ui/language.ts'
import { CARDS, type CardFault, grouped } from './sandbox-cards.ts'

// A real buyer never needs these texts, so the page loads them later.

const words = wordsOf('pay')

/** The meaning of a chosen rail. The card shows its fields in this place, and the wallets of devices have buttons of their own. */
export const ABOUT: Partial<Record<Rail, string>> = {
  debit: words.sandboxDebit,
  bank_transfer: words.sandboxTransfer,
  upi: words.sandboxUpi,
  wallet: words.sandboxWallet,
}

/** Isolated, so that the groups of digits keep their order in a text from right to left. */
export const shownNumber = (number: string): string => `\u2066${grouped(number)}\u2069`

const [[EXAMPLE] = ['']] = CARDS
export const FAULTS: Record<CardFault, string> = {
  noNumber: say(words.sandboxNoNumber, { number: shownNumber(EXAMPLE) }),
  otherNumber: words.sandboxOtherNumber,
  noExpiry: say(words.sandboxNoExpiry, { example: '\u206612 / 34\u2069' }),
  over: words.sandboxOver,
  noCode: words.sandboxNoCode,
}

/** The icons of the rails, as SVG paths. */
export const SHAPES: Record<Rail, string> = {
  card: 'M3 6.5A1.5 1.5 0 0 1 4.5 5h15A1.5 1.5 0 0 1 21 6.5v11a1.5 1.5 0 0 1-1.5 1.5h-15A1.5 1.5 0 0 1 3 17.5zM3 9.5h18M6.5 15h4',
  debit:
    'M21 11V6.5A1.5 1.5 0 0 0 19.5 5h-15A1.5 1.5 0 0 0 3 6.5v11A1.5 1.5 0 0 0 4.5 19H12M3 9.5h18M15 16.5h6m-2.5-2.5 2.5 2.5-2.5 2.5',
  bank_transfer: 'M3.5 9.5 12 4.5l8.5 5zM6 10v7m4-7v7m4-7v7m4-7v7M3.5 20h17',
  upi: 'M4 4h6v6H4zM14 4h6v6h-6zM4 14h6v6H4zM14 14h2.5v2.5H14zM20 14v2.5M14 20h2.5M20 20h-.1',
  apple_pay:
    'M8 3h8a1.5 1.5 0 0 1 1.5 1.5v15A1.5 1.5 0 0 1 16 21H8a1.5 1.5 0 0 1-1.5-1.5v-15A1.5 1.5 0 0 1 8 3zM10.5 18.5h3M9.5 11l2 2 3-3.5',
  google_pay: 'M6.5 10.5a2 2 0 0 1 0 3M10 8.5a5 5 0 0 1 0 7M13.5 6.5a8.5 8.5 0 0 1 0 11M17 4.5a12 12 0 0 1 0 15',
  wallet:
    'M18 8V5.5A1.5 1.5 0 0 0 16.5 4H5.5a2 2 0 0 0 0 4H19.5A1.5 1.5 0 0 1 21 9.5v9a1.5 1.5 0 0 1-1.5 1.5h-14A2 2 0 0 1 3.5 18V6M16.5 14h.1',
}

export const SCAN = 'Scan it with your phone. In test mode the code leads nowhere: press the button below to pay.'

/** The sandbox's own account. No bank has the handle `invalid`, so an app that reads the code refuses it. */
const TEST_ACCOUNT = 'sandbox@invalid'

/** A UPI payment link as the network defines it: payee, amount, and our order number as the reference, once there is one. */
export const upiLink = (
  { amount, currency, orderId }: { amount: string; currency: string; orderId?: string },
  seller: string,
): string =>
  `upi://pay?pa=${TEST_ACCOUNT}&pn=${encodeURIComponent(seller)}&am=${amount}&cu=${currency}${orderId ? `&tr=${orderId}` : ''}`
