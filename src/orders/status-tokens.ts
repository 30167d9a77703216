import { newSigner } from '../kit/signing.ts'

/**
 * A status token shows that its holder got the order from us: from the browser that made it, or from the link in its receipt. Wrong
 * addresses that strangers try for the order do not lock such a buyer out. The token opens nothing by itself: it works only together
 * with the address it was made for, and ends when the order gets another address.
 */
export interface StatusTokens {
  tokenFor(orderId: string, email: string): string
  isGood(token: string, orderId: string, email: string): boolean
}

export function statusTokens(secrets: readonly string[]): StatusTokens {
  const signer = newSigner(secrets, 'order status')
  return {
    tokenFor: (orderId, email) => signer.sign(`${orderId} ${email}`),
    isGood: (token, orderId, email) => signer.verify(`${orderId} ${email}`, token),
  }
}
