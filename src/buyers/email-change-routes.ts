import { Type } from 'typebox'
import { canonicalEmail } from '../kit/email.ts'
import { type Server, neverCached } from '../kit/http.ts'
import { idPattern } from '../kit/ids.ts'
import { networkOf } from '../kit/limits.ts'
import { Code, refusing } from '../kit/schema.ts'
import { type Browsers, NEEDS_SESSION } from '../sellers/guard.ts'
import { type EmailChangeParts, confirmEmailChange, requestEmailChange } from './email-changes.ts'
import { Email } from './schema.ts'

const OrderParams = Type.Object({ orderId: Type.String({ pattern: idPattern('ord') }) })
const NewEmail = Type.Object({ email: Email })

/** A seller puts a buyer's mistyped address right, and the buyer shows that it is theirs. */
export function emailChangeRoutes(server: Server, parts: EmailChangeParts & { browsers: Browsers }): void {
  server.post(
    '/api/orders/:orderId/email',
    {
      schema: {
        operationId: 'requestBuyerEmailChange',
        summary: 'Put a buyer’s mistyped address right',
        description:
          'A code goes to the new address, good for 24 hours and five tries; nothing changes until the buyer has typed it at the page of the order. A newer one takes the place of those before it.',
        tags: ['Orders'],
        security: NEEDS_SESSION,
        params: OrderParams,
        body: NewEmail,
        response: { 202: NewEmail, ...refusing('order_not_found', 'rate_limited') },
      },
    },
    async (request, reply) => {
      const { seller } = await parts.browsers.signedIn(request, reply)
      const email = canonicalEmail(request.body.email)
      await requestEmailChange(parts, { orderId: request.params.orderId, sellerId: seller.id, email })
      return reply.code(202).send({ email })
    },
  )

  server.post(
    '/api/checkout/:orderId/email',
    {
      schema: {
        operationId: 'confirmBuyerEmailChange',
        summary: 'Confirm the right address of an order',
        description:
          'With the code from the mail to that address. From then on the order opens with it alone; the old address is told. Whatever is wrong, the answer is the same `invalid_code`.',
        tags: ['Checkout'],
        params: OrderParams,
        body: Type.Object({ email: Email, code: Code }),
        response: { 200: Type.Object({}), ...refusing('invalid_code', 'rate_limited') },
      },
    },
    async (request, reply) => {
      neverCached(reply)
      const { email, code } = request.body
      await confirmEmailChange(parts, {
        orderId: request.params.orderId,
        email: canonicalEmail(email),
        code,
        network: networkOf(request.ip),
      })
      return reply.send({})
    },
  )
}
