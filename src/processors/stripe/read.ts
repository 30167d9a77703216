import type { Stripe } from 'stripe'
import { PaymentUnknown, ProcessorUnavailable } from '../refusals.ts'
import { type Deadline, ask, listed } from './client.ts'
import { type Charge, type Dispute, type Refund, shapes } from './entities.ts'
import { isMissing, unlessMissing } from './errors.ts'
import { type PaymentObjects, isCapture } from './snapshot.ts'

/** Makes as few requests as possible: most payments are read before the buyer has tried to pay. */
export async function readObjects(
  stripe: Stripe,
  live: boolean,
  id: string,
  until: Deadline,
  { allRefunds = false } = {},
): Promise<PaymentObjects> {
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
 * Reads the objects of a payment that a notification reports as succeeded. That state is final, so the adapter does not read the
 * intent again. It reads refunds only if a charge shows a refunded amount: a failed refund has a notification of its own. Undefined
 * when the notification reports another state, or no charge of our account confirms it.
 */
export async function readPaidObjects(
  stripe: Stripe,
  live: boolean,
  id: string,
  until: Deadline,
  reported: unknown,
): Promise<PaymentObjects | undefined> {
  if (!shapes.paymentIntent.Check(reported) || reported.status !== 'succeeded' || reported.latest_charge === null)
    return undefined
  if (reported.id !== id || reported.livemode !== live) throw new ProcessorUnavailable('Stripe told of another payment')
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
  return { intent: reported, charges, refunds, disputes }
}

interface ListQuery {
  payment_intent: string
  limit: number
  starting_after?: string
}

/** The lists that belong to one payment. */
function listsOf(stripe: Stripe, id: string, until: Deadline) {
  const all = async <Item extends Charge | Refund | Dispute>(
    shape: Parameters<typeof listed<Item>>[0],
    list: (query: ListQuery, sent: { timeout: number }) => Promise<unknown>,
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
    charges: () => all(shapes.charges, (query, sent) => stripe.charges.list(query, sent)),
    refunds: () => all(shapes.refunds, (query, sent) => stripe.refunds.list(query, sent)),
    disputes: () => all(shapes.disputes, (query, sent) => stripe.disputes.list(query, sent)),
  }
}

/** Refuses an id that cannot be Stripe's, because it becomes a part of the address. */
export function checkedId(id: string): string {
  if (!shapes.paymentId.Check(id)) throw new PaymentUnknown('this is no payment of Stripe’s')
  return id
}
