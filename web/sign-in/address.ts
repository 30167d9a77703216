import { returnPath } from '../../src/kit/return-path.ts'

const SHOP = '/shop/'
const NEW_PASSWORD = '/account/#password'

/** The page's address tells these about the seller and where they want to go. */
export interface Address {
  returnTo: string
  /** Why another page sent the seller here. */
  error: string | undefined
  /** The session is too old for the seller's next step. */
  again: boolean
  /** The seller has just signed out. */
  out: boolean
  /** The seller has forgotten the password: after the code they set a new one. */
  forgot: boolean
}

export function readAddress(): Address {
  const query = new URLSearchParams(location.search)
  return {
    returnTo: returnPath(query.get('returnTo'), SHOP),
    error: query.get('error') ?? undefined,
    again: query.has('again'),
    out: query.has('out'),
    forgot: query.has('forgot'),
  }
}

/** The page for a signed-in seller. */
export const goalOf = ({ returnTo, forgot }: Address): string => (forgot ? NEW_PASSWORD : returnTo)
