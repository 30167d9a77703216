import { isRefusal } from '../api-refusal.ts'
import type { WantedRefund } from '../processor.ts'
import { AmountNotTaken, ProcessorUnavailable } from '../refusals.ts'
import type { Visit } from './client.ts'
import { LEAST_PAISE, shapes } from './entities.ts'
import { isRefused } from './errors.ts'
import { refundsOf } from './read.ts'

/**
 * Makes one refund for a key. The key is the refund's receipt: a repeat finds the refund by it at any time, and Razorpay takes a
 * receipt only once for a payment. The key is also the idempotency key of the request, which is valid for one amount only. If
 * Razorpay refused an earlier request and less is left now, the amount becomes part of the idempotency key.
 * (https://razorpay.com/docs/api/refunds/normal-refunds-idempotent, https://razorpay.com/docs/api/refunds/create-normal)
 */
export async function refund(ask: Visit, { key, captureId, amountMinor }: WantedRefund): Promise<void> {
  if (!shapes.paymentId.Check(captureId) || !/^[\w-]{10,40}$/.test(key))
    throw new ProcessorUnavailable('this is no refund that Razorpay could make')
  // its refusal would not say whether the amount was too small or more than is left
  if (amountMinor < LEAST_PAISE) throw new AmountNotTaken('Razorpay refunds no less than one rupee')
  const isMade = async () => (await refundsOf(ask, captureId)).some((one) => one.receipt === key)
  const unlessMade = async (idempotencyKey: string): Promise<void> => {
    if (await isMade()) return
    try {
      const body = { amount: amountMinor, receipt: key }
      const headers = { 'X-Refund-Idempotency': idempotencyKey }
      const made = await ask.post(shapes.refund, `/v1/payments/${captureId}/refund`, body, headers)
      if (made.payment_id !== captureId || made.amount !== amountMinor || made.receipt !== key)
        throw new ProcessorUnavailable('another refund than the one that was asked for')
    } catch (error) {
      // a simultaneous repeat may have made it, and the list shows that now
      if (isRefused(error) && (await isMade())) return
      throw error
    }
  }
  try {
    await unlessMade(key)
  } catch (error) {
    if (!isRefusal(error, 'key_reused')) throw error
    await unlessMade(`${key}-${amountMinor}`)
  }
}
