import type { Stripe } from 'stripe'
import {
  ChargedBack,
  type PaymentSnapshot,
  PaymentUnknown,
  type Processor,
  ProcessorUnavailable,
  refundTaken,
} from '../processor.ts'
import { type StripeSettings, modeOf } from '../settings.ts'
import { takesCurrency, toStripe } from './amounts.ts'
import { checkAccount } from './check.ts'
import {
  type Deadline,
  StripeRefused,
  ask,
  askWithKey,
  connectStripe,
  isMissing,
  listed,
  newDeadline,
  unlessMissing,
} from './client.ts'
import { verifyEvent } from './webhook.ts'
import { EVENTS_DAYS, eventsSince, movements } from './history.ts'
import { checkedMethods, railsFor } from './rails.ts'
import { fetchMethods } from './methods.ts'
import { type Charge, type Dispute, type Refund, shapes } from './entities.ts'
import { type Papers, REFUND_ID, isCapture, snapshotOf } from './snapshot.ts'
import { type Account, startPayment } from './start.ts'

export interface StripeOptions extends StripeSettings {
  /** What our statement descriptors begin with: the account's own shortened descriptor. */
  statementPrefix: string
  /** Returns the ways of paying that the account offers, or undefined while they are unknown. */
  ways?: (() => readonly string[] | undefined) | undefined
  /** How long one call may take, with all its requests. */
  callMs?: number | undefined
}

/**
 * Payments by Stripe (https://docs.stripe.com/api), with its Payment Element in the browser. Each payment is a PaymentIntent. The
 * adapter reads its result from its charges, refunds and disputes. Calls fail with ProcessorUnavailable.
 */
export function stripeProcessor(options: StripeOptions): Required<Processor> {
  const { secretKey, publishableKey, webhookSecrets } = options
  const live = modeOf(secretKey) === 'live'
  if (modeOf(publishableKey) !== modeOf(secretKey))
    throw new Error('one of Stripe’s keys is for test payments and the other is not')
  const stripe = connectStripe(secretKey, options.apiUrl)
  const begin = () => newDeadline(options.callMs)
  const methods = checkedMethods(options.paymentMethodTypes)
  const account: Account = { stripe, live, publishableKey, methods, statementPrefix: options.statementPrefix, begin }
  const read = async (id: string, until = begin()) => snapshotOf(await papersOf(stripe, live, id, until))

  return {
    name: 'stripe',
    takes: takesCurrency,
    rails: (currency) => (takesCurrency(currency) ? railsFor(methods, currency, options.ways?.()) : []),
    startPayment: (payment) => startPayment(account, payment),
    async fetchPayment(id, told) {
      const until = begin()
      const papers = await papersOfSuccess(stripe, live, id, until, told)
      return papers ? snapshotOf(papers) : read(id, until)
    },
    async cancelPayment(id) {
      const until = begin()
      try {
        await ask(shapes.paymentIntent, until, (sent) =>
          stripe.paymentIntents.cancel(checkedId(id), { cancellation_reason: 'abandoned' }, sent),
        )
      } catch (error) {
        // the payment is already paid, being paid or closed: the papers say which
        if (!(error instanceof StripeRefused && error.code === 'payment_intent_unexpected_state')) throw error
      }
      return read(id, until)
    },
    async refund(wanted): Promise<PaymentSnapshot> {
      const until = begin()
      await sendBack(stripe, live, wanted, until).catch(ifChargedBack)
      return read(wanted.processorPaymentId, until).catch(refundTaken)
    },
    signature: { header: 'stripe-signature', form: /^t=\d{1,12},(?:.*,)?v1=[0-9a-f]{64}(?:,|$)/ },
    verifyEvent: (body, headers) => verifyEvent(webhookSecrets, live, body, headers),
    eventsSince: (since) => eventsSince(stripe, live, since),
    eventsDays: EVENTS_DAYS,
    movements: (from, to) => movements(stripe, from, to),
    fetchMethods: () => fetchMethods(stripe),
    check: () => checkAccount(stripe, methods),
  }
}

interface Asked {
  payment_intent: string
  limit: number
  starting_after?: string
}

/** Reads as few papers as possible: most payments are asked about before the buyer has tried to pay. */
async function papersOf(
  stripe: Stripe,
  live: boolean,
  id: string,
  until: Deadline,
  { allRefunds = false } = {},
): Promise<Papers> {
  const intent = await ask(shapes.paymentIntent, until, (sent) =>
    stripe.paymentIntents.retrieve(checkedId(id), {}, sent),
  ).catch(unlessMissing)
  if (intent.id !== id || intent.livemode !== live) throw new ProcessorUnavailable('Stripe told of another payment')
  const list = listsOf(stripe, id, until)
  // a buyer waits for this, so the requests that are certainly needed run at the same time
  const paid = allRefunds || intent.status === 'succeeded'
  const [charges, refundsAtOnce] = await Promise.all([
    intent.latest_charge ? list.charges() : [],
    paid ? list.refunds() : undefined,
  ])
  const [refunds, disputes] = await Promise.all([
    // reads them even if the charge shows no refunded amount, because that amount leaves out failed refunds
    refundsAtOnce ?? (charges.some(isCapture) ? list.refunds() : []),
    charges.some(({ disputed }) => disputed) ? list.disputes() : [],
  ])
  return { intent, charges, refunds, disputes }
}

