import { ProcessorUnavailable } from '../processor.ts'
import type { Query, Visit } from './client.ts'
import { isObject } from './errors.ts'

// The fields of Razorpay's entities that we read (https://razorpay.com/docs/api). The adapter checks the form of each answer and
// does not rely on its HTTP status: an answer that is not the requested entity is an error.

export interface Order {
  id: string
  amountMinor: number
  /** The amount that is captured so far. */
  paidMinor: number
  currency: string
  receipt: string | undefined
  /** Our order's id, which we wrote into the notes. */
  orderId: string | undefined
  createdAt: number
}

/** One try to pay an order. After a capture its id is the capture's id. */
export interface Payment {
  id: string
  /** Undefined for payments without an order, which are not ours. */
  orderId: string | undefined
  amountMinor: number
  refundedMinor: number
  currency: string
  /** created, authorized, captured, refunded or failed. Razorpay may add others. */
  status: string
  captured: boolean
  method: string
  provider: string | undefined
  /** credit, debit, prepaid or unknown. Undefined when the answer has no card. */
  cardType: string | undefined
  createdAt: number
}

export interface Refund {
  id: string
  paymentId: string
  amountMinor: number
  /** pending, processed, failed. */
  status: string
  /** Our key, when we asked for the refund. */
  key: string | undefined
  currency: string
  createdAt: number
}

export interface Dispute {
  id: string
  paymentId: string
  amountMinor: number
  deductedMinor: number
  currency: string
  /** open, under_review, action_required, won, lost, closed. */
  status: string
  /** fraud, retrieval, chargeback, pre_arbitration, arbitration. */
  phase: string
  createdAt: number
}

/** The longest page of a list. */
const PAGE = 100
/** Stops reading a list that would never end. */
const MOST_PAGES = 2_000

export function orderOf(answer: unknown): Order {
  const order = entity(answer, 'order', 'order_')
  const notes = isObject(order.notes) ? order.notes : {}
  return {
    id: order.id,
    amountMinor: amount(order, 'amount'),
    paidMinor: amount(order, 'amount_paid'),
    currency: text(order, 'currency'),
    receipt: optionalText(order.receipt),
    orderId: optionalText(notes.order_id),
    createdAt: amount(order, 'created_at'),
  }
}

export function paymentOf(answer: unknown): Payment {
  const payment = entity(answer, 'payment', 'pay_')
  const card = isObject(payment.card) ? payment.card : {}
  return {
    id: payment.id,
    orderId: optionalText(payment.order_id),
    amountMinor: amount(payment, 'amount'),
    refundedMinor: payment.amount_refunded == null ? 0 : amount(payment, 'amount_refunded'),
    currency: text(payment, 'currency'),
    status: text(payment, 'status'),
    captured: payment.captured === true,
    method: text(payment, 'method'),
    provider: optionalText(payment.provider),
    cardType: optionalText(card.type),
    createdAt: amount(payment, 'created_at'),
  }
}

export function refundOf(answer: unknown): Refund {
  const refund = entity(answer, 'refund', 'rfnd_')
  return {
    id: refund.id,
    paymentId: text(refund, 'payment_id'),
    amountMinor: amount(refund, 'amount'),
    status: text(refund, 'status'),
    key: optionalText(refund.receipt),
    currency: text(refund, 'currency'),
    createdAt: amount(refund, 'created_at'),
  }
}

export function disputeOf(answer: unknown): Dispute {
  const dispute = entity(answer, 'dispute', 'disp_')
  return {
    id: dispute.id,
    paymentId: text(dispute, 'payment_id'),
    amountMinor: amount(dispute, 'amount'),
    deductedMinor: dispute.amount_deducted == null ? 0 : amount(dispute, 'amount_deducted'),
    currency: text(dispute, 'currency'),
    status: text(dispute, 'status'),
    phase: text(dispute, 'phase'),
    createdAt: amount(dispute, 'created_at'),
  }
}

/** Reads a payment by its id. */
export async function askPayment(ask: Visit, id: string, query: Query = {}): Promise<Payment> {
  const payment = paymentOf(await ask.get(`/v1/payments/${id}`, query))
  if (payment.id === id) return payment
  throw new ProcessorUnavailable('Razorpay answered with another payment')
}

/** Reads a list that comes in one answer. */
export function listOf<T>(answer: unknown, of: (item: unknown) => T): T[] {
  if (!isObject(answer) || answer.entity !== 'collection' || !Array.isArray(answer.items))
    throw new ProcessorUnavailable('the answer is not a collection')
  return answer.items.map(of)
}

/** Reads a list page by page, newest first, until a page is `enough`. `visit` gives the time limit of each page. */
export async function allOf<T extends { id: string }>(
  visit: () => Visit,
  path: string,
  query: Query,
  of: (item: unknown) => T,
  enough: (page: readonly T[]) => boolean = () => false,
): Promise<T[]> {
  const all = new Map<string, T>()
  for (let page = 0; page < MOST_PAGES; page++) {
    const items = listOf(await visit().get(path, { ...query, count: PAGE, skip: page * PAGE }), of)
    const before = all.size
    for (const item of items) all.set(item.id, item)
    if (items.length < PAGE || enough(items)) return [...all.values()]
    if (all.size === before) break
  }
  throw new ProcessorUnavailable(`${path}: the list does not end`)
}

type Fields = Record<string, unknown>

function entity(answer: unknown, name: string, prefix: string): Fields & { id: string } {
  if (isObject(answer) && answer.entity === name) {
    const { id } = answer
    if (typeof id === 'string' && isId(prefix, id)) return { ...answer, id }
  }
  throw new ProcessorUnavailable(`the answer is not of the kind ${name}`)
}

/** Whether a text can be an id of that kind. The id becomes part of a URL, so other characters must not get through. */
export const isId = (prefix: string, id: string): boolean =>
  id.startsWith(prefix) && /^[A-Za-z0-9]{1,40}$/.test(id.slice(prefix.length))

function amount(fields: Fields, name: string): number {
  const value = fields[name]
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return value
  throw new ProcessorUnavailable(`the answer has no ${name}`)
}

function text(fields: Fields, name: string): string {
  const value = fields[name]
  if (typeof value === 'string' && value !== '') return value
  throw new ProcessorUnavailable(`the answer has no ${name}`)
}

const optionalText = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined
