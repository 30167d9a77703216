import { consentsView } from '../consents/consents.ts'
import { formatMoney } from '../../kit/money.ts'
import type { Rail } from '../../processors/rails.ts'
import { type BuyerMail, type MailData, type MailOrder, type MailText, dateTime, named, numberOf } from './mail-data.ts'

// A buyer knows the shop and the bank, but not the processor, so these mails do not name it.

type BuyerMailText = MailText & { button: string }

/** The mails to a buyer about an order. */
export const BUYER_MAILS: Record<BuyerMail, (order: MailOrder, data: MailData) => BuyerMailText> = {
  receipt: (order, { late }) => ({
    subject: `Your receipt${named(order)}`,
    title: order.delivered
      ? 'Thank you. Your files are ready.'
      : isFree(order)
        ? 'Thank you.'
        : 'Thank you for your payment.',
    text: `${late ? 'Your payment arrived after the order had expired, and it still counts. ' : ''}You ${isFree(order) ? 'got' : 'bought'} ${order.productName} from ${order.seller}. ${order.delivered ? `This address opens your files whenever you need them: you only have to say which address you ${isFree(order) ? 'gave' : 'bought with'}.` : 'Its files cannot be downloaded now: the page of your order says why.'}`,
    button: order.delivered ? 'Open my files' : 'View my order',
    facts: [
      ['Product', order.productName],
      ...fileFacts(order),
      ...discountFacts(order),
      ['Amount', isFree(order) ? 'Free' : formatMoney(order.amountMinor, order.currency)],
      ...(isFree(order) ? [] : descriptorFacts(order)),
      [isFree(order) ? 'Ordered' : 'Paid', dateTime(order.paidAt)],
      ...railFacts(order),
      ['Order', numberOf(order)],
      ...consentFacts(order),
    ],
  }),
  payment_failed: (order) => ({
    subject: `Your payment${named(order)} did not go through`,
    title: 'Your bank could not complete the payment. Nothing was taken.',
    text: `Your bank began to process your payment for ${order.productName}, and then declined it. If you still want it, you can pay again, with another payment method too. If you have already paid, there is nothing to do.`,
    button: 'Pay again',
    facts: [
      ['Product', order.productName],
      ['Amount', formatMoney(order.amountMinor, order.currency)],
      ['Order', numberOf(order)],
    ],
  }),
  refunded: (order, data) => {
    const total = data.refundedMinor ?? order.refundedMinor
    const whole = total === order.amountMinor
    const all = formatMoney(order.amountMinor, order.currency)
    const part = formatMoney(data.amountMinor ?? total, order.currency)
    return {
      subject: `Your refund${named(order)}`,
      title: whole ? 'Your refund is on its way.' : 'Part of the price is on its way back to you.',
      text: whole
        ? `All of the ${all} that you paid ${order.seller} goes back to you. It can take your bank a few days to show it. The files of this order are no longer available.`
        : `${order.seller} has refunded ${part} of the ${all} that you paid. It can take your bank a few days to show it.${order.delivered ? ' You keep the files.' : data.wasRest ? ' Your bank had given you the rest, so the files of this order are no longer available.' : ''}`,
      button: 'View my order',
      facts: [
        ['Refunded now', part],
        ['Refunded in all', `${formatMoney(total, order.currency)} of ${all}`],
        ...orderFacts(order),
      ],
    }
  },
  refund_failed: (order, data) => ({
    subject: `Your refund${named(order)} did not arrive`,
    title: 'Your bank did not take the refund.',
    text: `We told you of a refund of ${money(order, data)}. Your bank has sent it back to us, as happens with an account or a card that is closed. ${order.seller} knows, and will find another way: please answer when they write to you.`,
    button: 'View my order',
    facts: [['Amount', money(order, data)], ...orderFacts(order)],
  }),
  duplicate_refunded: (order, data) => ({
    subject: `A second payment${named(order)} was sent back`,
    title: 'You paid once. We sent the second payment back.',
    text: `Your bank charged you twice for ${order.productName}. The second payment was sent back at once; it can take your bank a few days to show it. Your purchase is not touched.`,
    button: 'View my order',
    facts: [['Sent back', money(order, data)], ...orderFacts(order)],
  }),
  payment_returned: (order, data) => ({
    subject: `Your payment${named(order)} was sent back`,
    title: 'Your payment was sent back.',
    text: `It did not match the price of ${order.productName}, so ${order.seller} has sent it back. It can take your bank a few days to show it. You are welcome to order again.`,
    button: 'View my order',
    facts: [['Sent back', money(order, data)], ...orderFacts(order)],
  }),
  needs_review: (order, data) => ({
    subject: `We’re reviewing your payment${named(order)}`,
    title: 'We received another amount than the price.',
    text: `${money(order, data)} arrived for ${order.productName}, which costs ${formatMoney(order.amountMinor, order.currency)}. ${order.seller} is reviewing it and will e-mail you. Your money is safe, and nothing more is taken. You get the files as soon as this is settled.`,
    button: 'View my order',
    facts: [
      ['Received', money(order, data)],
      ['Price', formatMoney(order.amountMinor, order.currency)],
      ...orderFacts(order),
    ],
  }),
  disputed: (order, data) => ({
    subject: `About your payment${named(order)}`,
    title: 'Your bank told us that you dispute a payment.',
    text: `While your bank looks at the payment for ${order.productName}, its files cannot be downloaded. If you did not mean to dispute it, tell your bank: the line on your statement reads ${order.statementDescriptor}.`,
    button: 'View my order',
    facts: [['Amount', money(order, data)], ...orderFacts(order)],
  }),
  dispute_won: (order, data) => ({
    subject: `Your files${named(order, 'of')} are back`,
    title: 'Your bank has closed the dispute. The files are yours again.',
    text: `The payment for ${order.productName} stands, and its files can be downloaded again.`,
    button: 'Open my files',
    facts: [['Amount', money(order, data)], ...orderFacts(order)],
  }),
  dispute_lost: (order, data) => ({
    subject: `${data.files ? 'Part of your' : 'Your'} payment${named(order)} was reversed`,
    title: data.files ? 'Your bank has given you part of the money back.' : 'Your bank has given you the money back.',
    text: `The dispute about your payment for ${order.productName} is closed, and the money is with your bank. ${AFTER_LOSS[data.files ?? 'ended']}`,
    button: 'View my order',
    facts: [['Amount', money(order, data)], ...orderFacts(order)],
  }),
  // This mail does not name the new address, because a stranger may read it. It does not name the seller either: a thief with the
  // seller's session could choose a name for which a mail server refuses the mail.
  email_changed: (order) => ({
    subject: `Your order${named(order, 'of')} has another address now`,
    title: 'This order has moved to another mailbox.',
    text: 'The seller was told that this address was a mistake, and the reader of the right one has confirmed it. From now on the order, its receipt and its files open with that address only. Did you buy it, and did you not ask for this? Then write to the seller: your receipt names the address.',
    button: 'View the order',
    facts: [['Product', order.productName], ...orderFacts(order)],
  }),
  // buyers who have their money back get it too: they can still have a copy
  file_withdrawn: (order) => ({
    subject: `A file${named(order, 'of')} was recalled`,
    title: 'Please read this before you open a file again.',
    text: `${order.fileName ?? 'A file'} of ${order.productName}, which you ${isFree(order) ? 'got' : 'bought'} from ${order.seller}, was recalled and cannot be downloaded any more. This is why: “${order.withdrawnReason ?? ''}” If you have a copy, do not open it unless that says you may.`,
    button: 'View my order',
    facts: [
      ['File', order.fileName ?? ''],
      ['Product', order.productName],
      ['Order', numberOf(order)],
    ],
  }),
}

