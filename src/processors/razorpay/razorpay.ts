import type { FindStored, Processor } from '../processor.ts'
import { refundTaken } from '../refusals.ts'
import type { RazorpaySettings } from '../settings.ts'
import { checkAccount } from './check.ts'
import { razorpayClient } from './client.ts'
import { eventsSince, movements } from './history.ts'
import { fetchMethods } from './methods.ts'
import { railsOf } from './rails.ts'
import { linkedAccounts } from './linked-accounts.ts'
import { readPayment, takeBack } from './read.ts'
import { refund } from './refund.ts'
import { startPayment } from './start.ts'
import { withBack } from './transfers.ts'
import { notificationVerifier } from './notification.ts'

export interface RazorpayOptions extends RazorpaySettings {
  /** Returns the payment methods that the account offers, or undefined while they are unknown. */
  ways?: (() => readonly string[] | undefined) | undefined
  /** For Orders that are too old to be read. */
  stored?: FindStored | undefined
  /** How long one call may take, with all its requests. */
  callMs?: number | undefined
}

/**
 * Payments by Razorpay, in rupees (https://razorpay.com/docs/api). Our payment is an Order at Razorpay, and a buyer can make any
 * number of payments on it. Both sides count paise. Calls fail with ProcessorUnavailable.
 */
export function razorpayProcessor(
  options: RazorpayOptions,
): Required<
  Omit<
    Processor,
    'formSetup' | 'registerHost' | 'registerHosts' | 'connected' | 'returnFee' | 'payoutsSince' | 'payoutItems'
  >
> {
  const visit = razorpayClient(options)
  const reading = { visit, stored: (orderId: string) => options.stored?.('razorpay', orderId) }
  return {
    name: 'razorpay',
    takes: (currency) => currency === 'INR',
    rails: (currency) => (currency === 'INR' ? railsOf(options.ways?.()) : []),
    startPayment: (payment) => startPayment(visit(), options.keyId, payment),
    fetchPayment: (id, _reported, options) => readPayment(reading, id, options),
    /**
     * Razorpay cannot close an Order: only its notes can change. So this reports it as canceled. A later payment still counts, and
     * the service refunds money that the order cannot take.
     */
    async cancelPayment(id) {
      const payment = await readPayment(reading, id)
      return payment.state === 'open' ? { ...payment, state: 'canceled' } : payment
    },
    async refund(wanted) {
      const ask = visit()
      await refund(ask, wanted)
      return readPayment(reading, wanted.processorPaymentId, { ask }).catch(refundTaken)
    },
    async takeBack(wanted) {
      const back = await takeBack(reading, wanted)
      const payment = await readPayment(reading, wanted.processorPaymentId, { needsTransfers: true })
      return { ...payment, transfers: payment.transfers?.map((one) => withBack(one, back[one.id])) }
    },
    accounts: linkedAccounts(visit),
    signature: { header: 'x-razorpay-signature', form: /^[0-9a-f]{64}$/i },
    verifyEvent: notificationVerifier(options.webhookSecrets),
    eventsSince: (since, onPage) => eventsSince(visit, since, onPage),
    eventsDays: Infinity,
    movements: (from, to) => movements(visit, from, to),
    fetchMethods: () => fetchMethods(visit()),
    check: () => checkAccount(options),
  }
}
