import { ApiRefusal } from '../api-refusal.ts'
import type { StoredPayment } from '../processor.ts'
import { ProcessorUnavailable } from '../refusals.ts'
import type { TransferFact } from '../seller-accounts.ts'
import type { Visit } from './client.ts'
import { LEAST_PAISE, type Order, type Payment, type Transfer, shapes } from './entities.ts'
import { timeOf } from './snapshot.ts'

// Route (https://razorpay.com/docs/api/payments/route): the buyer pays an Order at our account, and Razorpay passes a part of it on to
// the seller's linked account, as soon as the payment is captured.

/** Statuses in which the money has gone on, even if it is back by now. */
const PASSED: ReadonlySet<string> = new Set(['processed', 'reversed', 'partially_reversed'])

/** The linked account to which the price of an Order of ours goes on. It stands in the Order's notes. */
export const payeeOf = ({ notes }: Order): string | undefined => (shapes.payee.Check(notes) ? notes.account : undefined)

/** All transfers of an Order: the one that was made with it, and those that somebody has made of its payments in the dashboard. */
export async function transfersOf(ask: Visit, { id }: Order, payments: readonly Payment[]): Promise<Transfer[]> {
  const [order, ...lists] = await Promise.all([
    ask.get(shapes.orderWithTransfers, `/v1/orders/${id}`, { 'expand[]': 'transfers' }),
    ...payments.map((payment) => ask.get(shapes.transfers, `/v1/payments/${payment.id}/transfers`)),
  ])
  const found = [...(order.transfers?.items ?? []), ...lists.flatMap(({ items }) => items)]
  const sources = new Set([id, ...payments.map((payment) => payment.id)])
  if (order.id !== id || found.some(({ source }) => !sources.has(source)))
    throw new ProcessorUnavailable('transfers of another order')
  return [...new Map(found.map((one) => [one.id, one])).values()]
}

/**
 * The transfers of an Order that is too old to be read: those that the service has stored, each by its id. The stored ones can be of another
 * payment of the same order.
 */
export async function storedTransfersOf(
  ask: Visit,
  orderId: string,
  { captureIds, transferIds }: StoredPayment,
): Promise<Transfer[]> {
  const all = await Promise.all(transferIds.map((id) => ask.get(shapes.transfer, `/v1/transfers/${id}`)))
  if (all.some(({ id }, at) => id !== transferIds[at])) throw new ProcessorUnavailable('another transfer than the one that was asked for') // oxfmt-ignore
  return all.filter(({ source }) => source === orderId || captureIds.includes(source))
}

/**
 * Reverses these transfers, the newest first, until linked accounts keep `leaveMinor` of them. Razorpay has no idempotency key for
 * reversals (https://razorpay.com/docs/api/payments/route/direct-transfers-idempotent-request), so the caller has just read the transfers,
 * and makes one call at a time. It refuses when the linked account does not have the money any more. Returns, by the transfer's id, how
 * much of each is back by the answers: a list can be older than they are.
 */
export async function reverse(
  ask: Visit,
  orderId: string,
  transfers: readonly Transfer[],
  leaveMinor: number,
): Promise<Record<string, number>> {
  const reversedMinor: Record<string, number> = {}
  const there = transfers.filter(isPassed).sort((a, b) => b.created_at - a.created_at)
  let overMinor = there.reduce((sum, one) => sum + leftOf(one), 0) - leaveMinor
  for (const one of there) {
    const amount = Math.min(overMinor, leftOf(one))
    if (amount <= 0) continue
    const body = { amount, notes: { order_id: orderId } }
    const made = await ask
      .post(shapes.reversal, `/v1/transfers/${one.id}/reversals`, body)
      .catch(unlessTooSmall(amount))
    if (made && (made.transfer_id !== one.id || made.amount !== amount))
      throw new ProcessorUnavailable('another reversal than the one that was asked for')
    if (made) reversedMinor[one.id] = (one.amount_reversed ?? 0) + amount
    overMinor -= amount
  }
  return reversedMinor
}

/** Less than a rupee may wait: a later refund takes it with its own part. */
const unlessTooSmall =
  (amount: number) =>
  (error: unknown): undefined => {
    const isTooSmall = error instanceof ApiRefusal && error.details.parameter === 'amount' && amount < LEAST_PAISE
    if (!isTooSmall) throw error
  }

export const transferFact = (transfer: Transfer): TransferFact => {
  const { id, recipient, amount, currency, recipient_settlement_id: settlement, created_at: at } = transfer
  const state = isPassed(transfer) ? 'passed' : statusOf(transfer) === 'failed' ? 'failed' : 'pending'
  const failure = state === 'failed' ? failureOf(transfer) : undefined
  return {
    id,
    account: recipient,
    amountMinor: amount,
    currency,
    state,
    reversedMinor: state === 'passed' ? Math.min(amount, transfer.amount_reversed ?? 0) : 0,
    ...(failure && { failure }),
    ...(typeof settlement === 'string' && settlement && { settlement: settlement.slice(0, 60) }),
    madeAt: timeOf(at),
  }
}

/** A transfer of which at least so much is back. */
export const withBack = (transfer: TransferFact, backMinor = 0): TransferFact => ({
  ...transfer,
  reversedMinor: Math.max(transfer.reversedMinor, backMinor),
})

export const isPassed = (transfer: Transfer): boolean => {
  const status = statusOf(transfer)
  return status === undefined ? typeof transfer.processed_at === 'number' : PASSED.has(status)
}

export const isUnderWay = (transfer: Transfer): boolean => !isPassed(transfer) && statusOf(transfer) !== 'failed'

const leftOf = ({ amount, amount_reversed: reversed }: Transfer): number => amount - (reversed ?? 0)

const statusOf = ({ status, transfer_status: other }: Transfer): string | undefined =>
  [status, other].find((one) => typeof one === 'string')

function failureOf({ error }: Transfer): string {
  const { description, reason, code } = shapes.fields.Check(error) ? error : {}
  const text = [description, reason, code].find((one) => typeof one === 'string' && one !== '')
  return String(text ?? 'Razorpay names no reason').slice(0, 300)
}
