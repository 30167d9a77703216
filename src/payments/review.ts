import { sql } from 'kysely'
import type { Db, Tx } from '../kit/database.ts'
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
import { leftMinor } from '../orders/returned-money.ts'
import { endUsesWithoutMoney } from './settle/held-money.ts'
import { writeReturns } from './settle/rows.ts'

// The operator decides about an order that got another amount than its price: the money is the price after all, or it goes back. The
// operator also sends back other money that pays for nothing, such as a second payment, when the service could not.

interface LockedOrder {
  state: State
  sellerId: string
  amountMinor: number
  currency: string
  taxMinor: number | null
  taxRate: number | null
}

interface HeldCapture {
  processor: string
  id: string
  amountMinor: number
  currency: string
  rail: Rail
  capturedAt: Date
  leftMinor: number
  isDisputed: boolean
}

/** A bank decides about the capture `c`. */
const isDisputed = sql<boolean>`exists (select from disputes d where d.order_id = c.order_id and d.processor = c.processor
  and d.processor_capture_id = c.processor_capture_id and d.state = 'open')`

export interface Accepted {
  captureId: string
  amountMinor: number
  currency: string
  /** The price before. */
  priceMinor: number
  /** The other held payments of the order, which go back. */
  returns?: SentBack[]
}

/**
 * Takes a held payment as the price of its order: the order is paid, with the paid amount as its amount, and the fee and the tax of that
 * amount. The other held payments of the order go back, because the order no longer waits for a decision then. The order stays locked until
 * `tx` ends, so of several requests one succeeds. Refuses `order_not_found`, `order_not_in_review`, `order_not_acceptable`.
 */
export async function acceptPayment(tx: Tx, jobs: Jobs, orderId: string, captureId?: string): Promise<Accepted> {
  const order = await lockOrder(tx, orderId)
  if (order.state !== 'needs_review')
    throw new Refusal('order_not_in_review', 'This order does not wait for a decision, or somebody has just decided.')
  const captures = await heldCaptures(tx, orderId)
  const capture = chosenOf(captures, captureId)
  const whyNot = whyNotAcceptable(order, capture)
  if (whyNot) throw new Refusal('order_not_acceptable', whyNot)
  const { processor, amountMinor, currency, rail, capturedAt } = capture
  const feeMinor = feeOf(amountMinor)
  await sql`
    update captures set purpose = 'sale', accepted_at = now()
    where processor = ${processor} and processor_capture_id = ${capture.id}`.execute(tx)
  // Another paid amount contains the tax, whether the product's price does or not. It is the price now, so a discount that led to another
  // price is none any more; the order keeps its code.
  const taxMinor =
    order.taxRate === null || amountMinor === order.amountMinor
      ? order.taxMinor
      : taxOf(amountMinor, order.taxRate, true, currency)
  await sql`
    update orders set amount_minor = ${amountMinor}, fee_minor = ${feeMinor}, tax_minor = ${taxMinor},
      discount_minor = case when amount_minor = ${amountMinor} then discount_minor else 0 end
    where id = ${orderId}`.execute(tx)
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
  const returns = await returnHeld(tx, jobs, orderId)
  await issueInvoices(tx, [{ orderId, reason: 'sale', amountMinor, cause }])
  return {
    captureId: capture.id,
    amountMinor,
    currency,
    priceMinor: order.amountMinor,
    ...(returns.length > 0 && { returns }),
  }
}

export interface SentBack {
  refundId: string
  captureId: string
  amountMinor: number
  currency: string
}

/**
 * Sends all held money of an order back to its buyer, whatever the order's state, by the job that also sends duplicates back. The order
 * stays locked until `tx` ends, so a repeat finds nothing left. Refuses `order_not_found`, and `order_not_in_review` when nothing is left.
 */
export async function sendPaymentBack(tx: Tx, jobs: Jobs, orderId: string): Promise<SentBack[]> {
  await lockOrder(tx, orderId)
  const returns = await returnHeld(tx, jobs, orderId)
  if (returns.length === 0)
    throw new Refusal(
      'order_not_in_review',
      'Nothing is left to send back: it is back or on its way, or a bank decides.',
    )
  await endUsesWithoutMoney(tx, [orderId])
  return returns
}

/** By then the buyer has asked for the money, or a person has paid it in another way. Banks take months to decide a dispute. */
const RETURN_DAYS = 365

export interface FailedReturn {
  orderId: string
  leftMinor: number
  currency: string
  at: Date
}

/**
 * Held payments that nothing sends back any more: the return has failed, or a dispute kept the money here and has ended. An order that
 * waits for a decision is in it only when a return has failed. The oldest come first, at most `most` of them.
 */
export async function failedReturns(db: Db, most: number): Promise<FailedReturn[]> {
  const { rows } = await sql<FailedReturn>`
    select c.order_id as "orderId", ${leftMinor} as "leftMinor", c.currency, coalesce(f.failed_at, c.captured_at) as at
    from (
      select processor, processor_capture_id, max(failed_at) as failed_at from (
        select processor, processor_capture_id, created_at as failed_at from refunds
        where state = 'failed' and created_at > now() - make_interval(days => ${RETURN_DAYS})
        union all
        select processor, processor_capture_id, null from disputes where state <> 'open') one group by 1, 2) f
    join captures c using (processor, processor_capture_id) join orders o on o.id = c.order_id
    where c.purpose <> 'sale' and (f.failed_at is not null or o.state <> 'needs_review')
      and coalesce(f.failed_at, c.captured_at) > now() - make_interval(days => ${RETURN_DAYS})
      and ${leftMinor} > 0 and not ${isDisputed}
    order by at, c.order_id limit ${most}`.execute(db)
  return rows
}

/** Writes the returns of all held money that can go back now, and enqueues their jobs. The caller has locked the order. */
async function returnHeld(tx: Tx, jobs: Jobs, orderId: string): Promise<SentBack[]> {
  const held = (await heldCaptures(tx, orderId)).filter((one) => one.leftMinor > 0 && !one.isDisputed)
  const returns = held.map(({ processor, id, leftMinor, currency }) => {
    return { id: newId('ref'), orderId, processor, captureId: id, amountMinor: leftMinor, currency }
  })
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

async function lockOrder(tx: Tx, orderId: string): Promise<LockedOrder> {
  const { rows } = await sql<LockedOrder>`
    select state, seller_id as "sellerId", amount_minor as "amountMinor", currency, tax_minor as "taxMinor",
      tax_rate::float8 as "taxRate"
    from orders where id = ${orderId} for update`.execute(tx)
  const order = rows[0]
  if (!order) throw new Refusal('order_not_found', 'There is no such order.')
  return order
}

/** A statement of its own, after the lock: it sees the rows that another request has just committed. */
async function heldCaptures(tx: Tx, orderId: string): Promise<HeldCapture[]> {
  const { rows } = await sql<HeldCapture>`
    select c.processor, c.processor_capture_id as id, c.amount_minor as "amountMinor", c.currency, c.rail,
      c.captured_at as "capturedAt", ${leftMinor} as "leftMinor", ${isDisputed} as "isDisputed"
    from captures c where c.order_id = ${orderId} and c.purpose <> 'sale'
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
  order: LockedOrder,
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
