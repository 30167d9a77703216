import type { FastifyRequest } from 'fastify'
import assert from 'node:assert/strict'
import { Refusal } from '../kit/errors.ts'
import { type Browsers, refuseOtherAccount, refuseUnlessRecent } from '../sellers/guard.ts'
import type { SignedIn } from '../sellers/sessions.ts'

/** Admits operators to the operators' addresses. For everybody else these addresses do not exist. */
export interface Operators {
  /**
   * Runs before anything of a request is read. Refuses `not_found` in the words of an unknown address, unless an operator asks, and
   * `other_account` when the operator's page was drawn for another account: the log would name the wrong operator.
   */
  guard(request: FastifyRequest): Promise<void>
  /** The mailbox of the operator who makes a guarded request. */
  who(request: FastifyRequest): string
  /** The same after a sign-in of the last ten minutes, for actions that move money or people. Refuses `recent_sign_in_required`. */
  recently(request: FastifyRequest): string
  /** Whether an operator's browser sends the request. */
  isOperator(request: FastifyRequest): Promise<boolean>
}

/** The option of every route of the operators. */
export const HIDDEN = { hidden: true } as const
/** In the description of a route that `recently()` guards. */
export const RECENT = 'Needs a sign-in of the last ten minutes.'

export function operatorsOf(browsers: Pick<Browsers, 'quietly'>, mailboxes: readonly string[]): Operators {
  const known = new WeakMap<FastifyRequest, SignedIn>()
  const sessionOf = (request: FastifyRequest): SignedIn => {
    const session = known.get(request)
    assert(session, 'a route of the operators has no guard')
    return session
  }
  const isOperator = async (request: FastifyRequest): Promise<boolean> => {
    const session = mailboxes.length > 0 ? await browsers.quietly(request) : undefined
    if (!session?.isProven || !mailboxes.includes(session.seller.email)) return false
    known.set(request, session)
    return true
  }
  return {
    isOperator,
    async guard(request) {
      if (!(await isOperator(request))) throw new Refusal('not_found', 'There is nothing at this address.')
      refuseOtherAccount(request, sessionOf(request))
    },
    who: (request) => sessionOf(request).seller.email,
    recently(request) {
      const session = sessionOf(request)
      refuseUnlessRecent(session)
      return session.seller.email
    },
  }
}
