import type { Locale } from '../../kit/locales.ts'
import { formatMoney, fullPriceOf } from '../../kit/money.ts'
import type { Rail } from '../../processors/rails.ts'
import type { Reading } from '../../words/mail-language.ts'
import { exactTimeText, say, saySome, sentences, timeText } from '../../words/say.ts'
import { consentsView } from '../consents/consents.ts'
import { type BuyerMail, type MailData, type MailOrder, type MailText, numberOf } from './mail-data.ts'
import { taxFacts } from './tax-facts.ts'

// A buyer knows the shop and the bank, but not the processor, so these mails do not name it.

/** `about`: the subject, to which the product's name is added. */
interface BuyerMailText extends Omit<MailText, 'subject'> {
  about: string
  button: string
}

/**
 * The texts of a mail to a buyer, in the buyer's language. An untrusted seller's product could be called anything, so no subject names it.
 */
export function buyerMail(
  kind: BuyerMail,
  order: MailOrder,
  data: MailData,
  reading: Reading,
): MailText & { button: string } {
  const { about, ...texts } = BUYER_MAILS[kind](order, data, reading)
  const { named } = reading.words.mail
  const subject = order.isTrusted ? say(named, { subject: about, product: order.productName }) : about
  return { subject, ...texts }
}

export const BUYER_MAILS: Record<BuyerMail, (order: MailOrder, data: MailData, reading: Reading) => BuyerMailText> = {
  receipt(order, { late }, reading) {
    const { mail, ui, order: page } = reading.words
    const names = { product: order.productName, seller: order.seller }
    const text = [
      late && mail.receiptLate,
      say(isFree(order) ? mail.got : mail.bought, names),
      order.delivered ? mail.filesAtAnyTime : mail.filesNotNow,
    ]
    return {
      about: mail.receipt,
      title: order.delivered ? mail.receiptFiles : isFree(order) ? mail.receiptFree : mail.receiptPaid,
      text: sentences(text),
      button: order.delivered ? mail.openFiles : mail.viewOrder,
      facts: [
        [mail.product, order.productName],
        ...fileFacts(order, reading),
        ...discountFacts(order, reading),
        [mail.amount, isFree(order) ? ui.free : price(order, reading)],
        ...taxFacts(order, reading),
        ...descriptorFacts(order, reading),
        [isFree(order) ? page.ordered : ui.paid, order.paidAt ? timeText(order.paidAt, reading.locale) : ''],
        ...railFacts(order, reading),
        ...numberFacts(order, reading),
        ...consentFacts(order, reading),
      ],
    }
  },
  payment_failed(order, _data, reading) {
    const { mail } = reading.words
    return {
      about: mail.failed,
      title: mail.failedTitle,
      text: say(mail.failedText, { product: order.productName }),
      button: mail.payAgain,
      facts: [[mail.product, order.productName], [mail.amount, price(order, reading)], ...numberFacts(order, reading)],
    }
  },
  refunded(order, data, reading) {
    const { mail } = reading.words
    const total = data.refundedMinor ?? order.refundedMinor
    const whole = total === order.amountMinor
    const all = price(order, reading)
    const part = formatMoney(data.amountMinor ?? total, order.currency, reading.locale)
    const names = { all, part, seller: order.seller }
    const files = order.delivered ? mail.keepFiles : data.wasRest && mail.restBefore
    return {
      about: mail.refund,
      title: whole ? mail.refundTitle : mail.refundPartTitle,
      text: whole ? say(mail.refundText, names) : sentences([say(mail.refundPartText, names), files]),
      button: mail.viewOrder,
      facts: [
        [mail.refundedNow, part],
        [mail.refundedInAll, say(mail.partOf, { part: formatMoney(total, order.currency, reading.locale), all })],
        ...orderFacts(order, reading),
      ],
    }
  },
  refund_failed(order, data, reading) {
    const { mail } = reading.words
    return {
      about: mail.refundFailed,
      title: mail.refundFailedTitle,
      text: say(mail.refundFailedText, { amount: money(order, data, reading.locale), seller: order.seller }),
      button: mail.viewOrder,
      facts: [[mail.amount, money(order, data, reading.locale)], ...orderFacts(order, reading)],
    }
  },
  duplicate_refunded(order, data, reading) {
    const { mail } = reading.words
    return {
      about: mail.twice,
      title: mail.twiceTitle,
      text: say(mail.twiceText, { product: order.productName }),
      button: mail.viewOrder,
      facts: [[mail.sentBack, money(order, data, reading.locale)], ...orderFacts(order, reading)],
    }
  },
  payment_returned(order, data, reading) {
    const { mail } = reading.words
    // the operator accepted another payment of this order
    const isFurther = order.paidAt !== null
    const title = isFurther ? mail.twice : mail.returned
    return {
      about: title,
      title,
      text: say(isFurther ? mail.furtherText : mail.returnedText, { product: order.productName, seller: order.seller }),
      button: mail.viewOrder,
      facts: [[mail.sentBack, money(order, data, reading.locale)], ...orderFacts(order, reading)],
    }
  },
  needs_review(order, data, reading) {
    const { mail, ui } = reading.words
    const amount = money(order, data, reading.locale)
    const names = { amount, product: order.productName, price: price(order, reading), seller: order.seller }
    return {
      about: mail.review,
      title: mail.reviewTitle,
      text: say(mail.reviewText, names),
      button: mail.viewOrder,
      facts: [[mail.received, amount], [ui.price, price(order, reading)], ...orderFacts(order, reading)],
    }
  },
  disputed(order, data, reading) {
    const { mail } = reading.words
    const { productName: product, statementDescriptor: line } = order
    return {
      about: mail.disputed,
      title: mail.disputedTitle,
      text: line ? say(mail.disputedText, { product, line }) : say(mail.disputedNoLine, { product }),
      button: mail.viewOrder,
      facts: [[mail.amount, money(order, data, reading.locale)], ...orderFacts(order, reading)],
    }
  },
  dispute_won(order, data, reading) {
    const { mail } = reading.words
    return {
      about: mail.won,
      title: mail.wonTitle,
      text: say(mail.wonText, { product: order.productName }),
      button: mail.openFiles,
      facts: [[mail.amount, money(order, data, reading.locale)], ...orderFacts(order, reading)],
    }
  },
  dispute_lost(order, data, reading) {
    const { mail } = reading.words
    // The files can stay if the dispute was about a part of the price.
    const files = { stay: mail.lostFilesStay, on_hold: mail.lostFilesWait, ended: mail.lostFilesEnd }
    return {
      about: data.files ? mail.lostPart : mail.lost,
      title: data.files ? mail.lostPartTitle : mail.lostTitle,
      text: sentences([say(mail.lostText, { product: order.productName }), files[data.files ?? 'ended']]),
      button: mail.viewOrder,
      facts: [[mail.amount, money(order, data, reading.locale)], ...orderFacts(order, reading)],
    }
  },
  // This mail does not name the new address, because a stranger may read it. It does not name the seller either: a thief with the
  // seller's session could choose a name for which a mail server refuses the mail.
  email_changed(order, _data, reading) {
    const { mail } = reading.words
    return {
      about: mail.moved,
      title: mail.movedTitle,
      text: mail.movedText,
      button: mail.viewOrder,
      facts: [[mail.product, order.productName], ...orderFacts(order, reading)],
    }
  },
  // buyers who have their money back get it too: they can still have a copy
  file_withdrawn(order, _data, reading) {
    const { mail } = reading.words
    const names = { product: order.productName, seller: order.seller, reason: order.recallReason ?? '' }
    return {
      about: mail.recall,
      title: mail.recallTitle,
      text: say(mail.recallText, { ...names, file: order.fileName ?? mail.aFile }),
      button: mail.viewOrder,
      facts: [[mail.file, order.fileName ?? ''], [mail.product, order.productName], ...numberFacts(order, reading)],
    }
  },
}

