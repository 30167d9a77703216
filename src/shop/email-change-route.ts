import { Type } from 'typebox'
import { type EmailChangeParts, requestEmailChange } from '../buyers/email-changes.ts'
import { Email } from '../buyers/schema.ts'
import { canonicalEmail } from '../kit/email.ts'
import type { Server } from '../kit/http.ts'
import { refusing } from '../kit/schema.ts'
import { type Browsers, NEEDS_SESSION } from '../sellers/guard.ts'
import { refuseUnlessActive } from '../sellers/standing.ts'
import { OrderParams } from './schema.ts'

const NewEmail = Type.Object({ email: Email })

export interface EmailChangeRouteParts extends EmailChangeParts {
  browsers: Browsers
}

/** A seller corrects the address that a buyer mistyped. The buyer's steps are in buyers/email-change-routes.ts. */
export function requestEmailChangeRoute(server: Server, parts: EmailChangeRouteParts): void {
  server.post(
    '/api/orders/:orderId/email',
    {
      schema: {
        operationId: 'requestBuyerEmailChange',
        summary: 'Correct a buyer’s mistyped address',
        description:
          'Needs a sign-in of the last ten minutes. The new address gets a code that works for 24 hours and five tries. Nothing changes until the buyer types it on the order’s page. A newer code replaces the earlier ones.',
        tags: ['Orders'],
        security: NEEDS_SESSION,
        params: OrderParams,
        body: NewEmail,
        response: {
          202: NewEmail,
          ...refusing(
            'recent_sign_in_required',
            'approval_awaited',
            'seller_suspended',
            'order_not_found',
            'order_not_paid',
            'rate_limited',
          ),
        },
      },
    },
    async (request, reply) => {
      const { seller } = await parts.browsers.recentlySignedIn(request, reply)
      await refuseUnlessActive(parts.db, seller.id)
      const email = canonicalEmail(request.body.email)
      await requestEmailChange(parts, { orderId: request.params.orderId, sellerId: seller.id, email })
      return reply.code(202).send({ email })
    },
  )
}
