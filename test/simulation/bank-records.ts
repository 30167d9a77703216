import type { RazorpayServer } from '../stand-ins/razorpay-server.ts'
import type { StripeBank } from '../stand-ins/stripe-bank.ts'
import type { StripeServer } from '../stand-ins/stripe-server.ts'

// The real movements of money, as the banks know them: read from the memory of the processors' servers, and never by the tested
// code.

export interface BankCapture {
  id: string
  amountMinor: number
  currency: string
}
export interface BankRefund {
  id: string
  captureId: string
  amountMinor: number
  state: 'pending' | 'succeeded' | 'failed'
  /** Our own key for it, if we requested it. */
  key: string | undefined
}
export interface BankDispute {
  id: string
  captureId: string
  amountMinor: number
  state: 'open' | 'won' | 'lost'
  /** The part that is gone for good. */
  lostMinor: number
}
export interface BankPayment {
  /** With the seller's account, where the payment lies there: `stripe@acct_1`. */
  processor: string
  /** Stripe's, of the account where the payment lies. Undefined: it is Razorpay's. */
  bank?: StripeBank
  id: string
  orderId: string
  amountMinor: number
  currency: string
  /** A buyer with its client secret can pay it now. */
  payable: boolean
  /**
   * Set when the service has received the payment's secret: how often Stripe had forgotten its idempotency keys when it carried
   * out the call. While Stripe remembers a key, starting an attempt again gives the same payment.
   */
  startedAfter?: number
  atWork: boolean
  captures: BankCapture[]
  refunds: BankRefund[]
  disputes: BankDispute[]
}

/** Stripe counts these in hundredths that do not exist (https://docs.stripe.com/currencies). */
export const STRIPE_FACTOR: Record<string, number> = { ISK: 100 }
const factorOf = (currency: string) => STRIPE_FACTOR[currency.toUpperCase()] ?? 1
const PAYABLE = new Set(['requires_payment_method', 'requires_confirmation', 'requires_action'])

/** Stripe's data of the service's account, and of all accounts of sellers. */
export const stripeBanks = ({ bank, connect }: StripeServer): StripeBank[] => [bank, ...connect.banks()]

export const stripePayments = (server: StripeServer, orderIds: ReadonlySet<string>): BankPayment[] =>
  stripeBanks(server).flatMap((bank) => paymentsAt(bank, server, orderIds))

function paymentsAt(bank: StripeBank, { startedPayments }: StripeServer, orderIds: ReadonlySet<string>): BankPayment[] {
  return bank.paymentIntents
    .filter(({ metadata }) => orderIds.has(metadata['order_id']))
    .map((intent): BankPayment => {
      const of = ({ payment_intent: id }: Record<string, any>) => id === intent['id']
      const minor = (amount: number) => amount / factorOf(intent['currency'])
      const charges = bank.charges.filter(of)
      const startedAfter = startedPayments.get(intent['id'])
      return {
        processor: bank.platform ? `stripe@${bank.accountId}` : 'stripe',
        bank,
        ...(startedAfter !== undefined && { startedAfter }),
        id: intent['id'],
        orderId: intent['metadata'].order_id,
        amountMinor: minor(intent['amount']),
        currency: intent['currency'].toUpperCase(),
        payable: PAYABLE.has(intent['status']),
        atWork: intent['status'] === 'processing',
        captures: charges
          .filter(({ status, amount_captured: amount }) => status === 'succeeded' && amount > 0)
          .map(({ id, amount_captured: amount, currency }) => ({
            id,
            amountMinor: minor(amount),
            currency: currency.toUpperCase(),
          })),
        refunds: bank.refunds.filter(of).map(({ id, charge, amount, status, metadata }) => ({
          id,
          captureId: charge,
          amountMinor: minor(amount),
          state: status === 'succeeded' || status === 'failed' ? status : 'pending',
          key: metadata.refund_id,
        })),
        disputes: bank.disputes
          .filter((one) => of(one) && !one['status'].startsWith('warning_') && one['status'] !== 'prevented')
          .map(({ id, charge, amount, status, balance_transactions: moved }) => ({
            id,
            captureId: charge,
            amountMinor: minor(amount),
            state: status === 'won' || status === 'lost' ? status : 'open',
            lostMinor: status === 'lost' ? minor(moved.reduce((sum: number, one: any) => sum - one.amount, 0)) : 0,
          })),
      }
    })
}

export function razorpayPayments(bank: RazorpayServer, orderIds: ReadonlySet<string>): BankPayment[] {
  return [...bank.orders.values()]
    .filter(({ notes }) => orderIds.has(notes.order_id))
    .map((order): BankPayment => {
      const payments = [...bank.payments.values()].filter(({ order_id: id }) => id === order.id)
      const captured = payments.filter((one) => one.captured)
      const isOf = ({ payment_id: id }: Record<string, any>) => captured.some((one) => one.id === id)
      return {
        processor: 'razorpay',
        id: order.id,
        orderId: order.notes.order_id,
        amountMinor: order.amount,
        currency: order.currency,
        payable: order.status !== 'paid',
        atWork: payments.some(({ status }) => status === 'authorized'),
        captures: captured.map(({ id, amount, currency }) => ({ id, amountMinor: amount, currency })),
        refunds: [...bank.refunds.values()].filter(isOf).map(({ id, payment_id, amount, status, receipt }) => ({
          id,
          captureId: payment_id,
          amountMinor: amount,
          state: status === 'processed' ? 'succeeded' : status,
          key: receipt ?? undefined,
        })),
        disputes: [...bank.disputes.values()]
          .filter((one) => isOf(one) && (one.phase === 'chargeback' || one.status === 'lost'))
          .map(({ id, payment_id, amount, status, amount_deducted: deducted }) => ({
            id,
            captureId: payment_id,
            amountMinor: amount,
            state: status === 'won' || status === 'lost' ? status : 'open',
            lostMinor: status === 'lost' ? deducted : 0,
          })),
      }
    })
}
