import { sql } from 'kysely'
import type { Tx } from '../kit/database.ts'
import { Refusal } from '../kit/errors.ts'
import { issueInvoices } from '../invoices/issue.ts'
import { newId } from '../kit/ids.ts'
import type { Jobs } from '../kit/jobs.ts'
import { feeOf, formatMoney } from '../kit/money.ts'
import { post } from '../ledger/post.ts'
import { returnedTransfers, saleTransfers } from '../ledger/transfers.ts'
import { changeTogether } from '../kit/database.ts'
import { inTimelines, moveOrders } from '../orders/move.ts'
import { recordSales } from '../orders/sale-mails.ts'
import type { State } from '../orders/states.ts'
import { accountOf } from '../processors/connected.ts'
import type { Rail } from '../processors/rails.ts'
import { taxOf } from '../taxes/sale-tax.ts'
import { writeReturns } from './settle/rows.ts'

// The operator decides about an order that got another amount than its price: the money is the price after all, or it goes back.

interface Reviewed {
  state: State
  sellerId: string
  amountMinor: number
  currency: string
  taxRate: number | null
}

interface HeldCapture {
  processor: string
  id: string
  amountMinor: number
  currency: string
  rail: Rail
  capturedAt: Date
  /** The part that has not gone back, is not on its way back, and was not taken by a bank. */
  leftMinor: number
  isDisputed: boolean
}

export interface Accepted {
  captureId: string
  amountMinor: number
  currency: string
  /** The price before. */
  priceMinor: number
}

/**
 * Takes a held payment as the price of its order: the order is paid, with the paid amount as its amount, and the fee and the tax of that
 * amount. The order stays locked until `tx` ends, so of several requests one succeeds. Refuses `order_not_found`, `order_not_in_review`,
 * `order_not_acceptable`.
 */
export async function acceptPayment(tx: Tx, jobs: Jobs, orderId: string, captureId?: string): Promise<Accepted> {
  const order = await lockReviewed(tx, orderId)
  const captures = await heldCaptures(tx, orderId)
  const capture = chosenOf(captures, captureId)
  const whyNot = whyNotAcceptable(order, capture)
  if (whyNot) throw new Refusal('order_not_acceptable', whyNot)
  const { processor, amountMinor, currency, rail, capturedAt } = capture
  const feeMinor = feeOf(amountMinor)
  await sql`
    update captures set purpose = 'sale', accepted_at = now()
    where processor = ${processor} and processor_capture_id = ${capture.id}`.execute(tx)
  // the paid amount contains the tax, whether the product's price does or not
  const taxMinor = order.taxRate === null ? null : taxOf(amountMinor, order.taxRate, true)
  await sql`
    update orders set amount_minor = ${amountMinor}, fee_minor = ${feeMinor}, tax_minor = ${taxMinor} where id = ${orderId}`.execute(
    tx,
  )
  await moveOrders(tx, [{ orderId, move: 'accept', rail, paidAt: capturedAt.toISOString() }])
  const entry = { orderId, sellerId: order.sellerId, processor, amountMinor, currency }
  const cause = `${processor}:capture:${capture.id}`
  // the suspended money leaves the suspense account as if it went back, and comes again as a sale
  await post(tx, [
    ...returnedTransfers({ ...entry, cause: `${processor}:accepted:${capture.id}` }),
    ...saleTransfers({ ...entry, cause, feeMinor, taxMinor: taxMinor ?? 0 }),
  ])
  await changeTogether(tx, [
    inTimelines([{ orderId, what: 'paid' }]),
    recordSales([{ orderId, sellerId: order.sellerId, isFree: false }]),
  ])
  await jobs.add(tx, 'mail', [{ data: { kind: 'receipt', orderId } }])
  await issueInvoices(tx, [{ orderId, reason: 'sale', amountMinor, cause }])
  return { captureId: capture.id, amountMinor, currency, priceMinor: order.amountMinor }
}

export interface SentBack {
  refundId: string
  captureId: string
  amountMinor: number
  currency: string
}

/**
 * Sends all held money of an order back to its buyer, by the job that also sends duplicates back. The order stays locked until `tx`
 * ends, so a repeat finds nothing left. Refuses `order_not_found`, `order_not_in_review`.
 */
export async function sendPaymentBack(tx: Tx, jobs: Jobs, orderId: string): Promise<SentBack[]> {
  await lockReviewed(tx, orderId)
  const held = (await heldCaptures(tx, orderId)).filter(({ leftMinor, isDisputed }) => leftMinor > 0 && !isDisputed)
  if (held.length === 0)
    throw new Refusal(
      'order_not_in_review',
      'Nothing is left to send back: it is back or on its way, or a bank decides.',
    )
  const returns = held.map((one) => ({
    id: newId('ref'),
    orderId,
    processor: one.processor,
    captureId: one.id,
    amountMinor: one.leftMinor,
    currency: one.currency,
  }))
  await writeReturns(tx, returns)
  await jobs.add(
    tx,
    'refund',
    returns.map(({ id }) => ({ data: { refundId: id } })),
  )
  return returns.map(({ id, captureId, amountMinor, currency }) => ({
    refundId: id,
    captureId,
    amountMinor,
    currency,
  }))
}

async function lockReviewed(tx: Tx, orderId: string): Promise<Reviewed> {
  const { rows } = await sql<Reviewed>`
    select state, seller_id as "sellerId", amount_minor as "amountMinor", currency, tax_rate::float8 as "taxRate"
    from orders where id = ${orderId} for update`.execute(tx)
  const order = rows[0]
  if (!order) throw new Refusal('order_not_found', 'There is no such order.')
  if (order.state !== 'needs_review')
    throw new Refusal('order_not_in_review', 'This order does not wait for a decision, or somebody has just decided.')
  return order
}

/** A statement of its own, after the lock: it sees the rows that another request has just committed. */
async function heldCaptures(tx: Tx, orderId: string): Promise<HeldCapture[]> {
  const { rows } = await sql<HeldCapture>`
    select c.processor, c.processor_capture_id as id, c.amount_minor as "amountMinor", c.currency, c.rail,
      c.captured_at as "capturedAt",
      (c.amount_minor
        - (select coalesce(sum(r.amount_minor), 0) from refunds r where r.processor = c.processor
            and r.processor_capture_id = c.processor_capture_id and r.state in ('requested', 'succeeded'))
        - (select coalesce(sum(coalesce(d.lost_minor, d.amount_minor)), 0) from disputes d where d.processor = c.processor
            and d.processor_capture_id = c.processor_capture_id and d.state = 'lost'))::bigint as "leftMinor",
      exists (select from disputes d where d.processor = c.processor and d.processor_capture_id = c.processor_capture_id
        and d.state = 'open') as "isDisputed"
    from captures c where c.order_id = ${orderId} and c.purpose = 'mismatch'
    order by c.captured_at, c.processor_capture_id`.execute(tx)
  return rows
}

function chosenOf(captures: readonly HeldCapture[], captureId: string | undefined): HeldCapture {
  if (captureId === undefined && captures.length > 1)
    throw new Refusal('order_not_acceptable', 'This order has several payments: name the one to accept (captureId).')
  const capture = captureId === undefined ? captures[0] : captures.find(({ id }) => id === captureId)
  if (!capture) throw new Refusal('order_not_acceptable', 'This order has no such payment that is held.')
  return capture
}

function whyNotAcceptable(
  order: Reviewed,
  { processor, amountMinor, currency, leftMinor, isDisputed }: HeldCapture,
): string | undefined {
  if (currency !== order.currency)
    return `The buyer paid ${formatMoney(amountMinor, currency)}, and the order is in ${order.currency}: only sending it back is possible.`
  if (accountOf(processor))
    return 'The money lies at the seller’s own account, with another fee than the one of this amount: only sending it back is possible.'
  if (isDisputed) return 'The buyer’s bank is deciding about this payment.'
  if (leftMinor < amountMinor) return 'A part of this payment has gone back, or is on its way back.'
  return undefined
}
