import type { EventType } from '../../events/event-types.ts'
import type { DueDocument } from '../../invoices/issue.ts'
import type { MailData } from '../../orders/mails/mail-data.ts'
import type { Transfer } from '../../ledger/transfers.ts'
import type { Move, State } from '../../orders/states.ts'
import type { Rail } from '../../processors/rails.ts'
import type { Capture, DisputeFact, PaymentSnapshot, RefundFact } from '../../processors/processor.ts'
import type { TransferFact } from '../../processors/seller-accounts.ts'

/** An order and one of its payments, as the database holds them. Settle keeps the order locked while it decides. */
export interface PaymentRecord {
  orderId: string
  sellerId: string
  state: State
  amountMinor: number
  currency: string
  feeMinor: number
  /** The tax within the amount; 0 where nothing is said about tax. */
  taxMinor: number
  refundedMinor: number
  /** The seller has, or had, invoices switched on. */
  hasInvoices?: boolean
  paymentId: string
  processor: string
  processorPaymentId: string
  paymentState: PaymentSnapshot['state']
  declines: number
  captures: { id: string; purpose: CapturePurpose; amountMinor: number; currency: string }[]
  /** `key` is our own id of a refund. `id` is the processor's, and null until the processor has answered. */
  refunds: {
    id: string | null
    key: string
    amountMinor: number
    captureId: string
    state: 'requested' | 'succeeded' | 'failed'
  }[]
  /** `amountMinor` is the amount that the first report of the dispute took out of reach. `lostMinor` of it is gone for good. */
  disputes: {
    id: string
    captureId: string
    amountMinor: number
    state: DisputeFact['state']
    lostMinor: number
    respondBy?: string | null | undefined
  }[]
  /** The seller's account to which the processor passes the price on, without the fee. Undefined: it does not. */
  payee?: string | undefined
  transfers?: { id: string; state: TransferFact['state']; amountMinor: number; reversedMinor: number }[]
  /** The money that belongs at the payee's account, and the money there, as the database has it. */
  pass?: Pass | null
}
/** `dueMinor` of a sale belongs at the seller's account by the books, and `passedMinor` is there. */
export interface Pass {
  dueMinor: number
  passedMinor: number
}
export type CapturePurpose = 'sale' | 'duplicate' | 'mismatch'

/** The rows to write after a snapshot, in the words of the tables. */
export interface Effects {
  moves: { move: Move; to: State; rail?: Rail; paidAt?: string; refundId?: string }[]
  /** The order's new total of refunds, when a refund changed it. */
  refundedMinor?: number
  payment?: { state: PaymentSnapshot['state']; declines: number }
  captures: (Capture & { purpose: CapturePurpose })[]
  /** `row` is our own id of the refund, when we asked for it. */
  refunds: (RefundFact & { row?: string | undefined })[]
  /** Money to send back at once. */
  returns: { captureId: string; amountMinor: number }[]
  disputes: DisputeFact[]
  /** Transfers of the processor that are new or have changed. */
  transfersAt: TransferFact[]
  /** The money that belongs at the seller's account and the money there, when one of the two has changed. */
  pass?: Pass
  timeline: string[]
  /** The seller's program hears of these beside the moves: money that moved while the order stayed in its state. */
  events: { type: EventType; refundId?: string }[]
  transfers: Transfer[]
  /** Money for which the seller issues an invoice or a credit note. */
  documents: Omit<DueDocument, 'orderId'>[]
  mails: MailData[]
  /** The bank needs days, or the processor gave the buyer days to pay. The order waits that long. */
  waitsForBank: boolean
  /** The bank has said no after it had been at work. The order no longer waits for it. */
  failsLate: boolean
  /** The bank declined the payment so often that somebody may be trying stolen cards. The processor must close it. */
  closes: boolean
}

/** A decision in the making. Each step reads `record` and brings it up to date, and adds to `effects`. */
export interface Draft {
  /** A copy that belongs to this decision alone. */
  readonly record: PaymentRecord
  readonly effects: Effects
  /** Moves the order, and returns false when its state forbids the move. */
  readonly move: (name: Move, more?: Omit<Effects['moves'][number], 'move' | 'to'>) => boolean
}

/** The fields that all ledger entries for one event at the processor have in common. */
export const entryFor = (record: PaymentRecord, what: string, id: string) => ({
  cause: `${record.processor}:${what}:${id}`,
  orderId: record.orderId,
  sellerId: record.sellerId,
  processor: record.processor,
})

/** The record of a payment, with the changes that a fact about another payment of the order made. `next` is the record of that payment. */
export function withOrderOf(record: PaymentRecord, next: PaymentRecord): PaymentRecord {
  const { state, refundedMinor, captures, refunds, disputes, transfers, pass } = next
  const order = { ...record, state, refundedMinor, captures, refunds, disputes }
  // payments at other processors know nothing of the money that this one passes on
  return record.payee && next.payee ? { ...order, transfers, pass } : order
}
