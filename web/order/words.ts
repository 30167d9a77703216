import type { Status } from '../ui/api.ts'

export const HEADLINES: Record<Status, [title: string, text: string]> = {
  pending: [
    'Waiting for your payment',
    'The order is made; no payment has arrived yet. This page follows by itself when one does.',
  ],
  processing: [
    'Your bank is working on it',
    'Your bank has taken the order to pay. The files come by e-mail when it is done, and appear here.',
  ],
  paid: ['Thank you. It’s yours.', 'Your order is paid. The files are here for you at any time.'],
  partially_refunded: ['Your order, partly refunded', 'A part of the price went back to you. You keep the files.'],
  refunded: [
    'This order was refunded',
    'The full price goes back to you; it can take some days to show on your statement.',
  ],
  disputed: [
    'This payment is disputed',
    'Your bank has asked for the money back. The files are on hold until that is decided.',
  ],
  charged_back: [
    'This payment was taken back',
    'Your bank has returned the money to you. The files are no longer available.',
  ],
  expired: ['This order has expired', 'It was not paid in time, and nothing was taken.'],
  needs_review: [
    'A person is looking at your payment',
    'It does not match the price of this order. You will not be charged again; the seller writes to you.',
  ],
}

/** Delivered, and a refund of all of it is pending. The files have ended, and come back if the refund fails. */
export const GOING_BACK: (typeof HEADLINES)[Status] = [
  'Your refund is on its way',
  'All of the price goes back to you; your bank can take some days. The files of this order are no longer available.',
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
  'Your bank had begun to work on it and has said no. Nothing was taken, and you can pay again.',
]

/** A free order. */
export const FREE: (typeof HEADLINES)[Status] = ['Thank you. It’s yours.', 'The files are here for you at any time.']

/** The latest event of a paid order, where the buyer should see it without searching. */
export const NEWS: Record<string, string> = {
  duplicate_refunded: 'Your bank sent the money twice. The second payment was refunded at once.',
  refund_requested: 'A part of the price is on its way back to you; your bank can take some days.',
  refund_failed: 'A refund of this order did not go through. The seller knows, and the files stay yours.',
}

export const HAPPENINGS: Record<string, string> = {
  created: 'Order created',
  payment_declined: 'Payment declined by the bank',
  payment_processing: 'Bank is working on the payment',
  paid: 'Payment confirmed, files released',
  expired: 'Order expired',
  refund_requested: 'Refund asked for by the seller',
  refund_failed: 'Refund did not go through; the seller knows',
  refunded: 'Refunded in full',
  partially_refunded: 'Refunded in part',
  duplicate_refunded: 'A second payment arrived and was refunded',
  payment_returned: 'A payment that did not match was sent back',
  needs_review: 'Payment does not match; a person is looking at it',
  disputed: 'Payment disputed at the bank',
  dispute_won: 'Dispute decided for the shop, files available',
  charged_back: 'Payment taken back by the bank',
  partially_charged_back: 'A part of the payment taken back by the bank',
}
