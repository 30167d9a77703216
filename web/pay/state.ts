import type { Created, OrderStatus, Rail, Status } from '../ui/api.ts'
import { isGoingBack } from '../ui/going-back.ts'
import type { Kept } from './kept.ts'

export interface State {
  kept: Kept | undefined
  /** The service's last answer about the order that is kept. */
  order?: OrderStatus | undefined
  /** What is needed to pay; never stored. */
  created?: Created | undefined
  busy?: 'creating' | 'confirming' | undefined
  notice?: 'declined' | 'not_taken' | undefined
  trouble?: unknown
  failedAt?: 'create' | 'confirm' | 'check'
  /** The buyer is correcting the address. */
  editing?: boolean
  /** The way of paying of the last try, which the next one starts with. */
  rail?: Rail
  /** A code is on the screen that another device may pay. */
  watching?: boolean
}

export type View = 'contact' | 'checking' | 'payment' | 'waiting' | 'delivered' | 'ended'

/**
 * The one place that decides what is shown. What the service says about the order comes first, so that a paid order wins
 * every render; then a payment that may be under way; only after those may the page ask for money.
 */
export function viewOf({ kept, order, created, editing }: State): View {
  switch (order?.status) {
    case 'paid':
    case 'partially_refunded':
      return isGoingBack(order) ? 'ended' : 'delivered'
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
  if (kept?.attempt) return 'waiting'
  if (editing || !kept?.orderId) return 'contact'
  return order && created ? 'payment' : 'checking'
}

/** Whether the order has left the states in which it waits for money. */
export const isSettled = (status: Status | undefined): boolean =>
  status !== undefined && status !== 'pending' && status !== 'processing'
