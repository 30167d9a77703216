import { Type } from 'typebox'
import { canonicalEmail } from '../kit/email.ts'
import { type Server, neverCached } from '../kit/http.ts'
import { idPattern } from '../kit/ids.ts'
import { networkOf } from '../kit/limits.ts'
import { Code, refusing } from '../kit/schema.ts'
import { type EmailChangeParts, confirmEmailChange, consentToMove } from './email-changes.ts'
import { keepAddress, mailboxOf, moveSigner } from './order-moves.ts'
import { Email } from './schema.ts'

const OrderParams = Type.Object({ orderId: Type.String({ pattern: idPattern('ord') }) })
const Token = Type.String({ pattern: '^[\\w-]+$', maxLength: 120, description: 'From the link in the mail.' })

const Confirmation = Type.Object({
  moved: Type.Boolean(),
  needsConsent: Type.Boolean({
    description: 'The old mailbox has kept the order before, so the order moves only with that mailbox’s consent.',
  }),
})

/** The buyer confirms the address that the seller has corrected; the old mailbox keeps the order, or lets it move. */
export function emailChangeRoutes(server: Server, parts: EmailChangeParts): void {
  confirmBuyerEmailChangeRoute(server, parts)
  keepBuyerEmailRoute(server, parts)
  consentToEmailChangeRoute(server, parts)
}

function confirmBuyerEmailChangeRoute(server: Server, parts: EmailChangeParts): void {
  server.post(
    '/api/checkout/:orderId/email',
    {
      schema: {
        operationId: 'confirmBuyerEmailChange',
        summary: 'Confirm the right address of an order',
        description:
          'Needs the code from the mail to that address. If the mail server has refused the old mailbox, the order moves at once. Otherwise both addresses open the order, and the old mailbox gets a mail with the question. The order moves when that mailbox consents, or three days after its mail server accepted the mail, unless the old mailbox keeps the order. Every wrong input gets the same `invalid_code`.',
        tags: ['Checkout'],
        params: OrderParams,
        body: Type.Object({ email: Email, code: Code }),
        response: { 200: Confirmation, ...refusing('invalid_code', 'rate_limited') },
      },
    },
    async (request, reply) => {
      neverCached(reply)
      const { email, code } = request.body
      const confirmed = await confirmEmailChange(parts, {
        orderId: request.params.orderId,
        email: canonicalEmail(email),
        code,
        network: networkOf(request.ip),
      })
      return reply.send(confirmed)
    },
  )
}

function keepBuyerEmailRoute(server: Server, parts: EmailChangeParts): void {
  const signer = moveSigner(parts.secrets)
  server.post(
    '/api/checkout/:orderId/email/keep',
    {
      schema: {
        operationId: 'keepBuyerEmail',
        summary: 'Keep an order at the address it has',
        description:
          'Needs the token of the link in the mail to that address. The link works as long as the order has that address. This ends the change that is under way, and a later change needs the consent of this mailbox. A repeat changes nothing.',
        tags: ['Checkout'],
        params: OrderParams,
        body: Type.Object({ token: Token }),
        response: { 200: Type.Object({}), ...refusing('email_change_over') },
      },
    },
    async (request, reply) => {
      neverCached(reply)
      const { orderId } = request.params
      const email = await mailboxOf(parts.db, signer, orderId, request.body.token)
      await keepAddress(parts.db, { orderId, email })
      return reply.send({})
    },
  )
}

function consentToEmailChangeRoute(server: Server, parts: EmailChangeParts): void {
  const signer = moveSigner(parts.secrets)
  server.post(
    '/api/checkout/:orderId/email/consent',
    {
      schema: {
        operationId: 'consentToEmailChange',
        summary: 'Let an order move to its new address at once',
        description: 'Needs the token of the link, and the code, from the mail to the order’s present address.',
        tags: ['Checkout'],
        params: OrderParams,
        body: Type.Object({ token: Token, code: Code }),
        response: { 200: Type.Object({}), ...refusing('invalid_code', 'email_change_over', 'rate_limited') },
      },
    },
    async (request, reply) => {
      neverCached(reply)
      const { orderId } = request.params
      const oldEmail = await mailboxOf(parts.db, signer, orderId, request.body.token)
      await consentToMove(parts, { orderId, oldEmail, code: request.body.code, network: networkOf(request.ip) })
      return reply.send({})
    },
  )
}
