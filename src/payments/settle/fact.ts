import type { PaymentSnapshot, ProcessorEvent } from '../../processors/processor.ts'

/** What a processor said, and how we heard it: in a notification, or because we asked. */
export interface Fact {
  processor: string
  payment: PaymentSnapshot
  event?: ProcessorEvent | undefined
}

/**
 * `applied`: what was new in it is booked. `repeat`: nothing was new. `unknown_payment`: not a payment of ours: no effect.
 * `too_early`: it names an order of ours whose payment we have not stored yet: it must come again.
 */
export type Outcome = 'applied' | 'repeat' | 'unknown_payment' | 'too_early'
