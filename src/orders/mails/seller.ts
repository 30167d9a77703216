import { formatMoney } from '../../kit/money.ts'
import { money } from './buyer.ts'
import { type MailData, type MailOrder, type MailText, type SellerMail, numberOf } from './mail-data.ts'

/** The mails to a seller about unusual events of an order, with advice. Mails about sales are in sales.ts. */
export const SELLER_MAILS: Record<SellerMail, (order: MailOrder, data: MailData) => MailText> = {
  seller_cannot_be_paid: (order) => ({
    subject: `Buyers cannot pay: ${order.productName}`,
    title: 'A buyer wanted to pay, and the payment processor refused to begin.',
    text: 'It will refuse every other buyer too until this is mended: a payment method is not activated, the account lacks a permission, or its key is wrong. If the account is yours, look into its dashboard. The operator of this service got a message too, and "npm run doctor" finds the reason. Nothing was charged. You get this mail at most once a week.',
    facts: [['Amount', formatMoney(order.amountMinor, order.currency)], ...orderFacts(order)],
  }),
  seller_amount_not_taken: (order) => ({
    subject: `Buyers cannot pay this price: ${order.productName}`,
    title: 'A buyer wanted to pay, and the payment processor does not take this amount.',
    text: 'It is too small, too large, or not exact in this currency. Change the price of the product, its lowest price, or the discount that led to it. Nothing was charged. You get this mail at most once a week.',
    facts: [['Amount', formatMoney(order.amountMinor, order.currency)], ...orderFacts(order)],
  }),
  seller_withdrawn: (order) => ({
    subject: `A buyer withdraws: ${order.productName}`,
    title: 'A buyer withdraws from the contract.',
    text: `The buyer of this order has stated so by the form of this service, and has an acknowledgement that the statement arrived. Your shop shows it at the order. ${
      order.paidAt
        ? 'If the buyer has a right to withdraw, refund the order there, at most 14 days after the statement; if not, write to the buyer.'
        : 'The order is not paid yet, so there is nothing to refund now. When it is paid, your shop shows it under “Needs attention”: if the buyer has a right to withdraw, refund the order then; if not, write to the buyer.'
    }`,
    facts: orderFacts(order),
  }),
  seller_paid_late: (order) => ({
    subject: `Paid after it expired: ${order.productName}`,
    title: 'An order that had expired was paid after all.',
    // after a recall that left nothing to deliver
    text:
      order.fileCount > 0
        ? 'The buyer’s money came late, so the sale counts, and the buyer has the files. There is nothing to do.'
        : 'The buyer’s money came late, so the sale counts. But its files were recalled before, so the buyer has nothing. Refund the order.',
    facts: [['Amount', formatMoney(order.amountMinor, order.currency)], ...orderFacts(order)],
  }),
  seller_needs_review: (order, data) => ({
    subject: `Please look at a payment for ${order.productName}`,
    title: 'The buyer paid an amount other than the price.',
    text: `${money(order, data)} arrived for an order of ${formatMoney(order.amountMinor, order.currency)}. The buyer has no files, and the money is on hold. The operator of this service decides whether the order is accepted, which gives the buyer the files, or the money is sent back. We have written to the buyer that you will answer.`,
    facts: [
      ['Received', money(order, data)],
      ['Price', formatMoney(order.amountMinor, order.currency)],
      ...orderFacts(order),
    ],
  }),
  seller_refunded: (order, data) => ({
    subject: `Refunded: ${order.productName}`,
    title:
      data.refundedMinor === order.amountMinor ? 'An order was refunded in full.' : 'An order was refunded in part.',
    text: `${money(order, data)} went back to the buyer${data.byApi ? '' : ', by a refund in the payment processor’s dashboard'}. Its share of the fee came back to you. ${order.delivered ? 'The buyer keeps the files.' : 'The buyer can no longer download the files.'}`,
    facts: [
      ['Refunded now', money(order, data)],
      [
        'Refunded in all',
        `${formatMoney(data.refundedMinor ?? order.refundedMinor, order.currency)} of ${formatMoney(order.amountMinor, order.currency)}`,
      ],
      ...orderFacts(order),
    ],
  }),
  seller_refund_failed: (order, data) => ({
    subject: `A refund failed: ${order.productName}`,
    title: 'A refund did not reach the buyer.',
    text: `${WHY[data.why ?? 'refused']} The order stands as it did without this refund, and the books too.`,
    facts: [['Amount', money(order, data)], ...orderFacts(order)],
  }),
  // also for a duplicate capture: then the buyer has the files
  seller_refund_unconfirmed: (order, data) => ({
    subject: `A refund is not confirmed: ${order.productName}`,
    title: 'The payment processor has not confirmed a refund for ten days.',
    text: `We do not know whether ${money(order, data)} went back to the buyer: the payment processor gives no clear answer. ${LOOK} If that account was replaced, the payment is in the old one. We ask the processor until it answers, so this refund can still be made. Until then it counts as on its way${order.delivered ? '' : ', and the buyer cannot download the files'}.`,
    facts: [['Amount', money(order, data)], ...orderFacts(order)],
  }),
  seller_return_failed: (order, data) => ({
    subject: `A payment could not be sent back: ${order.productName}`,
    title: 'Money that a buyer paid by mistake could not be sent back.',
    text: 'It was not part of the price of the order. It is on hold, and belongs to the buyer. The operator of this service sees it too, and can send it back. If the account at the payment processor is yours, look at the payment in its dashboard; if it cannot be sent back there either, ask the buyer for an account.',
    facts: [['Amount', money(order, data)], ...orderFacts(order)],
  }),
  seller_disputed: (order, data) => ({
    subject: `A payment is disputed: ${order.productName}`,
    title: 'A buyer’s bank asks for the money back.',
    text: `The bank has taken ${money(order, data)} until it has decided, and the buyer’s files are on hold. If the account at the payment processor is yours, answer in its dashboard. Otherwise the operator of this service answers: send them your evidence now. The dashboard says until when, often a week or two, and what to send. Without an answer the dispute is lost. The buyer’s address, the time of the order and the downloads show that the buyer got the product.`,
    facts: [['Amount', money(order, data)], ...orderFacts(order)],
  }),
  seller_dispute_won: (order, data) => ({
    subject: `Dispute won: ${order.productName}`,
    title: 'The bank has decided for you.',
    text: `${money(order, data)} is yours again. There is nothing to do.`,
    facts: [['Amount', money(order, data)], ...orderFacts(order)],
  }),
  seller_dispute_lost: (order, data) => ({
    subject: `Dispute lost: ${order.productName}`,
    title: 'The bank has decided for the buyer.',
    text: data.missingMinor === undefined ? lostOfSale(order, data) : lostBeside(order, data),
    facts: [['Amount', money(order, data)], ...orderFacts(order)],
  }),
  seller_dispute_returned: (order, data) => ({
    subject: `Money is back from a lost dispute: ${order.productName}`,
    title: 'The bank gave back a part of the money.',
    text: `${money(order, data)} of the lost dispute is back in the account at the payment processor. If it was about a sale, its share of the fee was taken again. There is nothing to do.`,
    facts: [['Amount', money(order, data)], ...orderFacts(order)],
  }),
}

