import { Refusal } from '../../kit/errors.ts'
import type { Jobs } from '../../kit/jobs.ts'
import type { PaymentSnapshot, RefundFact } from '../processor.ts'
import { BANK_SECONDS, snapshotOf } from './bank.ts'
import { notify } from './notify.ts'
import { type SandboxPayments, sandboxId } from './payments.ts'

/** Refunds once for a `key`. All refunds together cannot exceed the capture. */
export const refund = (
  payments: SandboxPayments,
  id: string,
  request: { captureId?: string; amountMinor?: number | undefined; key?: string },
): Promise<PaymentSnapshot> =>
  payments.change(id, (payment, addJob) => {
    const { refundsUnderWay = [], refundsGo } = payment
    const captured = payment.captures.find((one) => request.captureId === undefined || one.id === request.captureId)
    if (!captured) throw new Refusal('payment_not_captured', 'There is nothing to send back.')
    const known = [...payment.refunds, ...refundsUnderWay]
    if (request.key && known.some(({ key }) => key === request.key)) return snapshotOf(payment)

    const before = refundedOf(known.filter((one) => one.captureId === captured.id))
    const amountMinor = request.amountMinor ?? captured.amountMinor - before
    if (amountMinor < 1 || before + amountMinor > captured.amountMinor)
      throw new Refusal('payment_not_captured', 'More than was captured cannot go back.')
    const made = { id: sandboxId('re'), captureId: captured.id, amountMinor, ...(request.key && { key: request.key }) }
    if (refundsGo === undefined || refundsGo === 'back') {
      payment.refunds.push(made)
      notify(addJob, 'refund.succeeded', snapshotOf(payment))
    } else payment.refundsUnderWay = [...refundsUnderWay, made]
    if (refundsGo !== undefined)
      addJob('sandbox_refund', { data: { id, refundId: made.id }, startAfterSeconds: BANK_SECONDS })
    return snapshotOf(payment)
  })

/** Ends the refunds of the scenarios in which a refund takes time. */
export async function endRefundsLater(payments: SandboxPayments, jobs: Jobs): Promise<void> {
  const options = { retries: 10, retryDelaySeconds: 1, retryDelayMaxSeconds: 60, expireSeconds: 30, atOnce: 4 }
  await jobs.on<{ id: string; refundId: string }>('sandbox_refund', options, async ({ id, refundId }) =>
    payments.change(id, (payment, addJob) => {
      const underWay = payment.refundsUnderWay?.find((one) => one.id === refundId)
      if (underWay) {
        payment.refundsUnderWay = payment.refundsUnderWay!.filter((one) => one !== underWay)
        payment.refunds.push(underWay)
      }
      const made = payment.refunds.find((one) => one.id === refundId)
      const fails = payment.refundsGo !== 'slowly'
      if (made && fails) made.state = 'failed'
      notify(addJob, fails ? 'refund.failed' : 'refund.succeeded', snapshotOf(payment))
    }),
  )
}

/** The sum of these refunds, without the failed ones. */
export const refundedOf = (refunds: readonly RefundFact[]): number =>
  refunds.filter(({ state }) => state !== 'failed').reduce((sum, one) => sum + one.amountMinor, 0)
