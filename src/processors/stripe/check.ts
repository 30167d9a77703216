import { Stripe } from 'stripe'
import { ApiRefusal, isRefusal } from '../api-refusal.ts'
import type { AccountCheck } from '../account-check.ts'
import type { RefusalDetails } from '../refusal-details.ts'
import type { Shape } from '../shapes.ts'
import { type Deadline, ask, newDeadline } from './client.ts'
import { knownHosts } from './hosts.ts'
import { ACCOUNT_EVENT_TYPES, EVENT_TYPES } from './notification.ts'
import { currencyFor } from './rails.ts'
import { type AccountSettings, shapes } from './entities.ts'

type Send = Parameters<typeof ask>[2]

/** Permissions that only payouts of sellers' own accounts need. */
const FOR_SELLERS: readonly string[] = ['payouts', 'balance']

/**
 * Reads one item of each list that the service reads, so that a missing permission of a restricted key shows. Reads the addresses
 * of notifications (https://docs.stripe.com/api/webhook_endpoints/list), and tries each of the `methods` from the settings.
 */
export async function checkAccount(stripe: Stripe, methods: readonly string[] = []): Promise<AccountCheck> {
  const until = newDeadline()
  const check: AccountCheck = { keyAccepted: true, lacks: [] }
  const noteClock = (headers: Record<string, string> | undefined) => {
    const time = Date.parse(headers?.['date'] ?? '')
    if (!Number.isNaN(time)) check.clock = new Date(time)
  }
  /** Undefined: Stripe refuses the key, or the key lacks the permission. `check` then says so. */
  async function read<T>(what: string, shape: Shape<T>, send: Send): Promise<T | undefined> {
    try {
      const answer = await ask(shape, until, send)
      noteClock((answer as { lastResponse?: { headers: Record<string, string> } }).lastResponse?.headers)
      return answer
    } catch (error) {
      const { cause } = error as { cause?: unknown }
      if (!(error instanceof ApiRefusal && cause instanceof Stripe.errors.StripeError)) throw error
      noteClock(cause.headers)
      if (error.meaning === 'key_refused') check.keyAccepted = false
      else if (cause instanceof Stripe.errors.StripePermissionError) check.lacks.push(what)
      else throw error
      return undefined
    }
  }

  const one = { limit: 1 }
  const [addresses, account, domains, sellers] = await Promise.all([
    read('webhook endpoints', shapes.webhookEndpoints, (sent) => stripe.webhookEndpoints.list({ limit: 100 }, sent)),
    read('account', shapes.account, (sent) => stripe.accounts.retrieveCurrent({}, sent)),
    read('payment method domains', shapes.methodDomains, (sent) =>
      stripe.paymentMethodDomains.list({ limit: 1 }, sent),
    ),
    // an account that is no platform refuses this
    read('accounts', shapes.anyList, (sent) => stripe.accounts.list(one, sent)).catch((error: unknown) => {
      if (!isRefusal(error, 'refused')) throw error
      return undefined
    }),
    read('payment intents', shapes.anyList, (sent) => stripe.paymentIntents.list(one, sent)),
    read('charges', shapes.anyList, (sent) => stripe.charges.list(one, sent)),
    read('refunds', shapes.anyList, (sent) => stripe.refunds.list(one, sent)),
    read('disputes', shapes.anyList, (sent) => stripe.disputes.list(one, sent)),
    read('events', shapes.anyList, (sent) => stripe.events.list(one, sent)),
    read('payment method configurations', shapes.anyList, (sent) => stripe.paymentMethodConfigurations.list(one, sent)),
    read('payouts', shapes.anyList, (sent) => stripe.payouts.list(one, sent)),
    read('balance', shapes.anyList, (sent) => stripe.balanceTransactions.list(one, sent)),
  ])
  // the service sells without these
  const spare = new Set(['webhook endpoints', 'account', 'accounts', 'payment method domains', ...FOR_SELLERS])
  check.takesSellers = sellers !== undefined
  check.lacksForSellers = check.lacks.filter((what) => FOR_SELLERS.includes(what)).sort()
  check.lacks = check.lacks.filter((what) => !spare.has(what)).sort()
  if (domains)
    check.hosts = [...(await knownHosts(stripe, () => until))].flatMap(([host, { enabled }]) => (enabled ? [host] : []))
  check.statementPrefix = account && prefixOf(account)
  check.addresses = addresses?.data.map(({ url, status, enabled_events: types, application }) => ({
    url,
    enabled: status === 'enabled',
    ...(application && { ofSellers: true }),
    missingTypes: [...EVENT_TYPES, ...(application ? ACCOUNT_EVENT_TYPES : [])].filter(
      (type) => !types.includes('*') && !types.includes(type),
    ),
  }))
  if (check.keyAccepted && methods.length > 0) {
    const currency = (account?.default_currency ?? 'usd').toUpperCase()
    check.methods = await Promise.all(methods.map(async (name) => tryMethod(stripe, until, name, currency)))
  }
  return check
}

/** In the smallest unit of a currency. It is above the minimum of nearly every currency, and below each maximum. */
const TRIED_AMOUNT = 10_000

const LEFT_OUT: RefusalDetails = { status: 200, code: 'not_activated', parameter: undefined, requestId: undefined }

/** Starts a payment with only this payment method, as a checkout does, and cancels it. No list names the activated methods for certain. */
async function tryMethod(
  stripe: Stripe,
  until: Deadline,
  name: string,
  accountCurrency: string,
): Promise<{ name: string; refused?: RefusalDetails | undefined }> {
  const currency = currencyFor(name, accountCurrency).toLowerCase()
  try {
    const { id, payment_method_types: offered } = await ask(shapes.paymentIntent, until, (sent) =>
      stripe.paymentIntents.create({ amount: TRIED_AMOUNT, currency, allowed_payment_method_types: [name] }, sent),
    )
    // if this fails, the payment can stay open: its secret has not left this function
    await ask(shapes.paymentIntent, until, (sent) => stripe.paymentIntents.cancel(id, {}, sent)).catch(() => {})
    return offered?.includes(name) === false ? { name, refused: LEFT_OUT } : { name }
  } catch (error) {
    if (!isRefusal(error, 'refused')) throw error
    // some currencies, such as the forint, have a higher minimum: only the amount was wrong
    if (error.details.code === 'amount_too_small') return { name }
    return { name, refused: error.details }
  }
}

/** An account without a shortened descriptor has its whole descriptor before the suffix. */
export const prefixOf = ({ settings }: AccountSettings): string =>
  (settings?.card_payments?.statement_descriptor_prefix ?? settings?.payments?.statement_descriptor ?? '').toUpperCase()
