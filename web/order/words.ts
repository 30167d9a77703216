import type { Status } from '../ui/api.ts'

export const HEADLINES: Record<Status, [title: string, text: string]> = {
  pending: [
    'Waiting for your payment',
    'We have your order, but no payment yet. This page updates by itself when it arrives.',
  ],
  processing: [
    'Your bank is processing the payment',
    'This can take a while. When it is done, the files come by e-mail and appear here.',
  ],
  paid: ['Thank you. It’s yours.', 'Your order is paid. The files are here for you at any time.'],
  partially_refunded: ['Your order, partly refunded', 'Part of the price was refunded. You keep the files.'],
  refunded: [
    'This order was refunded',
    'You get the full price back. It can take a few days to show on your statement.',
  ],
  disputed: [
    'This payment is disputed',
    'Your bank has asked for the money back. The files are on hold until that is decided.',
  ],
  charged_back: [
    'Your bank reversed this payment',
    'Your bank has returned the money to you. The files are no longer available.',
  ],
  expired: ['This order has expired', 'It was not paid in time, and nothing was taken.'],
  needs_review: [
    'We’re reviewing your payment',
    'It does not match the price of this order. You won’t be charged again. The seller will e-mail you.',
  ],
}

/** Delivered, and a refund of all of it is pending. The files have ended, and come back if the refund fails. */
export const GOING_BACK: (typeof HEADLINES)[Status] = [
  'Your refund is on its way',
  'You get the full price back; your bank can take a few days. The files of this order are no longer available.',
]

/** Paid, and all its files were recalled. */
export const NOTHING_LEFT: (typeof HEADLINES)[Status] = [
  'There is nothing left to download',
  'All the files of this order were recalled. Here is why.',
]

/** An order from the time when products without files could be on sale. */
export const NO_FILES: (typeof HEADLINES)[Status] = [
  'This order has no files',
  'The product had no files when you bought it. Please write to the seller.',
]

/** The bank began to work on the payment and declined it afterwards. */
export const FAILED: (typeof HEADLINES)[Status] = [
  'Your payment did not go through',
  'Your bank began to process it and then declined it. Nothing was taken, and you can pay again.',
]

/** A free order. */
export const FREE: (typeof HEADLINES)[Status] = ['Thank you. It’s yours.', 'The files are here for you at any time.']

/** The latest event of a paid order, where the buyer should see it without searching. */
export const NEWS: Record<string, string> = {
  duplicate_refunded: 'Your bank sent the money twice. The second payment was refunded at once.',
  refund_requested: 'Part of the price is on its way back to you; your bank can take a few days.',
  refund_failed: 'A refund of this order did not go through. The seller knows, and the files stay yours.',
}

export const HAPPENINGS: Record<string, string> = {
  created: 'Order created',
  payment_declined: 'Payment declined by the bank',
  payment_processing: 'Bank is processing the payment',
  paid: 'Payment confirmed, files released',
  expired: 'Order expired',
  refund_requested: 'Refund requested by the seller',
  refund_failed: 'Refund did not go through; the seller knows',
  refunded: 'Refunded in full',
  partially_refunded: 'Refunded in part',
  duplicate_refunded: 'A second payment arrived and was refunded',
  payment_returned: 'A payment that did not match was sent back',
  needs_review: 'Payment does not match; under review',
  disputed: 'Payment disputed at the bank',
  dispute_won: 'Dispute won by the seller, files available again',
  charged_back: 'Payment reversed by the bank',
  partially_charged_back: 'Part of the payment reversed by the bank',
}
