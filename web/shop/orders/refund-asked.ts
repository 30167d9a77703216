import { DRAFTS, keep, readKept } from '../drafts.ts'

/** A requested refund with its key: sending it again with the same key makes no second refund. */
export interface RefundAsked {
  key: string
  amount: number
  reason: string
}

const placeOf = (orderId: string): string => `${DRAFTS}refund:${orderId}`

/** Kept from the press on the button until the answer, so that a reload in between cannot make a second refund. */
export const keepAsked = (orderId: string, asked: RefundAsked | undefined): void =>
  keep(placeOf(orderId), asked && JSON.stringify(asked))

export function askedBefore(orderId: string): RefundAsked | undefined {
  try {
    const asked = JSON.parse(readKept(placeOf(orderId)) ?? 'null') as RefundAsked | null
    return asked?.key && asked.amount > 0 ? asked : undefined
  } catch {
    return undefined
  }
}

/** `randomUUID` is missing where the page is not on https or localhost. */
export const newKey = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('')
