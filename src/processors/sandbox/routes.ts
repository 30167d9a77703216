import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { Refusal } from '../../kit/errors.ts'
import { refuseFromAfar } from '../../kit/hosts.ts'
import { type Server, neverCached } from '../../kit/http.ts'
import { type Limit, limited } from '../../kit/limits.ts'
import { Amount, refusing } from '../../kit/schema.ts'
import { RAILS } from '../rails.ts'
import * as bank from './bank.ts'
import type { SandboxPayments } from './payments.ts'
import { refund, refundedOf } from './refunds.ts'
import { clientSecretSigner, paymentOfSecret } from './sandbox.ts'

const ClientSecret = Type.String({ minLength: 1, maxLength: 200 })

export interface SandboxParts {
  payments: SandboxPayments
  secrets: readonly string[]
  limit: Limit | undefined
  onlyFromHere: boolean
}

/** Plays the payment form and the processor's dashboard. The routes exist only while the sandbox serves. */
export function sandboxRoutes(server: Server, { secrets, limit, onlyFromHere, ...parts }: SandboxParts): void {
  const signer = clientSecretSigner(secrets)
  const route: Route = {
    ...parts,
    paymentOf(clientSecret) {
      const id = paymentOfSecret(signer, clientSecret)
      if (!id) throw new Refusal('payment_not_found', 'There is no such payment.')
      return id
    },
    options: {
      config: { anyOrigin: true, ...limited(limit) },
      onRequest: onlyFromHere ? [async (request: FastifyRequest) => refuseFromAfar(request)] : [],
    },
  }
  confirmRoute(server, route)
  refundRoute(server, route)
  disputeRoute(server, route)
}

/** The parts that all three routes need. */
interface Route {
  payments: SandboxPayments
  /** The payment of a client secret. Refuses `payment_not_found`. */
  paymentOf: (clientSecret: string) => string
  options: {
    config: { anyOrigin: boolean } & ReturnType<typeof limited>
    onRequest: ((request: FastifyRequest) => Promise<void>)[]
  }
}

function confirmRoute(server: Server, { payments, paymentOf, options }: Route): void {
  server.post(
    '/api/sandbox/confirm',
    {
      ...options,
      schema: {
        operationId: 'sandboxConfirm',
        summary: 'Pay, in the sandbox',
        description: 'The scenario says how the bank behaves. A decline is 402 `payment_declined`.',
        tags: ['Sandbox'],
        body: Type.Object({
          clientSecret: ClientSecret,
          rail: Type.Enum([...RAILS]),
          scenario: Type.Optional(Type.Enum([...bank.SCENARIOS])),
        }),
        response: {
          200: Type.Object({ status: Type.Enum(['captured', 'processing']) }),
          ...refusing(
            'local_only',
            'rail_not_offered',
            'payment_declined',
            'payment_not_found',
            'payment_already_captured',
            'payment_in_progress',
            'payment_closed',
          ),
        },
      },
    },
    async (request, reply) => {
      neverCached(reply)
      const { clientSecret, rail, scenario = 'success' } = request.body
      const status = await bank.confirm(payments, paymentOf(clientSecret), rail, scenario)
      if (status === 'declined')
        throw new Refusal('payment_declined', 'The bank has declined this payment. Nothing was charged.')
      return { status }
    },
  )
}

function refundRoute(server: Server, { payments, paymentOf, options }: Route): void {
  server.post(
    '/api/sandbox/refund',
    {
      ...options,
      schema: {
        operationId: 'sandboxRefund',
        summary: 'Send money back, as in the processor’s dashboard',
        tags: ['Sandbox'],
        body: Type.Object({ clientSecret: ClientSecret, amount: Type.Optional(Amount) }),
        response: {
          200: Type.Object({ refundedAmount: Amount }),
          ...refusing('local_only', 'payment_not_found', 'payment_not_captured'),
        },
      },
    },
    async (request, reply) => {
      neverCached(reply)
      const id = paymentOf(request.body.clientSecret)
      const payment = await refund(payments, id, { amountMinor: request.body.amount })
      return { refundedAmount: refundedOf(payment.refunds) }
    },
  )
}

function disputeRoute(server: Server, { payments, paymentOf, options }: Route): void {
  server.post(
    '/api/sandbox/dispute',
    {
      ...options,
      schema: {
        operationId: 'sandboxDispute',
        summary: 'Dispute a payment, and let the bank decide',
        tags: ['Sandbox'],
        body: Type.Object({ clientSecret: ClientSecret, outcome: Type.Enum(['open', 'won', 'lost']) }),
        response: {
          200: Type.Object({ outcome: Type.String() }),
          ...refusing('local_only', 'payment_not_found', 'payment_not_captured'),
        },
      },
    },
    async (request, reply) => {
      neverCached(reply)
      const { clientSecret, outcome } = request.body
      await bank.dispute(payments, paymentOf(clientSecret), outcome)
      return { outcome }
    },
  )
}