/**
 * Reads the papers of a payment that a notification reports as succeeded. That state is final, so the adapter does not read the
 * intent again. It reads refunds only if a charge shows a refunded amount: a failed refund has a notification of its own. Undefined
 * when the notification reports another state, or no charge of our account confirms it.
 */
async function papersOfSuccess(
  stripe: Stripe,
  live: boolean,
  id: string,
  until: Deadline,
  told: unknown,
): Promise<Papers | undefined> {
  if (!shapes.paymentIntent.Check(told) || told.status !== 'succeeded' || told.latest_charge === null) return undefined
  if (told.id !== id || told.livemode !== live) throw new ProcessorUnavailable('Stripe told of another payment')
  const list = listsOf(stripe, id, until)
  const charges = await list.charges().catch((error: unknown) => {
    if (isMissing(error)) return []
    throw error
  })
  const captures = charges.filter(isCapture)
  if (captures.length === 0) return undefined
  const [refunds, disputes] = await Promise.all([
    captures.some((charge) => charge.amount_refunded > 0) ? list.refunds() : [],
    charges.some(({ disputed }) => disputed) ? list.disputes() : [],
  ])
  return { intent: told, charges, refunds, disputes }
}

/** The lists that belong to one payment. */
function listsOf(stripe: Stripe, id: string, until: Deadline) {
  const all = async <Item extends Charge | Refund | Dispute>(
    shape: Parameters<typeof listed<Item>>[0],
    list: (asked: Asked, sent: { timeout: number }) => Promise<unknown>,
  ): Promise<Item[]> => {
    const found = await Array.fromAsync(
      listed(
        shape,
        () => until,
        (page, sent) => list({ ...page, payment_intent: id }, sent),
      ),
    )
    if (found.some((one) => one.payment_intent !== id))
      throw new ProcessorUnavailable('Stripe listed another payment’s')
    return found
  }
  return {
    charges: () => all(shapes.charges, (asked, sent) => stripe.charges.list(asked, sent)),
    refunds: () => all(shapes.refunds, (asked, sent) => stripe.refunds.list(asked, sent)),
    disputes: () => all(shapes.disputes, (asked, sent) => stripe.disputes.list(asked, sent)),
  }
}

/** Makes a refund unless one with our key exists. Stripe forgets keys after a day, and we can ask for a refund longer than that. */
async function sendBack(
  stripe: Stripe,
  live: boolean,
  { key, processorPaymentId, captureId, amountMinor }: Parameters<Processor['refund']>[0],
  until: Deadline,
): Promise<void> {
  const unlessMade = async (idempotencyKey: string): Promise<void> => {
    const { charges, refunds } = await papersOf(stripe, live, processorPaymentId, until, { allRefunds: true })
    if (refunds.some(({ metadata }) => metadata?.[REFUND_ID] === key)) return
    const charge = charges.find(({ id }) => id === captureId)
    if (!charge) throw new ProcessorUnavailable('this payment has no such capture')
    const amount = toStripe(amountMinor, charge.currency.toUpperCase())
    const refund = await askWithKey(shapes.refund, until, idempotencyKey, (sent) =>
      stripe.refunds.create({ charge: captureId, amount, metadata: { [REFUND_ID]: key } }, sent),
    )
    const { charge: of, currency, metadata } = refund
    if (of !== captureId || refund.amount !== amount || currency !== charge.currency || metadata?.[REFUND_ID] !== key)
      throw new ProcessorUnavailable('Stripe made another refund than was asked for')
  }
  try {
    await unlessMade(key)
  } catch (error) {
    // an earlier request used this key, with another amount or refused at its time. It has ended, so its refund is in the list now.
    const ended = error instanceof StripeRefused && (error.keyReused || (error.replayed && error.certain))
    if (!ended) throw error
    await unlessMade(`${key}.${amountMinor}`)
  }
}

/** Stripe's codes for a charge from which a bank has taken money back (https://docs.stripe.com/error-codes). */
const DISPUTED: ReadonlySet<string | undefined> = new Set(['charge_disputed', 'refund_disputed_payment'])

function ifChargedBack(error: unknown): never {
  if (!(error instanceof StripeRefused && DISPUTED.has(error.code))) throw error
  throw new ChargedBack(error.message, { said: error.said, cause: error })
}

function checkedId(id: string): string {
  if (!shapes.paymentId.Check(id)) throw new PaymentUnknown('this is no payment of Stripe’s')
  return id
}
