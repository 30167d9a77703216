import type { Stripe } from 'stripe'
import { connectedName } from '../connected.ts'
import type { Processor } from '../processor.ts'
import { refundTaken } from '../refusals.ts'
import { type StripeSettings, modeOf } from '../settings.ts'
import { stripeUnits, takesCurrency } from './amounts.ts'
import { checkAccount } from './check.ts'
import { ask, connectStripe, newDeadline } from './client.ts'
import { shapes } from './entities.ts'
import { ifChargedBack, isInAnotherState } from './errors.ts'
import { EVENTS_DAYS, eventsSince, movements } from './history.ts'
import { registerHost, registerHosts } from './hosts.ts'
import { fetchMethods } from './methods.ts'
import { payoutItems, payoutsSince } from './payouts.ts'
import { checkedMethods, railsFor, waitsForPayment } from './rails.ts'
import { checkedId, readObjects, readPaidObjects } from './read.ts'
import { refund } from './refund.ts'
import { returnFee } from './return-fee.ts'
import { sellerAccounts } from './seller-accounts.ts'
import { snapshotOf } from './snapshot.ts'
import { type Account, startPayment, waysOf } from './start.ts'
import { verifyEvent } from './notification.ts'

export interface StripeOptions extends StripeSettings {
  /** The beginning of our statement descriptors: the account's own shortened descriptor. */
  statementPrefix: string
  /** Returns the payment methods that the account offers, or undefined while they are unknown. */
  ways?: (() => readonly string[] | undefined) | undefined
  /** How long one call may take, with all its requests. */
  callMs?: number | undefined
}

/** All of the port but the parts that only our account has, or only a seller's. */
type AtOneAccount = Required<
  Omit<Processor, 'connected' | 'accounts' | 'returnFee' | 'payoutsSince' | 'payoutItems' | 'takeBack'>
>

/**
 * Payments by Stripe (https://docs.stripe.com/api), with its Payment Element in the browser. Each payment is a PaymentIntent. The
 * adapter reads its result from its charges, refunds and disputes. Calls fail with ProcessorUnavailable. At a seller's connected account
 * they are direct charges (https://docs.stripe.com/connect/direct-charges).
 */
export function stripeProcessor(
  options: StripeOptions,
): AtOneAccount & Required<Pick<Processor, 'connected' | 'accounts'>> {
  const { secretKey, publishableKey } = options
  if (modeOf(publishableKey) !== modeOf(secretKey))
    throw new Error('one of Stripe’s keys is for test payments and the other is not')
  const stripe = connectStripe(secretKey, options.apiUrl)
  const begin = () => newDeadline(options.callMs)
  return {
    ...atAccount(options, stripe, undefined),
    accounts: sellerAccounts(stripe, begin),
    connected(account) {
      const own = connectStripe(secretKey, options.apiUrl, account)
      return {
        ...atAccount(options, own, account),
        name: connectedName('stripe', account),
        payoutsSince: (since) => payoutsSince(own, modeOf(secretKey) === 'live', since),
        payoutItems: (id) => payoutItems(own, id),
        returnFee: (fee) => returnFee(stripe, own, fee, begin()),
      }
    },
  }
}

function atAccount(options: StripeOptions, stripe: Stripe, connected: string | undefined): AtOneAccount {
  const { secretKey, publishableKey, webhookSecrets, statementPrefix } = options
  const live = modeOf(secretKey) === 'live'
  const begin = () => newDeadline(options.callMs)
  const methods = checkedMethods(options.paymentMethodTypes)
  const account: Account = { stripe, live, publishableKey, connected, methods, statementPrefix, begin }
  const read = async (id: string, until = begin()) => snapshotOf(await readObjects(stripe, live, id, until))

  return {
    name: 'stripe',
    takes: takesCurrency,
    rails: (currency) => (takesCurrency(currency) ? railsFor(methods, currency, options.ways?.()) : []),
    startPayment: (payment) => startPayment(account, payment),
    formSetup(payment) {
      if (waitsForPayment(methods, payment.currency, options.ways?.())) return undefined
      const { allowed, excluded } = waysOf(account, payment)
      return {
        publishableKey,
        account: connected,
        unitsPerMinor: stripeUnits(payment.currency),
        allowedMethods: allowed,
        excludedMethods: excluded,
      }
    },
    async fetchPayment(id, reported) {
      const until = begin()
      const objects = await readPaidObjects(stripe, live, id, until, reported)
      return objects ? snapshotOf(objects) : read(id, until)
    },
    async cancelPayment(id) {
      const until = begin()
      try {
        await ask(shapes.paymentIntent, until, (sent) =>
          stripe.paymentIntents.cancel(checkedId(id), { cancellation_reason: 'abandoned' }, sent),
        )
      } catch (error) {
        // the payment is already paid, being paid or closed: its objects say which
        if (!isInAnotherState(error)) throw error
      }
      return read(id, until)
    },
    async refund(request) {
      const until = begin()
      await refund(stripe, live, request, until).catch(ifChargedBack)
      return read(request.processorPaymentId, until).catch(refundTaken)
    },
    signature: { header: 'stripe-signature', form: /^t=\d{1,12},(?:.*,)?v1=[0-9a-f]{64}(?:,|$)/ },
    verifyEvent: (body, headers) => verifyEvent(webhookSecrets, live, body, headers),
    eventsSince: (since) => eventsSince(stripe, live, since, connected),
    eventsDays: EVENTS_DAYS,
    movements: (from, to) => movements(stripe, from, to),
    fetchMethods: () => fetchMethods(stripe),
    registerHost: (host) => registerHost(stripe, host, begin()),
    registerHosts: (hosts) => registerHosts(stripe, hosts, begin),
    check: () => checkAccount(stripe, methods),
  }
}
