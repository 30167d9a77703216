import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { inTransaction } from '../kit/database.ts'
import { type Server, neverCached } from '../kit/http.ts'
import { type Limit, countUses, limited, networkOf, refuseBeyond } from '../kit/limits.ts'
import { refusing } from '../kit/schema.ts'
import type { FindOrder } from '../orders/find.ts'
import { type FreeMailLimits, refuseFreeMails } from '../orders/free-mails.ts'
import { TOO_MANY_RECEIPTS } from '../orders/receipts.ts'
import { isDelivered } from '../orders/states.ts'
import type { Db } from '../kit/database.ts'
import type { Jobs } from '../kit/jobs.ts'
import type { MatchingAddress } from './matching-address.ts'
import { ReceiptRequest, StatusParams } from './schema.ts'

interface ReceiptRouteParts {
  db: Db
  jobs: Jobs
  findOrder: FindOrder
  limits: { receipt?: Limit } & Partial<Record<keyof FreeMailLimits, Limit>>
  refuseUnknown: (request: FastifyRequest) => Promise<never>
  matchingAddress: MatchingAddress
}

/** Sends a buyer the receipt again. */
export function receiptRoute(
  server: Server,
  { db, jobs, findOrder, limits, refuseUnknown, matchingAddress }: ReceiptRouteParts,
): void {
  server.post(
    '/api/checkout/:orderId/receipt',
    {
      config: {
        anyOrigin: true,
        ...limited(
          limits.receipt,
          (request) => `receipt ${(request.params as { orderId: string }).orderId} ${networkOf(request.ip)}`,
        ),
      },
      schema: {
        operationId: 'sendReceipt',
        summary: 'Send the receipt again',
        description:
          'The mail goes only to the order’s address. A wrong address gets 202 too, and no mail. When too many receipts were sent to the order’s address, the response is 429 `rate_limited`.',
        tags: ['Checkout'],
        params: StatusParams,
        body: ReceiptRequest,
        response: { 202: Type.Object({}), ...refusing('order_not_found', 'rate_limited') },
      },
    },
    async (request, reply) => {
      neverCached(reply)
      const order = await findOrder(request.params.orderId)
      if (!order) return refuseUnknown(request)
      const hasFiles = isDelivered(order.state) && !order.fullRefundPending
      if ((await matchingAddress(order, request.body)) !== undefined && hasFiles) {
        // only sent mails count, so a stranger's requests do not use up the buyer's
        if (limits.receipt)
          refuseBeyond(await countUses(db, [{ key: `receipt:${order.id}`, limit: limits.receipt }]), TOO_MANY_RECEIPTS)
        await refuseFreeMails(db, { orderId: order.id, network: networkOf(request.ip) }, limits)
        await inTransaction(db, (tx) => jobs.add(tx, 'mail', [{ data: { kind: 'receipt', orderId: order.id } }]))
      }
      return reply.code(202).send({})
    },
  )
}
