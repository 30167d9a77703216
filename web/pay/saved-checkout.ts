import type { Rail, Wish } from '../ui/api.ts'
import { placeOf } from '../ui/my-orders.ts'
import { listen, read, write } from '../ui/storage.ts'

/**
 * This browser's record of the order for one product. The page writes it before it sends the request. When the buyer
 * reloads or closes the page, or opens it twice, the page finds the same order again instead of making another.
 */
export interface Kept {
  email: string
  /** The Idempotency-Key: the same key gets the same order. */
  key: string
  /** All that the buyer chose, and the terms from the page's address. With another wish the order is another one. */
  wish?: Wish
  orderId?: string
  /** The token of the order's link, where a seller's program made the order. `email` is then only a hint of the address. */
  link?: string
  /** A payment that was sent and is not known to have failed. While it is there, the page asks for no payment. */
  attempt?: Attempt
  /**
   * The buyer seems to have left a form without paying and may still approve the payment, so the page goes on asking
   * for a sync.
   */
  left?: HowToPay
}

/** The buyer's next step for a payment, if the form reported it. */
export interface HowToPay {
  message?: string
  /** The page that shows it again. */
  link?: string
}

export interface Attempt {
  /** Absent for a processor's own form, which does not report how the buyer pays. */
  rail?: Rail
  sentAt: number
  /**
   * The bank's answer, or `left` when the buyer came back from the processor's form without an answer of the bank.
   * Absent: the answer was lost. In the last two cases the service must sync with the processor.
   */
  answer?: 'captured' | 'processing' | 'left'
  /** The bank has sent the buyer back. */
  back?: true
  how?: HowToPay
}

/** The order of a link, which the page's address names. It is kept by itself, and the product's own address does not show it. */
let linked: string | undefined
const place = (productId: string) => placeOf(linked ?? productId)

export const readKept = (productId: string): Kept | undefined => {
  const kept = read<Kept>(place(productId))
  return kept?.email && kept.key && (linked || !kept.link) ? kept : undefined
}

export const keep = (productId: string, kept: Kept | undefined): void => write(place(productId), kept)

/**
 * Takes the order of a link. Without the link's token: only if this browser has kept the order, with the known state of its payment. In
 * a frame, which has no storage, the token stays in the address.
 */
export function takeLink(orderId: string, link: string | undefined): void {
  const isKept = read(placeOf(orderId))
  if (!isKept && !link) return
  linked = orderId
  const hash = self !== top && link ? `#p=${link}` : location.hash
  history.replaceState(history.state, '', `${location.search}&order=${orderId}${hash}`)
  if (!isKept) keep('', { email: '…', key: link!, orderId, link: link! })
}

/** Calls `changed` when another tab has changed the kept order for the product. */
export const onOtherTab = (productId: string, changed: () => void): void => listen(place(productId), changed)
