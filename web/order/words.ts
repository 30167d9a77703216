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

export const HAPPENINGS: Record<string, string> = {
  created: 'Order created',
  payment_declined: 'Payment declined by the bank',
  payment_processing: 'Bank is working on the payment',
  paid: 'Payment confirmed, files released',
  expired: 'Order expired',
  refunded: 'Refunded in full',
  partially_refunded: 'Refunded in part',
  duplicate_refunded: 'A second payment arrived and was refunded',
  needs_review: 'Payment does not match; a person is looking at it',
  disputed: 'Payment disputed at the bank',
  dispute_won: 'Dispute decided for the shop, files released again',
  charged_back: 'Payment taken back by the bank',
}
