import type { Destination } from '../destination.ts'

/** One payment in a file for the bank. */
export interface Payment {
  /** Unique, 35 characters at most. The bank repeats it with its answers, in a SEPA file as EndToEndId. */
  reference: string
  destination: Destination
  amountMinor: number
  currency: string
}

/** A payment that a SEPA file can hold. All others go into a CSV. */
export type SepaPayment = Payment & { destination: Extract<Destination, { kind: 'iban' }> }

/** Euros to an account with an IBAN. The payout details take for euros only IBANs of SEPA countries. */
export const isSepa = (payment: Payment): payment is SepaPayment =>
  payment.currency === 'EUR' && payment.destination.kind === 'iban'
