import { Type } from 'typebox'
import { type EmailChangeParts, requestEmailChange } from '../buyers/email-changes.ts'
import { Email } from '../buyers/schema.ts'
import { canonicalEmail } from '../kit/email.ts'
import type { Server } from '../kit/http.ts'
import { refusing } from '../kit/schema.ts'
import { type Browsers, NEEDS_SESSION } from '../sellers/guard.ts'
import { OrderParams } from './schema.ts'

const NewEmail = Type.Object({ email: Email })

export interface EmailChangeRouteParts extends EmailChangeParts {
  browsers: Browsers
}

/** A seller corrects the address that a buyer mistyped. buyers/email-change-routes.ts goes on from there. */
export function requestEmailChangeRoute(server: Server, parts: EmailChangeRouteParts): void {
  server.post(
    '/api/orders/:orderId/email',
    {
      schema: {
        operationId: 'requestBuyerEmailChange',
        summary: 'Put a buyer’s mistyped address right',
        description:
          'Within ten minutes of signing in. A code goes to the new address, good for 24 hours and five tries; nothing changes until the buyer has typed it at the page of the order. A newer one takes the place of those before it.',
        tags: ['Orders'],
        security: NEEDS_SESSION,
        params: OrderParams,
        body: NewEmail,
        response: {
          202: NewEmail,
          ...refusing('recent_sign_in_required', 'order_not_found', 'order_not_paid', 'rate_limited'),
        },
      },
    },
    async (request, reply) => {
      const { seller } = await parts.browsers.recentlySignedIn(request, reply)
      const email = canonicalEmail(request.body.email)
      await requestEmailChange(parts, { orderId: request.params.orderId, sellerId: seller.id, email })
      return reply.code(202).send({ email })
    },
  )
}
