import { formatMoney } from '../../kit/money.ts'
import { money } from './buyer.ts'
import type { MailNews, MailOrder, Said, SellerMail } from './news.ts'

/** What a seller is told of an order: what is out of the ordinary, and what to do. Mails about sales are in sales.ts. */
export const SELLER_MAILS: Record<SellerMail, (order: MailOrder, news: MailNews) => Said> = {
  seller_cannot_be_paid: (order) => ({
    subject: `Nobody can pay: ${order.productName}`,
    title: 'A buyer wanted to pay, and the payment processor refused to begin.',
    text: 'It will refuse every other buyer too until something is changed: a way of paying that is not activated, what the account may do, or the key to it. If the account is yours, look into its dashboard. Whoever runs this service was told as well, and finds the reason with the doctor. Nothing was charged. You are told once a week.',
    facts: [['Amount', formatMoney(order.amountMinor, order.currency)], ...ofOrder(order)],
  }),
  seller_amount_not_taken: (order) => ({
    subject: `Nobody can pay this price: ${order.productName}`,
    title: 'A buyer wanted to pay, and the payment processor does not take this amount.',
    text: 'It is too small, too large, or not exact in this currency. Change the price of the product, the least that a buyer may give, or the discount that led to it. Nothing was charged. You are told once a week.',
    facts: [['Amount', formatMoney(order.amountMinor, order.currency)], ...ofOrder(order)],
  }),
  seller_paid_late: (order) => ({
    subject: `Paid after its time: ${order.productName}`,
    title: 'An order that had expired was paid after all.',
    text: 'The buyer’s money came late, so the sale counts, and the buyer has the files. There is nothing to do.',
    facts: [['Amount', formatMoney(order.amountMinor, order.currency)], ...ofOrder(order)],
  }),
  seller_needs_review: (order, news) => ({
    subject: `Please look at a payment for ${order.productName}`,
    title: 'Another amount arrived than was asked for.',
    text: `${money(order, news)} arrived for an order of ${formatMoney(order.amountMinor, order.currency)}. The buyer has no files, and the money is on hold. Send it back in your payment processor’s dashboard, and ask the buyer to order again; or keep it, and send the files yourself. The buyer has been told that you will write.`,
    facts: [
      ['Received', money(order, news)],
      ['Price', formatMoney(order.amountMinor, order.currency)],
      ...ofOrder(order),
    ],
  }),
  seller_refunded: (order, news) => ({
    subject: `Refunded: ${order.productName}`,
    title:
      news.refundedMinor === order.amountMinor ? 'An order was refunded in full.' : 'An order was refunded in part.',
    text: `${money(order, news)} went back to the buyer${news.byApi ? '' : ', by your payment processor’s dashboard'}. The fee’s share of it came back to you. ${order.delivered ? 'The buyer keeps the files.' : 'The buyer can no longer download the files.'}`,
    facts: [
      ['Refunded now', money(order, news)],
      [
        'Refunded in all',
        `${formatMoney(news.refundedMinor ?? order.refundedMinor, order.currency)} of ${formatMoney(order.amountMinor, order.currency)}`,
      ],
      ...ofOrder(order),
    ],
  }),
  seller_refund_failed: (order, news) => ({
    subject: `A refund failed: ${order.productName}`,
    title: 'A refund did not reach the buyer.',
    text: `${WHY[news.why ?? 'refused']} The order stands as it did without this refund, and the books too.`,
    facts: [['Amount', money(order, news)], ...ofOrder(order)],
  }),
  // of money that came twice as well: then the buyer has the files
  seller_refund_unconfirmed: (order, news) => ({
    subject: `A refund is not confirmed: ${order.productName}`,
    title: 'Nobody has confirmed a refund for ten days.',
    text: `Whether ${money(order, news)} went back to the buyer is not known: your payment processor gives no clear answer. Look at the payment in your payment processor’s dashboard; if your account there was replaced, in the old one’s. The processor is asked again until it answers, so this refund can still be made. Until then it counts as on its way${order.delivered ? '' : ', and the buyer cannot download the files'}.`,
    facts: [['Amount', money(order, news)], ...ofOrder(order)],
  }),
  seller_return_failed: (order, news) => ({
    subject: `A payment could not be sent back: ${order.productName}`,
    title: 'Money that a buyer paid by mistake could not be sent back.',
    text: 'It came beside the price of the order, and is on hold: it belongs to the buyer. Look at the payment in your payment processor’s dashboard; if it cannot be sent back there either, ask the buyer for an account.',
    facts: [['Amount', money(order, news)], ...ofOrder(order)],
  }),
  seller_disputed: (order, news) => ({
    subject: `A payment is disputed: ${order.productName}`,
    title: 'A buyer’s bank asks for the money back.',
    text: `The bank has taken ${money(order, news)} until it has decided, and the buyer’s files are on hold. Answer in your payment processor’s dashboard: it says until when, which is often a week or two, and what to send. Without an answer the dispute is lost. The buyer’s address, the time of the order and the downloads are what shows that they got what they paid for.`,
    facts: [['Amount', money(order, news)], ...ofOrder(order)],
  }),
  seller_dispute_won: (order, news) => ({
    subject: `Dispute won: ${order.productName}`,
    title: 'The bank has decided for you.',
    text: `${money(order, news)} is yours again. There is nothing to do.`,
    facts: [['Amount', money(order, news)], ...ofOrder(order)],
  }),
  seller_dispute_lost: (order, news) => ({
    subject: `Dispute lost: ${order.productName}`,
    title: 'The bank has decided for the buyer.',
    text: news.missingMinor === undefined ? lostOfSale(order, news) : lostBeside(order, news),
    facts: [['Amount', money(order, news)], ...ofOrder(order)],
  }),
  seller_dispute_returned: (order, news) => ({
    subject: `Money is back from a lost dispute: ${order.productName}`,
    title: 'A part of what the bank took came back.',
    text: `${money(order, news)} of the dispute that was lost is back in your account at the payment processor. Of a sale, the fee’s share of it was taken again. There is nothing to do.`,
    facts: [['Amount', money(order, news)], ...ofOrder(order)],
  }),
}

