import type { Rail } from '../ui/api.ts'

// No real buyer needs them, so they come later.

/** What the sandbox can be asked to do, in the order in which somebody new would try it. */
export const SCENARIOS: [string, string][] = [
  ['success', 'Approves at once'],
  ['decline', 'Declines'],
  ['delayed', 'Takes some seconds, then approves'],
  ['lost_webhook', 'Approves, but the shop is never told'],
  ['repeated_webhook', 'Approves, and the shop is told several times'],
  ['reordered_webhook', 'Approves, and the news arrive out of order'],
  ['late_success', 'Declines, then approves after all'],
  ['wrong_amount', 'Takes another amount than the price'],
  ['double_capture', 'Takes the money twice'],
]

export const ABOUT: Record<Rail, string> = {
  card: 'Credit cards of all networks.',
  debit: 'Debit cards and bank debits.',
  bank_transfer: 'A transfer from your bank. It can take longer; the files come by e-mail as soon as it has arrived.',
  upi: 'With any UPI app.',
  apple_pay: 'Confirm on your device.',
  google_pay: 'Confirm on your device.',
  wallet: 'Pay from your wallet’s balance.',
}

export const SCAN = 'Scan it with your phone. In test mode the code leads nowhere: press the button below to pay.'

/** The sandbox's own account: `invalid` is a handle no bank has, so an app that reads the code refuses it. */
const TEST_ACCOUNT = 'sandbox@invalid'

/** A UPI payment link as the network defines it: who, how much, and our order number as the reference. */
export const upiLink = (
  { amount, currency, orderId }: { amount: string; currency: string; orderId: string },
  seller: string,
): string => `upi://pay?pa=${TEST_ACCOUNT}&pn=${encodeURIComponent(seller)}&am=${amount}&cu=${currency}&tr=${orderId}`
