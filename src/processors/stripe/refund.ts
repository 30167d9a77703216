import type { Stripe } from 'stripe'
import { isRefusal } from '../api-refusal.ts'
import type { WantedRefund } from '../processor.ts'
import { ProcessorUnavailable } from '../refusals.ts'
import { toStripe } from './amounts.ts'
import { type Deadline, askWithKey } from './client.ts'
import { shapes } from './entities.ts'
import { readObjects } from './read.ts'
import { REFUND_ID } from './snapshot.ts'

/** Makes a refund unless one with our key exists. Stripe forgets keys after a day, and we can ask for a refund longer than that. */
export async function refund(
  stripe: Stripe,
  live: boolean,
  { key, processorPaymentId, captureId, amountMinor, withFee }: WantedRefund,
  until: Deadline,
): Promise<void> {
  const unlessMade = async (idempotencyKey: string): Promise<void> => {
    const { charges, refunds } = await readObjects(stripe, live, processorPaymentId, until, { allRefunds: true })
    if (refunds.some(({ metadata }) => metadata?.[REFUND_ID] === key)) return
    const charge = charges.find(({ id }) => id === captureId)
    if (!charge) throw new ProcessorUnavailable('this payment has no such capture')
    const amount = toStripe(amountMinor, charge.currency.toUpperCase())
    const made = await askWithKey(shapes.refund, until, idempotencyKey, (sent) =>
      stripe.refunds.create(
        {
          charge: captureId,
          amount,
          metadata: { [REFUND_ID]: key },
          // only where we have taken one: Stripe refuses it otherwise
          ...(withFee && charge.application_fee && { refund_application_fee: true }),
        },
        sent,
      ),
    )
    const { charge: of, currency, metadata } = made
    if (of !== captureId || made.amount !== amount || currency !== charge.currency || metadata?.[REFUND_ID] !== key)
      throw new ProcessorUnavailable('Stripe made another refund than was asked for')
  }
  try {
    await unlessMade(key)
  } catch (error) {
    // an earlier request used this key, with another amount or refused at its time. It has ended, so its refund is in the list now.
    const ended = isRefusal(error, 'key_reused') || (isRefusal(error, 'refused') && error.isReplayed)
    if (!ended) throw error
    await unlessMade(`${key}.${amountMinor}`)
  }
}
