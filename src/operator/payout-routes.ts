import type { Server } from '../kit/http.ts'
import { idPattern } from '../kit/ids.ts'
import { afterOf, pageOf } from '../kit/keyset.ts'
import { limitOf, refusing } from '../kit/schema.ts'
import { searchPayouts } from '../payouts/run-views.ts'
import { HIDDEN, RECENT } from './guard.ts'
import { TAG } from './routes.ts'
import { runFileRoutes } from './run-file-routes.ts'
import { type PayoutRouteParts, runRoutes } from './run-routes.ts'
import { Done, SellerParams } from './schema.ts'
import {
  Adjustment,
  AdjustmentHeaders,
  Failure,
  NewAdjustment,
  OperatorPayouts,
  PayoutParams,
  PayoutsQuery,
} from './payout-schema.ts'
import { payoutView } from './payout-views.ts'
import { adjustAsOperator, markAsOperator, payAgainAsOperator } from './payouts.ts'

/** The payouts: runs, bank files, banks' statements, and corrections. */
export function operatorPayoutRoutes(server: Server, parts: PayoutRouteParts): void {
  runRoutes(server, parts)
  runFileRoutes(server, parts)
  listRoute(server, parts)
  paidRoute(server, parts)
  for (const one of FAILURES) failureRoute(server, parts, one)
  payAgainRoute(server, parts)
  adjustmentRoute(server, parts)
}

function listRoute(server: Server, { db }: PayoutRouteParts): void {
  server.get(
    '/api/operator/payouts',
    {
      config: HIDDEN,
      schema: {
        operationId: 'operatorPayouts',
        summary: 'Find payouts',
        description: 'Newest first.',
        tags: TAG,
        querystring: PayoutsQuery,
        response: { 200: OperatorPayouts, ...refusing() },
      },
    },
    async (request) => {
      const { cursor, limit, status, ...search } = request.query
      const most = limitOf(limit)
      const after = afterOf(cursor, idPattern('po'))
      return pageOf(await searchPayouts(db, { state: status, ...search }, { after, limit: most + 1 }), most, payoutView)
    },
  )
}

function paidRoute(server: Server, { operators, work }: PayoutRouteParts): void {
  server.post(
    '/api/operator/payouts/:payoutId/paid',
    {
      config: HIDDEN,
      schema: {
        operationId: 'operatorConfirmPayout',
        summary: 'The bank confirms a payout',
        description: `${RECENT} A repeat changes nothing. A payout that is in no bank file, or has failed, is 409 \`payout_not_movable\`.`,
        tags: TAG,
        params: PayoutParams,
        response: { 200: Done, ...refusing('recent_sign_in_required', 'payout_not_found', 'payout_not_movable') },
      },
    },
    async (request) => {
      const actor = operators.recently(request)
      return { changed: await markAsOperator(work, actor, { mark: 'paid', id: request.params.payoutId }) }
    },
  )
}

const FAILURES = [
  {
    mark: 'failed',
    operationId: 'operatorFailPayout',
    summary: 'The bank refused a payout',
    description: `${RECENT} The money goes back to the seller’s balance. Once a bank has had the payout, runs leave it there until the seller has saved the payout details again, or an operator says that the account is right. A repeat changes nothing. A payout in a file that is not marked as sent is 409 \`payout_not_movable\`, because the file could still be sent.`,
  },
  {
    mark: 'reversed',
    operationId: 'operatorReversePayout',
    summary: 'A confirmed payout came back',
    description: `${RECENT} The money goes back to the seller’s balance, and stays there as after a failure. A repeat changes nothing.`,
  },
] as const

function failureRoute(
  server: Server,
  { operators, work }: PayoutRouteParts,
  { mark, ...words }: (typeof FAILURES)[number],
): void {
  server.post(
    `/api/operator/payouts/:payoutId/${mark}`,
    {
      config: HIDDEN,
      schema: {
        ...words,
        tags: TAG,
        params: PayoutParams,
        body: Failure,
        response: { 200: Done, ...refusing('recent_sign_in_required', 'payout_not_found', 'payout_not_movable') },
      },
    },
    async (request) => {
      const actor = operators.recently(request)
      const { payoutId: id } = request.params
      const { reason, state: seen } = request.body
      return { changed: await markAsOperator(work, actor, { mark, id, reason, seen }) }
    },
  )
}

function payAgainRoute(server: Server, { operators, work }: PayoutRouteParts): void {
  server.post(
    '/api/operator/payouts/:payoutId/pay-again',
    {
      config: HIDDEN,
      schema: {
        operationId: 'operatorPayAgain',
        summary: 'The account of a payout that came back is right',
        description: `${RECENT} The next run proposes a payout there again. A repeat changes nothing. A payout that has not failed or come back is 409 \`payout_not_movable\`.`,
        tags: TAG,
        params: PayoutParams,
        response: { 200: Done, ...refusing('recent_sign_in_required', 'payout_not_found', 'payout_not_movable') },
      },
    },
    async (request) => {
      const actor = operators.recently(request)
      return { changed: await payAgainAsOperator(work, actor, request.params.payoutId) }
    },
  )
}

function adjustmentRoute(server: Server, { operators, work }: PayoutRouteParts): void {
  server.post(
    '/api/operator/sellers/:sellerId/adjustments',
    {
      config: HIDDEN,
      schema: {
        operationId: 'operatorAdjust',
        summary: 'Correct what is owed to a seller',
        description: `${RECENT} The seller reads the amount and the reason. With an \`Idempotency-Key\` a repeat books nothing.`,
        tags: TAG,
        params: SellerParams,
        headers: AdjustmentHeaders,
        body: NewAdjustment,
        response: {
          201: Adjustment,
          ...refusing('recent_sign_in_required', 'seller_not_found', 'idempotency_key_reused'),
        },
      },
    },
    async (request, reply) => {
      const actor = operators.recently(request)
      const { amount: amountMinor, currency, reason } = request.body
      const made = await adjustAsOperator(work, actor, {
        sellerId: request.params.sellerId,
        currency,
        amountMinor,
        reason,
        idempotencyKey: request.headers['idempotency-key'],
      })
      return reply.code(201).send({
        adjustmentId: made.id,
        amount: made.amountMinor,
        currency: made.currency,
        reason: made.reason,
        createdAt: made.createdAt.toISOString(),
      })
    },
  )
}
