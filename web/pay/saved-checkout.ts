import type { Rail, Wish } from '../ui/api.ts'
import { placeOf } from '../ui/my-orders.ts'
import { listen, read, write } from '../ui/storage.ts'

/**
 * What this browser keeps of the order for one product. It is written before the request that it is about: a page that
 * is reloaded, closed or opened twice finds the same order again and asks for it instead of making another.
 */
export interface Kept {
  email: string
  /** The Idempotency-Key: whoever sends it again gets the same order. */
  key: string
  /** What the buyer gives, and the code: another one is another order. */
  wish?: Wish
  orderId?: string
  /** A payment that was sent and is not known to have failed. While it is there, nobody is asked to pay. */
  attempt?: Attempt
  /** The buyer came away from a form without paying, as far as is known, and may still approve it: the processor is asked on. */
  left?: HowToPay
}

/** What the buyer still has to do for a payment, where the form told. */
export interface HowToPay {
  message?: string
  /** Where it is shown again. */
  link?: string
}

export interface Attempt {
  /** Where the page knows it: a processor's own form keeps to itself how the buyer pays. */
  rail?: Rail
  sentAt: number
  /**
   * What the bank said; `left` when the buyer came away from the processor's form without a word of it. Without any, the answer
   * was lost on the way. In both cases the processor has to be asked.
   */
  answer?: 'captured' | 'processing' | 'left'
  /** The bank has sent the buyer back. */
  back?: true
  how?: HowToPay
}

export const readKept = (productId: string): Kept | undefined => {
  const kept = read<Kept>(placeOf(productId))
  return kept?.email && kept.key ? kept : undefined
}

export const keep = (productId: string, kept: Kept | undefined): void => write(placeOf(productId), kept)

/** Tells when another tab has changed what is kept for the product. */
export const onOtherTab = (productId: string, changed: () => void): void => listen(placeOf(productId), changed)

/** At least 16 characters that nobody guesses; `randomUUID` is missing where the page is not on https or localhost. */
export function newKey(): string {
  if (crypto.randomUUID) return crypto.randomUUID()
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('')
}
