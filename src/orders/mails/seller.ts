import { formatMoney } from '../../kit/money.ts'
import { money } from './buyer.ts'
import type { MailNews, MailOrder, Said, SellerMail } from './news.ts'

/**
 * What a seller is told of an order: what is out of the ordinary, and what to do. Not each sale, which would teach them to
 * read none of it.
 */
export const SELLER_MAILS: Record<SellerMail, (order: MailOrder, news: MailNews) => Said> = {
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
  no_answer:
    'The payment processor has not taken it for many days. Look at the payment in your payment processor’s dashboard before you try again.',
}

function lostOfSale(order: MailOrder, news: MailNews): string {
  const { amountMinor, releasedMinor, refundedMinor = 0 } = news
  if (amountMinor === 0)
    return `Nothing more was taken for it: ${released(order, news)} that was on hold is yours again. There is nothing to do.`
  const text = `${money(order, news)} stays with the buyer${releasedMinor ? `, and ${released(order, news)} that was on hold is yours again` : ''}.`
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
