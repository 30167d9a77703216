import type { Stripe } from 'stripe'
import {
  ChargedBack,
  type PaymentSnapshot,
  PaymentUnknown,
  type Processor,
  ProcessorUnavailable,
  refundTaken,
} from '../processor.ts'
import type { StripeSettings } from '../settings.ts'
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
 * Payments by Stripe (https://docs.stripe.com/api), with its Payment Element in the browser. Each payment is a PaymentIntent;
 * what came of it is read from its charges, refunds and disputes. Fails with ProcessorUnavailable.
 */
export function stripeProcessor(options: StripeOptions): Required<Processor> {
  const { secretKey, publishableKey, webhookSecrets } = options
  const live = isLive(secretKey)
  if (isLive(publishableKey) !== live) throw new Error('one of Stripe’s keys is for test payments and the other is not')
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
        // paid, being paid, or closed already: which of them, the papers tell
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

const isLive = (key: string): boolean => key.includes('_live_')

interface Asked {
  payment_intent: string
  limit: number
  starting_after?: string
}

/** Reads as few of a payment's papers as can tell all: most are asked about before anybody has tried to pay. */
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
  // a buyer waits for this: what is surely needed is asked for at once
  const paid = allRefunds || intent.status === 'succeeded'
  const [charges, refundsAtOnce] = await Promise.all([
    intent.latest_charge ? list.charges() : [],
    paid ? list.refunds() : undefined,
  ])
  const [refunds, disputes] = await Promise.all([
    // one that failed is not in a charge's amount any more
    refundsAtOnce ?? (charges.some(isCapture) ? list.refunds() : []),
    charges.some(({ disputed }) => disputed) ? list.disputes() : [],
  ])
  return { intent, charges, refunds, disputes }
}

/**
 * The papers of a payment that a notification tells of as succeeded: so it stays, and the intent is not read again. What arrived,
 * its charges say; of those that sent nothing back, no refunds are read: of one that failed there is a notification of its own.
 * Undefined where it told of something else, or no charge of our account bears it out.
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

/** All that there is of one payment. */
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

/** Makes a refund unless there is one with our key: Stripe forgets keys after a day, and one may be asked for longer than that. */
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
    // an earlier request had this key, of another amount or refused at its time, and has ended: what it made is listed by now
    const ended = error instanceof StripeRefused && (error.keyReused || (error.replayed && error.certain))
    if (!ended) throw error
    await unlessMade(`${key}.${amountMinor}`)
  }
}

/** What Stripe calls a charge of which a bank has taken money back (https://docs.stripe.com/error-codes). */
const DISPUTED: ReadonlySet<string | undefined> = new Set(['charge_disputed', 'refund_disputed_payment'])

function ifChargedBack(error: unknown): never {
  if (!(error instanceof StripeRefused && DISPUTED.has(error.code))) throw error
  throw new ChargedBack(error.message, { said: error.said, cause: error })
}

function checkedId(id: string): string {
  if (!shapes.paymentId.Check(id)) throw new PaymentUnknown('this is no payment of Stripe’s')
  return id
}
