import type { ApiError, Created, OrderStatus, ProductView, Rail, Status, Wish } from '../ui/api.ts'
import { isFullRefundPending } from '../ui/full-refund.ts'
import type { Kept } from './saved-checkout.ts'

export interface State {
  kept: Kept | undefined
  /** The service's last answer about the kept order. */
  order?: OrderStatus | undefined
  /** The data needed to pay. Never stored. */
  created?: Created | undefined
  /** The buyer's choices so far, before there is an order. */
  offer?: Offer | undefined
  /** Of the price that the buyer has switched to. Absent: that of the order, of the address or of the kept order, else the first. */
  currency?: string
  /** The tax of the country that the buyer has chosen, and of the VAT number. Absent: that of the product as it came. */
  tax?: ProductView['tax']
  /** Not empty: the buyer has changed something since the fields began to show the kept order. Only then are its price and its code judged anew. */
  typed?: string | undefined
  /** `in_form`: the buyer is paying in a processor's form, which must keep its place. */
  busy?: 'creating' | 'confirming' | 'in_form' | undefined
  notice?: Notice | undefined
  /** The processor's message to the buyer. */
  detail?: string | undefined
  trouble?: unknown
  failedAt?: 'create' | 'confirm' | 'check'
  /**
   * The price is another one than the page showed at the press: nothing was sent, and the page says so. `seller`: the order has that price.
   * `fields`: a field that was still loading has it.
   */
  repriced?: 'seller' | 'fields' | undefined
  /** The rail of the last try. The next try starts with it. */
  rail?: Rail
  /** A code that another device may pay is on the screen. */
  watching?: boolean
}

/** The buyer's wish and the price the page calculates for it. The service decides. */
export interface Offer {
  wish: Wish
  /** In minor units, before the discount. */
  listMinor: number
  offMinor: number
  /** The setup of the payment form, with the discount. Absent: the same as without it. */
  form?: ProductView['payments']['form']
}

/** Why nothing was paid. `left`: the buyer left the processor's form. `invalid`: something in the form is missing. */
export type Notice = 'declined' | 'not_taken' | 'left' | 'invalid'

/** Whether the fields show an order as it was made. Then it is paid as it is, also where its price or its code has ended since. */
export const isAsMade = ({ order, typed }: Pick<State, 'order' | 'typed'>) => order && !typed

/** `contact` and `payment` are one screen. In `payment` the order exists already. */
export type View = 'contact' | 'checking' | 'payment' | 'in_form' | 'waiting' | 'delivered' | 'ended'

/** Whether the buyer is at the one screen of the form. */
export const isForm = (view: View): view is 'contact' | 'payment' | 'in_form' =>
  view === 'contact' || view === 'payment' || view === 'in_form'

/**
 * The one place that decides what the page shows. The service's answer about the order comes first, so that a paid
 * order wins every render. Then comes a payment that may be under way. Only then may the page ask for money.
 */
export function viewOf({ kept, order, created, busy, trouble }: State): View {
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
      // After a late decline the order stays `processing`, and the buyer may try again.
      if (!order.canPay) return 'waiting'
  }
  if (kept?.attempt) return busy === 'in_form' && created ? 'in_form' : 'waiting'
  if (!kept?.orderId) return 'contact'
  if (order && isClosing(trouble)) return 'ended'
  return order && created ? 'payment' : 'checking'
}

/** The order takes no payment any more although it waits for one: it was declined too often. */
export const isClosing = (trouble: unknown): boolean =>
  (trouble as Partial<ApiError> | undefined)?.code === 'payment_closed'

export const NO_NOTICE = { notice: undefined, detail: undefined }
export const NO_ORDER = { order: undefined, created: undefined, repriced: undefined, typed: undefined, ...NO_NOTICE }

/** Whether the order has left the states in which it waits for money. */
export const isSettled = (status: Status | undefined): boolean =>
  status !== undefined && status !== 'pending' && status !== 'processing'
