import { createHash } from 'node:crypto'
import type { Stripe } from 'stripe'
import { PaymentClosed, ProcessorUnavailable, type StartPayment, type StartedPayment } from '../processor.ts'
import { priceToStripe } from './amounts.ts'
import { type Deadline, StripeRefused, ask, askWithKey, newDeadline, unlessMissing } from './client.ts'
import { methodsFor } from './rails.ts'
import { type PaymentIntent, shapes } from './shapes.ts'
import { ATTEMPT_ID, ORDER_ID } from './snapshot.ts'

export interface Account {
  stripe: Stripe
  live: boolean
  publishableKey: string
  /** Undefined: those that the account's dashboard says. */
  methods: readonly string[] | undefined
  statementPrefix: string | undefined
}

/** A key of its own for each time that Stripe remembers a failure instead of trying again. */
const KEYS = ['', '.2', '.3']

/**
 * Makes the payment of an attempt, or finds it: our attempt's id is the idempotency key and stands in the metadata. Stripe
 * remembers a key for a day (https://docs.stripe.com/api/idempotent_requests), also for an answer that was an error, and
 * refuses it for other parameters.
 */
export async function startPayment(account: Account, payment: StartPayment): Promise<StartedPayment> {
  const params = paramsOf(account, payment)
  const until = newDeadline()
  const fits = (intent: PaymentIntent) =>
    intent.amount === params.amount &&
    intent.currency === params.currency &&
    intent.livemode === account.live &&
    intent.metadata[ORDER_ID] === payment.orderId &&
    intent.metadata[ATTEMPT_ID] === payment.key
  // asked for by its id: a key older than a day would make a second payment
  const { processorPaymentId: id } = payment
  if (id !== undefined) {
    const intent = await ask(shapes.paymentIntent, until, (sent) =>
      account.stripe.paymentIntents.retrieve(id, {}, sent),
    ).catch(unlessMissing)
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

  let failure: unknown
  for (const suffix of KEYS) {
    try {
      return await create(payment.key + suffix)
    } catch (error) {
      failure = error
      if (!(error instanceof StripeRefused)) break
      if (error.keyReused) {
        const made = await closeOthers(account, payment.key, until, fits)
        return made ? startedOf(account, made) : create(`${payment.key}.${digest(params)}`)
      }
      // a payment that a failure left behind can be paid by nobody: its secret was never told
      if (!error.replayed) break
    }
  }
  throw failure
}

/**
 * The attempt was begun with other parameters, such as another list of ways to pay. What was made then is used if it is what
 * we want, and is closed if it is not: two open payments could both be paid.
 */
async function closeOthers(
  { stripe }: Account,
  attemptId: string,
  until: Deadline,
  fits: (intent: PaymentIntent) => boolean,
): Promise<PaymentIntent | undefined> {
  if (!/^\w+$/.test(attemptId)) throw new ProcessorUnavailable('an attempt that cannot be searched for')
  const { data } = await ask(shapes.foundPaymentIntents, until, (sent) =>
    stripe.paymentIntents.search({ query: `metadata['${ATTEMPT_ID}']:'${attemptId}'`, limit: 100 }, sent),
  )
  const found = data.filter(({ metadata }) => metadata[ATTEMPT_ID] === attemptId)
  // a search knows what was made a minute ago; until then nothing can be told apart
  if (found.length === 0) throw new ProcessorUnavailable('the payment begun before cannot be found yet')
  const open = found.filter(({ status }) => status !== 'canceled')
  const made = open.find(fits)
  for (const { id } of open.filter((one) => one !== made)) {
    const closed = await ask(shapes.paymentIntent, until, (sent) => stripe.paymentIntents.cancel(id, {}, sent))
    if (closed.id !== id || closed.status !== 'canceled')
      throw new ProcessorUnavailable('the payment begun before cannot be closed')
  }
  return made
}

function startedOf({ publishableKey }: Account, { id, client_secret: secret }: PaymentIntent): StartedPayment {
  if (!secret?.startsWith(`${id}_secret_`)) throw new ProcessorUnavailable('Stripe told no secret of this payment')
  return { processorPaymentId: id, clientSecret: secret, publishableKey }
}

function paramsOf(account: Account, payment: StartPayment) {
  const { amountMinor, currency } = payment
  const methods = account.methods && methodsFor(account.methods, currency)
  if (methods?.length === 0) throw new ProcessorUnavailable(`no way of paying is configured for ${currency}`)
  return {
    amount: priceToStripe(amountMinor, currency),
    currency: currency.toLowerCase(),
    ...(methods ? { payment_method_types: methods } : { automatic_payment_methods: { enabled: true } }),
    metadata: { [ORDER_ID]: payment.orderId, [ATTEMPT_ID]: payment.key },
    statement_descriptor_suffix: suffixOf(payment.statementDescriptor, account.statementPrefix),
  }
}

/**
 * Cards take a suffix only: Stripe puts the account's own prefix and `* ` before it, and refuses a whole descriptor
 * (https://docs.stripe.com/get-started/account/statement-descriptors). Where that prefix is ours too, the suffix is what we
 * put behind it. It needs a letter.
 */
function suffixOf(descriptor: string, prefix: string | undefined): string {
  const rest = prefix && descriptor.startsWith(`${prefix} `) ? descriptor.slice(prefix.length + 1).trim() : ''
  return /[A-Za-z]/.test(rest) ? rest : descriptor
}

const digest = (params: object): string =>
  createHash('sha256').update(JSON.stringify(params)).digest('hex').slice(0, 16)