/** The account at the processor is the seller's own only with `PAYOUTS=stripe-connect`, and perhaps on a service of one seller. */
const LOOK =
  'Look at the payment in the payment processor’s dashboard or, if the account is not yours, ask the operator of this service.'

const WHY: Record<NonNullable<MailData['why']> | 'refused', string> = {
  refused: `The payment processor or the buyer’s bank did not take it: the buyer’s account may be closed, or the account at the payment processor may hold too little. ${LOOK} Then try again, or send the money another way.`,
  amount: 'The payment processor sends no such amount back: it is too small, or not exact. Choose another one.',
  refunded_already:
    'The amount is more than the rest of the payment, which was also refunded in the payment processor’s dashboard.',
  disputed:
    'The buyer has disputed the payment before it could be sent back, so the bank decides now. If the account at the payment processor is yours, answer the dispute, or accept it, in its dashboard. Otherwise the operator of this service does that: tell them what you want.',
  charged_back: `The buyer’s bank has taken a part of the payment back, so the payment processor does not make this refund as well. ${LOOK} You can also send the money another way.`,
  no_answer: `The payment processor has not taken it for many days. ${LOOK} Do that before you try again.`,
}

/** Tells the seller whether the buyer keeps the files after a bank took a part of the price. */
const AFTER_PART: Record<NonNullable<MailData['files']>, string> = {
  stay: 'It is a part of the price, so the buyer keeps the files.',
  on_hold: 'It is a part of the price. The files stay on hold until the bank has decided about the other dispute.',
}

function lostOfSale(order: MailOrder, data: MailData): string {
  const { amountMinor, releasedMinor, refundedMinor = 0 } = data
  if (amountMinor === 0)
    return `Nothing more was taken for it: ${released(order, data)} that was on hold is yours again. There is nothing to do.`
  const fee = data.files || refundedMinor < order.amountMinor ? ', and its share of the fee came back to you' : ''
  const rest = releasedMinor ? ` ${released(order, data)} that was on hold is yours again.` : ''
  const text = `${money(order, data)} stays with the buyer${fee}.${rest}`
  if (data.files) return `${text} ${AFTER_PART[data.files]}`
  const back = ` ${formatMoney(refundedMinor, order.currency)} had been refunded before: if the bank sees that, this amount can still come back. You will get a mail then.`
  return `${text} The files are no longer available.${refundedMinor > 0 ? back : ''}`
}

/** A lost dispute about a duplicate capture, or one of a wrong amount: the order and its fee do not change. */
function lostBeside(order: MailOrder, data: MailData): string {
  const { amountMinor, missingMinor = 0, currency = order.currency } = data
  if (amountMinor === 0) return 'Nothing was taken for it. There is nothing to do.'
  const missing = ` ${formatMoney(missingMinor, currency)} of it had been sent back before, so it is taken from your balance. If the account at the payment processor is yours, show that to the processor. Otherwise tell the operator of this service.`
  return `${money(order, data)} stays with the buyer. It was not part of the price of the order, so the order and its fee do not change.${missingMinor > 0 ? missing : ''}`
}

const released = (order: MailOrder, { releasedMinor = 0, currency = order.currency }: MailData): string =>
  formatMoney(releasedMinor, currency)

const orderFacts = (order: MailOrder): MailText['facts'] => [
  ['Product', order.productName],
  ['Buyer', order.email],
  ['Order', numberOf(order)],
]
