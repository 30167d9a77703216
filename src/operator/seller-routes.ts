import type { Server } from '../kit/http.ts'
import { idPattern } from '../kit/ids.ts'
import { afterOf, pageOf } from '../kit/keyset.ts'
import { limitOf, refusing } from '../kit/schema.ts'
import { HIDDEN, RECENT } from './guard.ts'
import { type OperatorRouteParts, TAG } from './routes.ts'
import { Done, type FoundSeller, FoundSeller as FoundSellerSchema, FoundSellers, Quota, SellerParams, SellersQuery } from './schema.ts' // oxfmt-ignore
import {
  type FoundSeller as FoundSellerRow,
  type SellerAction,
  approveSeller,
  endApproval,
  endSellerSessions,
  findSeller,
  resumeSeller,
  revokeSellerKeys,
  searchSellers,
  setQuota,
  suspendSeller,
} from './sellers.ts'

const RECENT_AGAIN = `${RECENT} A repeat changes nothing.`

/** The sellers: who may sell, how much they may store, and where they are signed in. */
export function operatorSellerRoutes(server: Server, parts: OperatorRouteParts): void {
  searchRoute(server, parts)
  getRoute(server, parts)
  quotaRoute(server, parts)
  for (const action of ACTIONS) actionRoute(server, parts, action)
}

const ACTIONS = [
  { method: 'PUT', path: 'approval', operationId: 'operatorApproveSeller', summary: 'Approve a seller', description: `The seller sells from then on, and is trusted. ${RECENT_AGAIN}`, run: approveSeller },
  { method: 'DELETE', path: 'approval', operationId: 'operatorEndApproval', summary: 'Take an approval back', description: `A seller who needed an approval waits for one again. ${RECENT_AGAIN}`, run: endApproval },
  { method: 'PUT', path: 'suspension', operationId: 'operatorSuspendSeller', summary: 'Suspend a seller', description: `Stops the sales at once. Buyers keep their files, and the seller can still sign in and refund. ${RECENT_AGAIN}`, run: suspendSeller },
  { method: 'DELETE', path: 'suspension', operationId: 'operatorResumeSeller', summary: 'End a suspension', description: RECENT_AGAIN, run: resumeSeller },
  { method: 'DELETE', path: 'sessions', operationId: 'operatorEndSessions', summary: 'Sign a seller out everywhere', description: RECENT_AGAIN, run: endSellerSessions },
  { method: 'DELETE', path: 'keys', operationId: 'operatorRevokeKeys', summary: 'Revoke all API keys of a seller', description: RECENT_AGAIN, run: revokeSellerKeys },
] as const satisfies { method: 'PUT' | 'DELETE'; path: string; operationId: string; summary: string; description: string; run: SellerAction }[] // oxfmt-ignore

function actionRoute(
  server: Server,
  { db, jobs, operators }: OperatorRouteParts,
  { method, path, run, ...words }: (typeof ACTIONS)[number],
): void {
  server.route({
    method,
    url: `/api/operator/sellers/:sellerId/${path}`,
    config: HIDDEN,
    schema: {
      ...words,
      tags: TAG,
      params: SellerParams,
      response: { 200: Done, ...refusing('recent_sign_in_required', 'seller_not_found') },
    },
    handler: async (request) => {
      const actor = operators.recently(request)
      return { changed: await run(db, jobs, actor, request.params.sellerId) }
    },
  })
}

function searchRoute(server: Server, { db }: OperatorRouteParts): void {
  server.get(
    '/api/operator/sellers',
    {
      config: HIDDEN,
      schema: {
        operationId: 'operatorSellers',
        summary: 'Find sellers',
        description: 'Newest first.',
        tags: TAG,
        querystring: SellersQuery,
        response: { 200: FoundSellers, ...refusing() },
      },
    },
    async (request) => {
      const { cursor, limit, ...search } = request.query
      const most = limitOf(limit)
      const after = afterOf(cursor, idPattern('sel'))
      return pageOf(await searchSellers(db, search, { after, limit: most + 1 }), most, sellerView)
    },
  )
}

function getRoute(server: Server, { db }: OperatorRouteParts): void {
  server.get(
    '/api/operator/sellers/:sellerId',
    {
      config: HIDDEN,
      schema: {
        operationId: 'operatorSeller',
        summary: 'A seller',
        tags: TAG,
        params: SellerParams,
        response: { 200: FoundSellerSchema, ...refusing('seller_not_found') },
      },
    },
    async (request) => sellerView(await findSeller(db, request.params.sellerId)),
  )
}

function quotaRoute(server: Server, { db, operators }: OperatorRouteParts): void {
  server.put(
    '/api/operator/sellers/:sellerId/quota',
    {
      config: HIDDEN,
      schema: {
        operationId: 'operatorSetQuota',
        summary: 'Set how much a seller may store',
        description: RECENT_AGAIN,
        tags: TAG,
        params: SellerParams,
        body: Quota,
        response: { 200: Done, ...refusing('recent_sign_in_required', 'seller_not_found') },
      },
    },
    async (request) => {
      const actor = operators.recently(request)
      return { changed: await setQuota(db, actor, request.params.sellerId, request.body.quotaBytes) }
    },
  )
}

const sellerView = ({
  id,
  isTrusted,
  createdAt,
  approvalAskedAt,
  suspendedAt,
  lockedOutAt,
  ...row
}: FoundSellerRow): FoundSeller => ({
  sellerId: id,
  ...row,
  trusted: isTrusted,
  createdAt: createdAt.toISOString(),
  approvalAskedAt: approvalAskedAt && approvalAskedAt.toISOString(),
  suspendedAt: suspendedAt && suspendedAt.toISOString(),
  lockedOutAt: lockedOutAt && lockedOutAt.toISOString(),
})
