import type { MailNews } from '../../orders/mails/news.ts'
import type { Transfer } from '../../ledger/transfers.ts'
import type { Move, State } from '../../orders/states.ts'
import type { Rail } from '../../processors/rails.ts'
import type { Capture, DisputeFact, PaymentSnapshot, RefundFact } from '../../processors/processor.ts'

/** What we know of an order and one of its payments, locked while we decide. */
export interface PaymentRecord {
  orderId: string
  sellerId: string
  state: State
  amountMinor: number
  currency: string
  feeMinor: number
  refundedMinor: number
  paymentId: string
  processor: string
  processorPaymentId: string
  paymentState: PaymentSnapshot['state']
  declines: number
  captures: { id: string; purpose: CapturePurpose; amountMinor: number; currency: string }[]
  /** `key` is our own id of a refund; the processor's is there once it has told us. */
  refunds: {
    id: string | null
    key: string
    amountMinor: number
    captureId: string
    state: 'requested' | 'succeeded' | 'failed'
  }[]
  /** `amountMinor` was held when we heard of it, and `lostMinor` of that is gone for good. */
  disputes: { id: string; captureId: string; amountMinor: number; state: DisputeFact['state']; lostMinor: number }[]
}
export type CapturePurpose = 'sale' | 'duplicate' | 'mismatch'

/** What follows from a snapshot: rows to write, in the words of the tables. */
export interface Effects {
  moves: { move: Move; to: State; rail?: Rail; paidAt?: string }[]
  /** The order's new total, where something was refunded. */
  refundedMinor?: number
  payment?: { state: PaymentSnapshot['state']; declines: number }
  captures: (Capture & { purpose: CapturePurpose })[]
  /** `row` is our own id, where it was us who asked. */
  refunds: (RefundFact & { row?: string | undefined })[]
  /** Money to send back at once. */
  returns: { captureId: string; amountMinor: number }[]
  disputes: DisputeFact[]
  timeline: string[]
  transfers: Transfer[]
  mails: MailNews[]
  /** The buyer's bank needs days, or the buyer was given some: the order waits that long. */
  waitsForBank: boolean
  /** It was declined so often that somebody tries cards: nobody may pay it any more. */
  closes: boolean
}

/** Whoever mistypes, or has an empty account, needs fewer. An order that was declined so often takes no other payment. */
export const MOST_DECLINES = 10

export type TryMove = (name: Move, more?: Omit<Effects['moves'][number], 'move' | 'to'>) => boolean

/** What every entry of the books about this order says, of a thing that happened at the processor. */
export const moneyOf = (known: PaymentRecord, what: string, id: string) => ({
  cause: `${known.processor}:${what}:${id}`,
  orderId: known.orderId,
  sellerId: known.sellerId,
  processor: known.processor,
})