const WHY: Record<NonNullable<MailNews['why']> | 'refused', string> = {
  refused:
    'The payment processor or the buyer’s bank did not take it: an account can be closed, or too little be on yours. Look at the payment in your payment processor’s dashboard, and try again, or send the money another way.',
  amount: 'The payment processor sends no such amount back: it is too small, or not exact. Choose another one.',
  refunded_already:
    'Less is left of the payment than you asked to send back, since it was refunded in your payment processor’s dashboard too.',
  disputed:
    'The buyer has disputed the payment before it could be sent back, so the bank decides now: answer, or accept, the dispute in your payment processor’s dashboard.',
  charged_back:
    'The buyer’s bank has taken a part of the payment back, and your payment processor does not send back what you asked for besides. Look at the payment in your payment processor’s dashboard, or send the money another way.',
  no_answer:
    'The payment processor has not taken it for many days. Look at the payment in your payment processor’s dashboard before you try again.',
}

/** Where a bank took a part of the price. */
const AFTER_PART: Record<NonNullable<MailNews['files']>, string> = {
  stay: 'It is a part of the price, so the buyer keeps the files.',
  on_hold: 'It is a part of the price. The files stay on hold until the bank has decided about the other dispute.',
}

function lostOfSale(order: MailOrder, news: MailNews): string {
  const { amountMinor, releasedMinor, refundedMinor = 0 } = news
  if (amountMinor === 0)
    return `Nothing more was taken for it: ${released(order, news)} that was on hold is yours again. There is nothing to do.`
  const text = `${money(order, news)} stays with the buyer${releasedMinor ? `, and ${released(order, news)} that was on hold is yours again` : ''}.`
  if (news.files) return `${text} The fee’s share of it came back to you. ${AFTER_PART[news.files]}`
  const fee = refundedMinor < order.amountMinor ? ' The fee’s share of it came back to you, and the' : ' The'
  const back = ` ${formatMoney(refundedMinor, order.currency)} had been refunded before: where the bank has seen that, it can come back still, and you are told.`
  return `${text}${fee} files are no longer available.${refundedMinor > 0 ? back : ''}`
}

/** A second payment, or one of another amount: neither the order nor its fee is what was lost. */
function lostBeside(order: MailOrder, news: MailNews): string {
  const { amountMinor, missingMinor = 0, currency = order.currency } = news
  if (amountMinor === 0) return 'Nothing was taken for it. There is nothing to do.'
  const missing = ` ${formatMoney(missingMinor, currency)} of it had been sent back before, so it is taken from your balance: show that to your payment processor.`
  return `${money(order, news)} stays with the buyer. It had come beside the price of the order, which stands as it did, and so does its fee.${missingMinor > 0 ? missing : ''}`
}

const released = (order: MailOrder, { releasedMinor = 0, currency = order.currency }: MailNews): string =>
  formatMoney(releasedMinor, currency)

const ofOrder = (order: MailOrder): Said['facts'] => [
  ['Product', order.productName],
  ['Buyer', order.email],
  ['Order', order.id],
]
