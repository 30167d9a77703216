import type { Stripe } from 'stripe'
import type { MoneyMovement, ProcessorEvent } from '../processor.ts'
import { fromStripe } from './amounts.ts'
import { listed, newDeadline } from './client.ts'
import { EVENT_TYPES, eventOf } from './notification.ts'
import { shapes } from './entities.ts'
import { ORDER_ID, capturedMoney, disputeState, isCapture, isRefunded, timeOf } from './snapshot.ts'

/** Stripe lists the events of this many days. */
export const EVENTS_DAYS = 30
/** Stripe lists the newest events first. The adapter reads one stretch at a time and reverses it. */
const STRETCH_SECONDS = 6 * 3600

/** The events from `since` until now, oldest first. */
export async function* eventsSince(
  stripe: Stripe,
  live: boolean,
  since: Date,
  account?: string,
): AsyncGenerator<ProcessorEvent> {
  const now = Math.floor(Date.now() / 1000)
  const begin = Math.max(Math.floor(since.getTime() / 1000), now - EVENTS_DAYS * 86_400)
  for (let from = begin; from <= now; from += STRETCH_SECONDS) {
    const created = { gte: from, lt: Math.min(from + STRETCH_SECONDS, now + 1) }
    const events: ProcessorEvent[] = []
    const newestFirst = listed(shapes.events, newDeadline, (page, sent) =>
      stripe.events.list({ ...page, created, types: [...EVENT_TYPES] }, sent),
    )
    for await (const event of newestFirst) {
      const at = event.created === undefined ? undefined : timeOf(event.created)
      events.push({ ...eventOf(event, live, account), at })
    }
    yield* events.reverse()
  }
}

/**
 * The captures, refunds and disputes that began in [from, to): a snapshot reports the same time. Items without a payment intent
 * are not ours. A dispute counts with the amount that it took. The snapshot says whether it was won.
 */
export async function* movements(stripe: Stripe, from: Date, to: Date): AsyncGenerator<MoneyMovement> {
  const created = { gte: Math.ceil(from.getTime() / 1000), lt: Math.ceil(to.getTime() / 1000) }
  for await (const charge of listed(shapes.charges, newDeadline, (page, sent) =>
    stripe.charges.list({ ...page, created }, sent),
  ))
    if (isCapture(charge))
      yield* movement('capture', charge, capturedMoney(charge), charge.metadata?.[ORDER_ID] ?? null)
  for await (const refund of listed(shapes.refunds, newDeadline, (page, sent) =>
    stripe.refunds.list({ ...page, created }, sent),
  ))
    if (isRefunded(refund)) yield* movement('refund', refund, fromStripe(refund.amount, refund.currency))
  for await (const dispute of listed(shapes.disputes, newDeadline, (page, sent) =>
    stripe.disputes.list({ ...page, created }, sent),
  ))
    if (disputeState(dispute)) yield* movement('dispute', dispute, fromStripe(dispute.amount, dispute.currency))
}

function* movement(
  kind: MoneyMovement['kind'],
  { id, payment_intent: processorPaymentId, created }: { id: string; payment_intent: string | null; created: number },
  money: { amountMinor: number; currency: string },
  orderId?: string | null,
): Generator<MoneyMovement> {
  if (processorPaymentId) yield { kind, id, processorPaymentId, orderId, ...money, at: timeOf(created) }
}