/** The amount that the mail is about: by default the whole order's. */
export const money = (order: MailOrder, data: MailData): string =>
  formatMoney(data.amountMinor ?? order.amountMinor, data.currency ?? order.currency)

/** Tells the buyer whether the files stay after a lost dispute. They can, if it was about a part of the price. */
const AFTER_LOSS: Record<NonNullable<MailData['files']> | 'ended', string> = {
  stay: 'It is a part of the price, so you keep the files.',
  on_hold: 'It is a part of the price. The files stay on hold until your bank has decided about the other dispute.',
  ended: 'The files of this order are no longer available.',
}

const isFree = ({ amountMinor }: MailOrder): boolean => amountMinor === 0
const descriptorFacts = (order: MailOrder): MailText['facts'] => [['On your statement', order.statementDescriptor]]
/** A medium that the buyer can keep has to repeat it. */
const consentFacts = ({ consents }: MailOrder): MailText['facts'] =>
  consentsView(consents).map(({ text, at }) => ['You agreed', `${text} (${at.slice(0, 19).replace('T', ' ')} UTC)`])

const orderFacts = (order: MailOrder): MailText['facts'] => [...descriptorFacts(order), ['Order', numberOf(order)]]

/** The files by name, if they are few and the seller is trusted. */
function fileFacts({ delivered, fileNames, fileCount }: MailOrder): MailText['facts'] {
  if (!delivered) return []
  const more = fileCount - fileNames.length
  const counted = `${more} ${fileNames.length > 0 ? 'more' : more === 1 ? 'file' : 'files'}`
  return [[fileCount === 1 ? 'File' : 'Files', [...fileNames, ...(more > 0 ? [counted] : [])].join(', ')]]
}

/** As the pages name them, see web/ui/words.ts. */
const RAIL_NAMES: Record<Rail, string> = {
  card: 'Card',
  debit: 'Debit',
  bank_transfer: 'Bank transfer',
  upi: 'UPI',
  apple_pay: 'Apple Pay',
  google_pay: 'Google Pay',
  wallet: 'Wallet',
}
const railFacts = ({ rail }: MailOrder): MailText['facts'] => (rail ? [['Paid with', RAIL_NAMES[rail]]] : [])

/** The price, and the discount. */
const discountFacts = ({ amountMinor, discountMinor, currency }: MailOrder): MailText['facts'] =>
  discountMinor > 0
    ? [
        ['Price', formatMoney(amountMinor + discountMinor, currency)],
        ['Discount', formatMoney(-discountMinor, currency)],
      ]
    : []
