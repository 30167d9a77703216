import type { Status } from '../ui/api.ts'
import { wordsOf } from '../ui/language.ts'

const words = wordsOf('order')

type Headline = [title: string, text: string]

export const HEADLINES: Record<Status, Headline> = {
  pending: [words.pending, words.pendingText],
  processing: [words.processing, words.processingText],
  paid: [words.paid, words.paidText],
  partially_refunded: [words.partlyRefunded, words.partlyRefundedText],
  refunded: [words.refundedTitle, words.refundedText],
  disputed: [words.disputed, words.disputedText],
  charged_back: [words.chargedBack, words.chargedBackText],
  expired: [words.expired, words.expiredText],
  needs_review: [words.review, words.reviewText],
}

/** Delivered, and a refund of all of it is pending. The files have ended, and come back if the refund fails. */
export const FULL_REFUND_PENDING: Headline = [words.fullRefundPending, words.fullRefundPendingText]

/** Paid, and all its files were recalled. */
export const NOTHING_LEFT: Headline = [words.nothingLeft, words.nothingLeftText]

/** An order from the time when products without files could be on sale. */
export const NO_FILES: Headline = [words.noFiles, words.noFilesText]

/** The bank began to work on the payment and declined it afterwards. */
export const FAILED: Headline = [words.failed, words.failedText]

/** The operator has sent back a payment that did not match the price. */
export const SENT_BACK: Headline = [words.returned, words.returnedText]

/** A free order. */
export const FREE: Headline = [words.paid, words.freeText]

/** The latest event of a paid order, where the buyer should see it without searching. */
export const NEWS: Record<string, string> = {
  duplicate_refunded: words.newsDuplicate,
  refund_requested: words.newsRefund,
  refund_failed: words.newsRefundFailed,
}

export const HAPPENINGS: Record<string, string> = {
  created: words.didCreated,
  payment_declined: words.didDecline,
  payment_processing: words.didProcess,
  paid: words.didPaid,
  expired: words.didExpire,
  refund_requested: words.didRequestRefund,
  refund_failed: words.didFailRefund,
  refunded: words.didRefund,
  partially_refunded: words.didRefundPart,
  duplicate_refunded: words.didDuplicate,
  payment_returned: words.didReturn,
  needs_review: words.didReview,
  disputed: words.didDispute,
  dispute_won: words.didWin,
  charged_back: words.didChargeBack,
  partially_charged_back: words.didChargeBackPart,
}