/** The amount that the mail is about: by default the whole order's. */
export const money = (order: MailOrder, data: MailData, locale?: Locale): string =>
  formatMoney(data.amountMinor ?? order.amountMinor, data.currency ?? order.currency, locale)

type Facts = MailText['facts']

const isFree = ({ amountMinor }: MailOrder): boolean => amountMinor === 0
const price = ({ amountMinor, currency }: MailOrder, { locale }: Reading): string =>
  formatMoney(amountMinor, currency, locale)
const descriptorFacts = ({ statementDescriptor: line }: MailOrder, { words }: Reading): Facts =>
  line === null ? [] : [[words.ui.onStatement, line]]
const numberFacts = (order: MailOrder, { words }: Reading): Facts => [[words.ui.orderNumber, numberOf(order)]]
const orderFacts = (order: MailOrder, reading: Reading): Facts => [
  ...descriptorFacts(order, reading),
  ...numberFacts(order, reading),
]
/** A medium that the buyer can keep has to repeat it. */
const consentFacts = ({ consents }: MailOrder, { locale, words }: Reading): Facts =>
  consentsView(consents).map(({ text, at }) => [
    words.mail.youAgreed,
    `${text} (${exactTimeText(new Date(at), locale)})`,
  ])

/** The files by name, if they are few and the seller is trusted. */
function fileFacts({ delivered, fileNames, fileCount }: MailOrder, { locale, words: { mail } }: Reading): Facts {
  if (!delivered) return []
  const more = fileCount - fileNames.length
  const counted = saySome(locale, fileNames.length > 0 ? mail.moreFiles : mail.fileCount, more)
  return [[fileCount === 1 ? mail.file : mail.files, [...fileNames, ...(more > 0 ? [counted] : [])].join(', ')]]
}

function railFacts({ rail }: MailOrder, { words: { ui, order } }: Reading): Facts {
  const names: Record<Rail, string> = {
    card: ui.card,
    debit: ui.debit,
    bank_transfer: ui.bankTransfer,
    upi: ui.upi,
    apple_pay: ui.applePay,
    google_pay: ui.googlePay,
    wallet: ui.wallet,
  }
  return rail ? [[order.paidWith, names[rail]]] : []
}

/** The discount, after the price before it. */
function discountFacts(
  { amountMinor, discountMinor, tax, currency }: MailOrder,
  { locale, words: { ui } }: Reading,
): Facts {
  const fullMinor = fullPriceOf(amountMinor, discountMinor, tax?.minor)
  return [
    ...(fullMinor === undefined ? [] : [[ui.price, formatMoney(fullMinor, currency, locale)] as Facts[number]]),
    ...(discountMinor > 0 ? [[ui.discount, formatMoney(-discountMinor, currency, locale)] as Facts[number]] : []),
  ]
}
