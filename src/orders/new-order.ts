import type { State } from './states.ts'

export interface NewOrder {
  productId: string
  /** The buyer's address, already trimmed and lower-cased. */
  email: string
  /** What the buyer gives, in minor units: read only where the buyer may say. */
  chosenMinor?: number | undefined
  /** As it was typed. */
  discountCode?: string | undefined
  /** The client's own name for this request: the same one never makes two orders. */
  idempotencyKey?: string | undefined
  /** From where it is ordered, as networks are counted. */
  network?: string | undefined
}

export interface CreatedOrder {
  id: string
  amountMinor: number
  /** What a code took off; the price without it was both together. */
  discountMinor: number
  currency: string
  statementDescriptor: string
  state: State
  /** It holds one of the few uses of a code. */
  hasLimitedCode: boolean
}

export interface OrderRow extends NewOrder {
  id: string
  keyHash: Buffer | null
  /** As it was kept before keys belonged to a product and an address. */
  plainKeyHash: Buffer | null
  requestHash: Buffer | null
}
