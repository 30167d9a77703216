import type { Signer } from '../kit/signing.ts'

/**
 * Says that its bearer has the order from us: the browser that made it, or the link of its receipt. Wrong addresses that strangers
 * try for an order do not lock such a buyer out. It opens nothing by itself: it is good only beside the address it was made for,
 * and ends when the order gets another one.
 */
export interface StatusTokens {
  tokenFor(orderId: string, email: string): string
  isGood(token: string, orderId: string, email: string): boolean
}

export const statusTokens = (signer: Signer): StatusTokens => ({
  tokenFor: (orderId, email) => signer.sign(`${orderId} ${email}`),
  isGood: (token, orderId, email) => signer.verify(`${orderId} ${email}`, token),
})
