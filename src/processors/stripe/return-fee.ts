import type { Stripe } from 'stripe'
import { isRefusal } from '../api-refusal.ts'
import { FeePending, ProcessorUnavailable } from '../refusals.ts'
import type { FeeReturn } from '../seller-accounts.ts'
import { feePartToStripe } from './amounts.ts'
import { type Deadline, ask, askWithKey, listed } from './client.ts'
import { connectShapes } from './connect-entities.ts'
import { shapes } from './entities.ts'
import { unlessMissing } from './errors.ts'

/** The name in Stripe's metadata of the ledger's entry that a part of a fee went back for. */
const FEE_RETURN = 'fee_return'

/**
 * Returns a part of our fee, unless that was done with this key before. The amount is ours: Stripe can return a share with a refund
 * (`refund_application_fee`), but does not publish how it rounds, and the ledger has to be exact. The fee belongs to `platform`, and
 * the charge to the seller's account (https://docs.stripe.com/api/fee_refunds).
 */
export async function returnFee(
  platform: Stripe,
  own: Stripe,
  { key, captureId, amountMinor, totalMinor, currency }: FeeReturn,
  until: Deadline,
): Promise<void> {
  const charge = await ask(shapes.charge, until, (sent) => own.charges.retrieve(captureId, {}, sent)).catch(
    unlessMissing,
  )
  const id = charge.application_fee
  if (charge.id !== captureId) throw new ProcessorUnavailable('Stripe told of another charge')
  if (!id) {
    if (charge.application_fee_amount) throw new FeePending('Stripe has not taken the fee yet')
    // a fee that rounds to nothing is never taken
    return
  }
  const isMade = async (): Promise<boolean> => {
    const made = listed(
      connectShapes.feeRefunds,
      () => until,
      (page, sent) => platform.applicationFees.listRefunds(id, page, sent),
    )
    for await (const { metadata } of made) if (metadata?.[FEE_RETURN] === key) return true
    return false
  }
  if (await isMade()) return
  const fee = await ask(connectShapes.fee, until, (sent) => platform.applicationFees.retrieve(id, {}, sent))
  if (fee.charge !== captureId || fee.currency !== currency.toLowerCase())
    throw new ProcessorUnavailable('Stripe told of another fee')
  // less is left when somebody returned more in the dashboard, or when a refund failed after its part was back.
  // Of a total with a fraction only whole units have gone back; a later part brings the rest
  const left = Math.min(Math.floor(feePartToStripe(totalMinor, currency)), fee.amount) - fee.amount_refunded
  const amount = Math.min(Math.ceil(feePartToStripe(amountMinor, currency)), left)
  if (amount <= 0) return
  const create = (idempotencyKey: string) =>
    askWithKey(connectShapes.feeRefund, until, idempotencyKey, (sent) =>
      platform.applicationFees.createRefund(id, { amount, metadata: { [FEE_RETURN]: key } }, sent),
    )
  await create(key).catch(async (error: unknown) => {
    if (!isRefusal(error, 'key_reused')) throw error
    // another request with this key had another amount. It made the refund after the list above was read, or it was refused
    if (!(await isMade())) await create(`${key}.${amount}`)
  })
}
