import type { Created, OrderStatus, Rail, Status, Wish } from '../ui/api.ts'
import { isFullRefundPending } from '../ui/full-refund.ts'
import type { Kept } from './saved-checkout.ts'

export interface State {
  kept: Kept | undefined
  /** The service's last answer about the order that is kept. */
  order?: OrderStatus | undefined
  /** What is needed to pay; never stored. */
  created?: Created | undefined
  /** What the buyer has chosen so far, before there is an order. */
  offer?: Offer | undefined
  /** `in_form`: the buyer is paying in a processor's form, which has to stay where it is. */
  busy?: 'creating' | 'confirming' | 'in_form' | undefined
  notice?: Notice | undefined
  /** What the processor says to the buyer about it. */
  detail?: string | undefined
  trouble?: unknown
  failedAt?: 'create' | 'confirm' | 'check'
  /** The buyer is correcting the address. */
  editing?: boolean
  /** The way of paying of the last try, which the next one starts with. */
  rail?: Rail
  /** A code is on the screen that another device may pay. */
  watching?: boolean
}

/** What a buyer asks for, and what the page says that it costs. The service decides. */
export interface Offer {
  wish: Wish
  /** In minor units, before the code. */
  listMinor: number
  offMinor: number
}

/** Why nothing was paid. `left`: the buyer came away from the processor's form. `invalid`: something in it is missing. */
export type Notice = 'declined' | 'not_taken' | 'left' | 'invalid'

export type View = 'contact' | 'checking' | 'payment' | 'in_form' | 'waiting' | 'delivered' | 'ended'

/**
 * The one place that decides what is shown. What the service says about the order comes first, so that a paid order wins
 * every render; then a payment that may be under way; only after those may the page ask for money.
 */
export function viewOf({ kept, order, created, editing, busy, trouble }: State): View {
  switch (order?.status) {
    case 'paid':
    case 'partially_refunded':
      return isFullRefundPending(order) ? 'ended' : 'delivered'
    case 'refunded':
    case 'disputed':
    case 'charged_back':
    case 'expired':
    case 'needs_review':
      return 'ended'
    case 'processing':
      // a bank that said no after all leaves the order as it is, and lets the buyer try again
      if (!order.canPay) return 'waiting'
  }
  if (kept?.attempt) return busy === 'in_form' && created ? 'in_form' : 'waiting'
  if (editing || !kept?.orderId) return 'contact'
  if (order && isClosing(trouble)) return 'ended'
  return order && created ? 'payment' : 'checking'
}

/** The order takes no payment any more, although it waits for one: it was declined too often. */
export const isClosing = (trouble: unknown): boolean =>
  trouble instanceof Error && 'code' in trouble && trouble.code === 'payment_closed'

export const NO_NOTICE = { notice: undefined, detail: undefined }
export const NO_ORDER = { order: undefined, created: undefined, ...NO_NOTICE }

/** Whether the order has left the states in which it waits for money. */
export const isSettled = (status: Status | undefined): boolean =>
  status !== undefined && status !== 'pending' && status !== 'processing'
