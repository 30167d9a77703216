import { createHash } from 'node:crypto'
import type { Stripe } from 'stripe'
import { timeOfId } from '../../kit/ids.ts'
import { suffixOfLine } from '../../kit/statement.ts'
import { isRefusal, refusedStart } from '../api-refusal.ts'
import type { StartPayment, StartedPayment } from '../processor.ts'
import { PaymentClosed, PaymentRefused, ProcessorUnavailable } from '../refusals.ts'
import { feeToStripe, toStripe } from './amounts.ts'
import { type Deadline, ask, askWithKey, listed, pastFailures } from './client.ts'
import { unlessMissing } from './errors.ts'
import { VOUCHERS, methodsFor } from './rails.ts'
import { type PaymentIntent, shapes } from './entities.ts'
import { ATTEMPT_ID, ORDER_ID } from './snapshot.ts'

export interface Account {
  stripe: Stripe
  live: boolean
  publishableKey: string
  /** The seller's connected account, of which `stripe` asks. Undefined: ours. */
  connected: string | undefined
  /** The configured payment methods. Undefined: the account's dashboard decides. */
  methods: readonly string[] | undefined
  statementPrefix: string
  /** Starts the clock of one call of ours. */
  begin: () => Deadline
}

/** Stripe remembers a key for a day; this adds a margin. */
const KEY_KEPT_MS = 30 * 3_600_000
/** Allows for different clocks and for a slow first try. */
const CLOCK_SECONDS = 600
/** The search reads at most this many later payments, newest first: a busy account makes too many in a day for one call. */
const MOST_LATER = 500

/**
 * Makes the payment of an attempt, or finds it. The attempt's id is the idempotency key, and is also in the metadata. Stripe
 * remembers a key and its answer for a day, even if the answer is an error, and refuses the key with other parameters
 * (https://docs.stripe.com/api/idempotent_requests).
 */
export async function startPayment(account: Account, payment: StartPayment): Promise<StartedPayment> {
  const params = paramsOf(account, payment)
  const until = account.begin()
  const fits = (intent: PaymentIntent) =>
    intent.amount === params.amount &&
    intent.currency === params.currency &&
    intent.livemode === account.live &&
    (intent.application_fee_amount ?? undefined) === params.application_fee_amount &&
    intent.metadata[ORDER_ID] === payment.orderId &&
    intent.metadata[ATTEMPT_ID] === payment.key
  // reads the payment by its id, because a key that is older than a day would make a second payment
  const { processorPaymentId: id } = payment
  if (id !== undefined) {
    const intent = await ask(shapes.paymentIntent, until, (sent) =>
      account.stripe.paymentIntents.retrieve(id, {}, sent),
    )
      .catch(unlessMissing)
      .catch(refusedForGood)
    if (intent.id !== id || !fits(intent)) throw new ProcessorUnavailable('Stripe told of another payment')
    if (intent.status === 'canceled' || intent.status === 'succeeded')
      throw new PaymentClosed('this payment was closed, or is paid')
    return startedOf(account, intent)
  }
  const create = async (key: string): Promise<StartedPayment> => {
    const intent = await askWithKey(shapes.paymentIntent, until, key, (sent) =>
      account.stripe.paymentIntents.create(params, sent),
    )
    if (!fits(intent)) throw new ProcessorUnavailable('Stripe started another payment than was asked for')
    return startedOf(account, intent)
  }

  // a failure may have left a payment behind, but its secret never reached a buyer
  const createBy = (first: string) => pastFailures(first, create)

  try {
    return await createBy(payment.key)
  } catch (error) {
    if (!isRefusal(error, 'key_reused')) return refusedForGood(error)
    const made = await closeOthers(account, payment.key, until, fits)
    return made ? startedOf(account, made) : await createBy(`${payment.key}.${digest(params)}`).catch(refusedForGood)
  }
}

/** Turns an error into AmountNotTaken or PaymentRefused, if no payment came of it and Stripe would refuse again. */
function refusedForGood(error: unknown): never {
  throw isRefusal(error, 'refused') || isRefusal(error, 'key_refused') ? refusedStart(error) : error
}

/**
 * Handles an attempt that began with other parameters, such as another list of payment methods. It returns an earlier payment that
 * fits, and closes the others, because a buyer could pay two open payments. Undefined when none fits.
 */
async function closeOthers(
  { stripe }: Account,
  attemptId: string,
  until: Deadline,
  fits: (intent: PaymentIntent) => boolean,
): Promise<PaymentIntent | undefined> {
  // most payments are made together with their attempt; a later one follows a lost answer or a crash of the service
  const madeAt = timeOfId('pay', attemptId)
  const begun = (madeAt ?? Date.now() - KEY_KEPT_MS) / 1000
  const [from, soon] = [Math.floor(begun) - CLOCK_SECONDS, Math.ceil(begun) + CLOCK_SECONDS]
  const early = await madeFor(stripe, attemptId, until, { gte: from, lte: soon })
  const found = early.length > 0 ? early : await madeFor(stripe, attemptId, until, { gt: soon }, MOST_LATER)
  // The key may belong to a payment that Stripe's list does not show yet, or to a failure that Stripe remembers for a day. After
  // some minutes the list shows a payment of that moment. This search may miss a payment that was made later. No buyer can pay that
  // one: we give out a secret only after storing the payment's id, and an attempt with an id never gets here.
  const isListed = madeAt !== undefined && begun + CLOCK_SECONDS < Date.now() / 1000
  if (found.length === 0 && !isListed) throw new ProcessorUnavailable('the payment begun before cannot be found yet')
  const open = found.filter(({ status }) => status !== 'canceled')
  const made = open.find(fits)
  for (const { id } of open.filter((one) => one !== made)) {
    const closed = await ask(shapes.paymentIntent, until, (sent) => stripe.paymentIntents.cancel(id, {}, sent))
    if (closed.id !== id || closed.status !== 'canceled')
      throw new ProcessorUnavailable('the payment begun before cannot be closed')
  }
  return made
}

/**
 * Finds the payments of an attempt that were created in this time. It reads the list, because Stripe's search is not available in
 * every country (https://docs.stripe.com/search) and lags by a minute.
 */
async function madeFor(
  stripe: Stripe,
  attemptId: string,
  until: Deadline,
  created: { gte: number; lte: number } | { gt: number },
  most = Infinity,
): Promise<PaymentIntent[]> {
  const all = listed(
    shapes.paymentIntents,
    () => until,
    (page, sent) => stripe.paymentIntents.list({ ...page, created }, sent),
  )
  const found: PaymentIntent[] = []
  let read = 0
  for await (const intent of all) {
    if (intent.metadata[ATTEMPT_ID] === attemptId) found.push(intent)
    if (++read === most) break
  }
  return found
}

function startedOf(
  { publishableKey, connected }: Account,
  { id, client_secret: secret }: PaymentIntent,
): StartedPayment {
  if (!secret?.startsWith(`${id}_secret_`))
    throw new ProcessorUnavailable('Stripe’s answer has no secret of this payment')
  return { processorPaymentId: id, clientSecret: secret, publishableKey, ...(connected && { account: connected }) }
}

/** The payment methods of a payment: only these, or all but these. The payment and the form that shows before it must agree. */
export function waysOf(
  { methods }: Pick<Account, 'methods'>,
  { currency, withoutVouchers }: Pick<StartPayment, 'currency' | 'withoutVouchers'>,
): { allowed?: string[] | undefined; excluded?: string[] | undefined } {
  if (!methods) return withoutVouchers ? { excluded: [...VOUCHERS] } : {}
  const isAllowed = (method: string) => !withoutVouchers || !(VOUCHERS as readonly string[]).includes(method)
  return { allowed: methodsFor(methods, currency).filter(isAllowed) }
}

function paramsOf(account: Account, payment: StartPayment) {
  const { amountMinor, currency } = payment
  const { allowed: methods, excluded } = waysOf(account, payment)
  // Stripe takes only positive fees
  const fee = account.connected && payment.feeMinor ? feeToStripe(payment.feeMinor, currency) : undefined
  if (methods?.length === 0) throw new PaymentRefused(`no payment method is configured for ${currency}`)
  return {
    amount: toStripe(amountMinor, currency),
    ...(fee !== undefined && { application_fee_amount: fee }),
    currency: currency.toLowerCase(),
    // Stripe leaves out methods that are not activated, because this list only allows them and does not require them
    ...(methods ? { allowed_payment_method_types: methods } : { automatic_payment_methods: { enabled: true } }),
    ...(excluded && { excluded_payment_method_types: excluded }),
    metadata: { [ORDER_ID]: payment.orderId, [ATTEMPT_ID]: payment.key },
    // for cards Stripe takes only a suffix, and puts the account's prefix and "* " before it
    ...suffixFor(account, payment.statementDescriptor),
  }
}

/** The line of an order at a seller's account begins with that account's prefix. A line without a suffix is the account's own. */
function suffixFor({ connected, statementPrefix }: Account, line: string): { statement_descriptor_suffix?: string } {
  if (!connected) return { statement_descriptor_suffix: suffixOfLine(line, statementPrefix) }
  const [prefix = '', suffix] = line.split('* ')
  return suffix === undefined ? {} : { statement_descriptor_suffix: suffixOfLine(line, prefix) }
}

const digest = (params: object): string =>
  createHash('sha256').update(JSON.stringify(params)).digest('hex').slice(0, 16)
