import { isMovingTo } from '../buyers/order-moves.ts'
import type { Db } from '../kit/database.ts'
import { canonicalEmail } from '../kit/email.ts'
import { Refusal } from '../kit/errors.ts'
import { type Limit, countUses, refuseBeyond } from '../kit/limits.ts'
import { type WrongEmails, wrongEmailKey } from '../orders/find.ts'
import type { StatusTokens } from '../orders/status-tokens.ts'

interface MatcherParts {
  db: Db
  limits: { wrong_email?: Limit }
  statusTokens: StatusTokens
}

/** The address in a request, and its status token if it has one. */
export interface RequestIdentity {
  email?: string | undefined
  token?: string | undefined
}

export type MatchingAddress = (
  order: { id: string; email: string; wrongEmails: WrongEmails | null },
  identity: RequestIdentity,
) => Promise<string | undefined>

const TOO_MANY_GUESSES = 'Too many addresses were tried for this order.'

/**
 * Returns the address of a request if it is the order's, or the one that the order moves to, and undefined otherwise. The database
 * counts wrong addresses for each order, across all instances. Beyond the limit every address is refused with `rate_limited`, also the
 * right one, unless the request has the order's status token: so a stranger's guesses do not lock the buyer out.
 */
export function addressMatcher({ db, limits, statusTokens }: MatcherParts): MatchingAddress {
  /** Wrong addresses whose count is still on its way to the database, so that the addresses of a burst count at once. */
  const underWay = new Map<string, number>()

  return async ({ id, email, wrongEmails }, { email: given, token }) => {
    if (given === undefined || given === '') return undefined
    // a "+" that a client did not encode arrives as a space, which no address has
    const address = canonicalEmail(given).replaceAll(' ', '+')
    const matches = address === email || (await isMovingTo(db, id, address))
    const limit = limits.wrong_email
    if (!limit) return matches ? address : undefined
    if (matches && token && statusTokens.isGood(token, id, address)) return address
    const guesses = underWay.get(id) ?? 0
    // without a count the time begins with the guesses that are on their way
    const { count, secondsLeft } = wrongEmails ?? { count: 0, secondsLeft: limit.seconds }
    if (count + guesses >= limit.count) {
      const more = { retryAfterSeconds: Math.max(1, secondsLeft), limitCount: limit.count }
      throw new Refusal('rate_limited', TOO_MANY_GUESSES, more)
    }
    if (matches) return address
    underWay.set(id, guesses + 1)
    try {
      refuseBeyond(await countUses(db, [{ key: wrongEmailKey(id), limit }]), TOO_MANY_GUESSES)
    } finally {
      const remaining = underWay.get(id)! - 1
      if (remaining > 0) underWay.set(id, remaining)
      else underWay.delete(id)
    }
    return undefined
  }
}
