import { Refusal } from '../../kit/errors.ts'
import type { Jobs } from '../../kit/jobs.ts'
import type { Rail } from '../rails.ts'
import { MOST_DECLINES, type PaymentSnapshot } from '../processor.ts'
import { notify } from './notify.ts'
import { type SandboxPayments, type StoredPayment, sandboxId } from './payments.ts'

/** The ways in which the sandbox's bank can behave. The buyer chooses one. */
export const SCENARIOS = [
  'success',
  'decline',
  'delayed',
  'delayed_decline',
  'lost_webhook',
  'repeated_webhook',
  'reordered_webhook',
  'late_success',
  'wrong_amount',
  'double_capture',
  'slow_refund',
  'failed_refund',
  'bounced_refund',
] as const
export type Scenario = (typeof SCENARIOS)[number]

/** How long the bank takes in the delayed scenarios. */
export const BANK_SECONDS = 3

const REFUNDS_GO: Partial<Record<Scenario, StoredPayment['refundsGo']>> = {
  slow_refund: 'slowly',
  failed_refund: 'wrong',
  bounced_refund: 'back',
}

/** Pays as the scenario says. Refuses payments that a bank would refuse. */
export const confirm = (
  payments: SandboxPayments,
  id: string,
  rail: Rail,
  scenario: Scenario,
): Promise<'captured' | 'processing' | 'declined'> =>
  payments.change(id, (payment, addJob) => {
    refuseUnlessPayable(payment, rail)
    const tell = (type: string, options = {}) => notify(addJob, type, snapshotOf(payment), options)
    const later = (data: object) =>
      addJob('sandbox_later', { data: { id, rail, ...data }, startAfterSeconds: BANK_SECONDS })

    switch (scenario) {
      case 'decline':
      case 'late_success':
        payment.declines++
        tell('payment.declined')
        if (scenario === 'late_success') later({})
        return 'declined'
      case 'delayed':
      case 'delayed_decline':
        Object.assign(payment, { state: 'processing', rail })
        tell('payment.processing')
        later({ declines: scenario === 'delayed_decline' })
        return 'processing'
      case 'reordered_webhook':
        Object.assign(payment, { state: 'processing', rail })
        tell('payment.processing', { afterSeconds: 2 })
        capture(payment, rail)
        tell('payment.captured')
        return 'captured'
      case 'double_capture':
        capture(payment, rail)
        tell('payment.captured')
        capture(payment, rail)
        tell('payment.captured', { afterSeconds: 1 })
        return 'captured'
      case 'wrong_amount':
        capture(payment, rail, payment.amountMinor > 1 ? payment.amountMinor - 1 : 2)
        tell('payment.captured')
        return 'captured'
      case 'success':
      case 'lost_webhook':
      case 'repeated_webhook':
      case 'slow_refund':
      case 'failed_refund':
      case 'bounced_refund':
        capture(payment, rail)
        if (REFUNDS_GO[scenario]) payment.refundsGo = REFUNDS_GO[scenario]
        if (scenario !== 'lost_webhook') tell('payment.captured', { times: scenario === 'repeated_webhook' ? 3 : 1 })
        return 'captured'
    }
  })

/** Runs the delayed answers of the bank: captures or declines a payment that is still open, and sends a notification. */
export async function captureLater(payments: SandboxPayments, jobs: Jobs): Promise<void> {
  const options = {
    retries: 10,
    retryDelaySeconds: 1,
    retryDelayMaxSeconds: 60,
    expireSeconds: 30,
    atOnce: 4,
  }
  await jobs.on<{ id: string; rail: Rail; declines?: boolean }>('sandbox_later', options, ({ id, rail, declines }) =>
    payments.change(id, (payment, addJob) => {
      if (payment.captures.length > 0) return
      if (declines) Object.assign(payment, { state: 'open', declines: payment.declines + 1 })
      else capture(payment, rail)
      notify(addJob, declines ? 'payment.declined' : 'payment.captured', snapshotOf(payment))
    }),
  )
}

/** The buyer asks the bank for the money back (`open`), and the bank decides (`won` for the seller, or `lost`). */
export const dispute = (payments: SandboxPayments, id: string, outcome: 'open' | 'won' | 'lost'): Promise<void> =>
  payments.change(id, (payment, addJob) => {
    const captured = payment.captures[0]
    if (!captured) throw new Refusal('payment_not_captured', 'There is nothing to dispute.')
    const { id: captureId, amountMinor } = captured
    // the bank leaves the seller the money that the seller has already refunded
    const refunded = payment.refunds.filter((one) => one.captureId === captureId && one.state !== 'failed')
    const lostMinor = refunded.reduce((left, one) => left - one.amountMinor, amountMinor)
    const now = { state: outcome, ...(outcome === 'lost' && { lostMinor }) }
    const known = payment.disputes.find((one) => one.state === 'open')
    if (known) Object.assign(known, now)
    else payment.disputes.push({ id: sandboxId('dp'), captureId, amountMinor, ...now })
    notify(addJob, `dispute.${outcome}`, snapshotOf(payment))
  })

export function snapshotOf(payment: StoredPayment): PaymentSnapshot {
  const { amountMinor: _amount, currency: _currency, refundsUnderWay = [], refundsGo: _how, ...snapshot } = payment
  // a copy, so that later changes of the payment do not change this snapshot
  const refundKeysUnderWay = refundsUnderWay.flatMap(({ key }) => key ?? [])
  return structuredClone({ ...snapshot, ...(refundKeysUnderWay.length > 0 && { refundKeysUnderWay }) })
}

function capture(payment: StoredPayment, rail: Rail, amountMinor = payment.amountMinor): void {
  payment.captures.push({
    id: sandboxId('ch'),
    amountMinor,
    currency: payment.currency,
    rail,
    capturedAt: new Date().toISOString(),
  })
  Object.assign(payment, { state: 'captured', rail })
}

function refuseUnlessPayable(payment: StoredPayment, rail: Rail): void {
  if (rail === 'upi' && payment.currency !== 'INR') throw new Refusal('rail_not_offered', 'UPI is for rupees only.')
  if (payment.captures.length > 0) throw new Refusal('payment_already_captured', 'This payment has been made.')
  if (payment.state === 'processing') throw new Refusal('payment_in_progress', 'The bank is working on this payment.')
  if (payment.state === 'canceled') throw new Refusal('payment_closed', 'This payment can no longer be made.')
  if (payment.declines >= MOST_DECLINES) throw new Refusal('payment_closed', 'This payment was declined too often.')
}
