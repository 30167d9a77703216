import { sql } from 'kysely'
import { randomBytes } from 'node:crypto'
import { type Db, type Tx, inTransaction } from '../../kit/database.ts'
import { Refusal } from '../../kit/errors.ts'
import type { Jobs } from '../../kit/jobs.ts'
import type { Rail } from '../rails.ts'
import { MOST_DECLINES, type PaymentSnapshot, type RefundFact } from '../processor.ts'
import { newNotification, notify } from './notify.ts'

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

/** A payment as the sandbox stores it. */
export type StoredPayment = PaymentSnapshot & {
  amountMinor: number
  currency: string
  /** Refunds that the sandbox has accepted and not finished. A snapshot shows only their keys. */
  refundsUnderWay?: RefundFact[]
  /** Refunds succeed some seconds later, fail some seconds later, or succeed at once and fail some seconds later. */
  refundsGo?: 'slowly' | 'wrong' | 'back'
}

const REFUNDS_GO: Partial<Record<Scenario, StoredPayment['refundsGo']>> = {
  slow_refund: 'slowly',
  failed_refund: 'wrong',
  bounced_refund: 'back',
}

export const sandboxId = (kind: string): string => `sbx_${kind}_${randomBytes(12).toString('hex')}`

/** Locks a payment, lets `change` edit it, and stores it. */
export async function changePayment<T>(
  db: Db,
  id: string,
  change: (payment: StoredPayment, tx: Tx) => Promise<T>,
): Promise<T> {
  return inTransaction(db, async (tx) => {
    const { rows } = await sql<{
      payment: StoredPayment
    }>`select payment from sandbox_payments where id = ${id} for update`.execute(tx)
    if (!rows[0]) throw new Refusal('payment_not_found', 'There is no such payment.')
    const { payment } = rows[0]
    const result = await change(payment, tx)
    await sql`update sandbox_payments set payment = ${JSON.stringify(payment)} where id = ${id}`.execute(tx)
    return result
  })
}

/** Pays as the scenario says. Refuses what a bank would refuse. */
export async function confirm(
  db: Db,
  jobs: Jobs,
  id: string,
  rail: Rail,
  scenario: Scenario,
): Promise<'captured' | 'processing' | 'declined'> {
  return changePayment(db, id, async (payment, tx) => {
    refuseUnlessPayable(payment)
    const tell = (type: string, options = {}) => notify(tx, jobs, newNotification(type, snapshotOf(payment)), options)
    const later = (data: object) =>
      jobs.add(tx, 'sandbox_later', [{ data: { id, rail, ...data }, startAfterSeconds: BANK_SECONDS }])

    switch (scenario) {
      case 'decline':
      case 'late_success':
        payment.declines++
        await tell('payment.declined')
        if (scenario === 'late_success') await later({})
        return 'declined'
      case 'delayed':
      case 'delayed_decline':
        Object.assign(payment, { state: 'processing', rail })
        await tell('payment.processing')
        await later({ declines: scenario === 'delayed_decline' })
        return 'processing'
      case 'reordered_webhook':
        Object.assign(payment, { state: 'processing', rail })
        await tell('payment.processing', { afterSeconds: 2 })
        capture(payment, rail)
        await tell('payment.captured')
        return 'captured'
      case 'double_capture':
        capture(payment, rail)
        await tell('payment.captured')
        capture(payment, rail)
        await tell('payment.captured', { afterSeconds: 1 })
        return 'captured'
      case 'wrong_amount':
        capture(payment, rail, payment.amountMinor > 1 ? payment.amountMinor - 1 : 2)
        await tell('payment.captured')
        return 'captured'
      case 'success':
      case 'lost_webhook':
      case 'repeated_webhook':
      case 'slow_refund':
      case 'failed_refund':
      case 'bounced_refund':
        capture(payment, rail)
        if (REFUNDS_GO[scenario]) payment.refundsGo = REFUNDS_GO[scenario]
        if (scenario !== 'lost_webhook')
          await tell('payment.captured', { times: scenario === 'repeated_webhook' ? 3 : 1 })
        return 'captured'
    }
  })
}

/** Runs the delayed answers of the bank: captures or declines a payment that is still open, and sends a notification. */
export async function captureLater(db: Db, jobs: Jobs): Promise<void> {
  const options = {
    retries: 10,
    retryDelaySeconds: 1,
    retryDelayMaxSeconds: 60,
    expireSeconds: 30,
    atOnce: 4,
    pollSeconds: 1,
  }
  await jobs.on<{ id: string; rail: Rail; declines?: boolean }>('sandbox_later', options, async (data) =>
    changePayment(db, data.id, async (payment, tx) => {
      if (payment.captures.length > 0) return
      if (data.declines) Object.assign(payment, { state: 'open', declines: payment.declines + 1 })
      else capture(payment, data.rail)
      const type = data.declines ? 'payment.declined' : 'payment.captured'
      await notify(tx, jobs, newNotification(type, snapshotOf(payment)))
    }),
  )
}

/** The buyer asks the bank for the money back (`open`), and the bank decides (`won` for the seller, or `lost`). */
export async function dispute(db: Db, jobs: Jobs, id: string, outcome: 'open' | 'won' | 'lost'): Promise<void> {
  await changePayment(db, id, async (payment, tx) => {
    const captured = payment.captures[0]
    if (!captured) throw new Refusal('payment_not_captured', 'There is nothing to dispute.')
    const { id: captureId, amountMinor } = captured
    // the bank leaves the seller what the seller has already refunded
    const refunded = payment.refunds.filter((one) => one.captureId === captureId && one.state !== 'failed')
    const lostMinor = refunded.reduce((left, one) => left - one.amountMinor, amountMinor)
    const now = { state: outcome, ...(outcome === 'lost' && { lostMinor }) }
    const known = payment.disputes.find((one) => one.state === 'open')
    if (known) Object.assign(known, now)
    else payment.disputes.push({ id: sandboxId('dp'), captureId, amountMinor, ...now })
    await notify(tx, jobs, newNotification(`dispute.${outcome}`, snapshotOf(payment)))
  })
}

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

function refuseUnlessPayable(payment: StoredPayment): void {
  if (payment.captures.length > 0) throw new Refusal('payment_already_captured', 'This payment has been made.')
  if (payment.state === 'processing') throw new Refusal('payment_in_progress', 'The bank is working on this payment.')
  if (payment.state === 'canceled') throw new Refusal('payment_closed', 'This payment can no longer be made.')
  if (payment.declines >= MOST_DECLINES) throw new Refusal('payment_closed', 'This payment was declined too often.')
}
