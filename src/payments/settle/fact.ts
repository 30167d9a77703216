import type { PaymentSnapshot, ProcessorEvent } from '../../processors/processor.ts'

/** A processor's snapshot of a payment. `event` is the notification that brought it; without one, we asked. */
export interface Fact {
  processor: string
  payment: PaymentSnapshot
  event?: ProcessorEvent | undefined
}

/**
 * `applied`: the fact had something new, and settle wrote it. `repeat`: nothing was new. `unknown_payment`: the payment is not ours, and
 * nothing happens. `too_early`: the fact names an order of ours whose payment we have not stored yet, so it must come again.
 */
export type Outcome = 'applied' | 'repeat' | 'unknown_payment' | 'too_early'

/** The outcome of an event that is stored without settling a payment. */
export type RecordedAs = 'ignored' | 'unknown_payment' | 'repeat'
