import { newSigner } from '../kit/signing.ts'

/**
 * A right for a person who got an order from us but does not know its address. `pay` is the link that a seller's program hands to the
 * buyer: it shows the order and pays it. `back` is in the address to which a bank sends the buyer, where strangers can read it: it only
 * tells where the buyer goes on. No pass opens the files.
 */
export type Pass = 'pay' | 'back'

export interface OrderPasses {
  tokenFor(pass: Pass, orderId: string): string
  /** Undefined: the token is none of this order. */
  passOf(orderId: string, token: string | undefined): Pass | undefined
}

export function orderPasses(secrets: readonly string[]): OrderPasses {
  const signers = { pay: newSigner(secrets, 'pay an order'), back: newSigner(secrets, 'come back to an order') }
  return {
    tokenFor: (pass, orderId) => signers[pass].sign(orderId),
    passOf: (orderId, token) =>
      token === undefined ? undefined : (['pay', 'back'] as const).find((pass) => signers[pass].verify(orderId, token)),
  }
}
