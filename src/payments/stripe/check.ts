import { Stripe } from 'stripe'
import type { AccountCheck } from '../processor.ts'
import { StripeRefused, ask, newDeadline } from './client.ts'
import { EVENT_TYPES } from './events.ts'
import { shapes } from './shapes.ts'

type Send = Parameters<typeof ask>[2]

/**
 * Reads one of everything that is read in earnest, so that a restricted key shows what it may not, and where events are sent
 * (https://docs.stripe.com/api/webhook_endpoints/list).
 */
export async function checkAccount(stripe: Stripe): Promise<AccountCheck> {
  const until = newDeadline()
  const check: AccountCheck = { keyAccepted: true, lacks: [] }
  const noteClock = (headers: Record<string, string> | undefined) => {
    const time = Date.parse(headers?.['date'] ?? '')
    if (!Number.isNaN(time)) check.clock = new Date(time)
  }
  /** Undefined: the key is refused, or may not have it, which is noted. */
  async function read<T>(
    what: string,
    shape: { Check(value: unknown): value is T },
    send: Send,
  ): Promise<T | undefined> {
    try {
      const answer = await ask(shape, until, send)
      noteClock((answer as { lastResponse?: { headers: Record<string, string> } }).lastResponse?.headers)
      return answer
    } catch (error) {
      const { cause } = error as { cause?: unknown }
      if (!(error instanceof StripeRefused && cause instanceof Stripe.errors.StripeError)) throw error
      noteClock(cause.headers)
      if (cause instanceof Stripe.errors.StripeAuthenticationError) check.keyAccepted = false
      else if (cause instanceof Stripe.errors.StripePermissionError) check.lacks.push(what)
      else throw error
      return undefined
    }
  }

  const one = { limit: 1 }
  const [addresses] = await Promise.all([
    read('webhook endpoints', shapes.webhookEndpoints, (sent) => stripe.webhookEndpoints.list({ limit: 100 }, sent)),
    read('payment intents', shapes.anyList, (sent) => stripe.paymentIntents.list(one, sent)),
    read('charges', shapes.anyList, (sent) => stripe.charges.list(one, sent)),
    read('refunds', shapes.anyList, (sent) => stripe.refunds.list(one, sent)),
    read('disputes', shapes.anyList, (sent) => stripe.disputes.list(one, sent)),
    read('events', shapes.anyList, (sent) => stripe.events.list(one, sent)),
  ])
  // where they go is good to know and not needed
  check.lacks = check.lacks.filter((what) => what !== 'webhook endpoints').sort()
  check.addresses = addresses?.data.map(({ url, status, enabled_events: types }) => ({
    url,
    enabled: status === 'enabled',
    missingTypes: EVENT_TYPES.filter((type) => !types.includes('*') && !types.includes(type)),
  }))
  return check
}
