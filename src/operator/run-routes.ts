import { Type } from 'typebox'
import type { Server } from '../kit/http.ts'
import { idPattern } from '../kit/ids.ts'
import { afterOf, pageOf } from '../kit/keyset.ts'
import { limitOf, refusing } from '../kit/schema.ts'
import { filesOf } from '../payouts/export.ts'
import { findRun, linesOf, listRuns } from '../payouts/run-views.ts'
import { HIDDEN, RECENT } from './guard.ts'
import { Approval, Run, RunDetail, RunLineParams, RunParams, Runs, RunsQuery, Sending, Sent } from './payout-schema.ts'
import { runDetailView, runView } from './payout-views.ts'
import {
  type PayoutWork,
  approveAsOperator,
  cancelAsOperator,
  leaveOutAsOperator,
  proposeAsOperator,
  sendAsOperator,
} from './payouts.ts'
import { type OperatorRouteParts, TAG } from './routes.ts'
import { Done } from './schema.ts'

export interface PayoutRouteParts extends OperatorRouteParts {
  work: PayoutWork
}

/** Runs of payouts: proposed, approved, exported to bank files, marked as sent. */
export function runRoutes(server: Server, parts: PayoutRouteParts): void {
  listRoute(server, parts)
  proposeRoute(server, parts)
  getRoute(server, parts)
  approveRoute(server, parts)
  cancelRoute(server, parts)
  for (const one of LINE_ROUTES) lineRoute(server, parts, one)
  sentRoute(server, parts)
}

function listRoute(server: Server, { db }: PayoutRouteParts): void {
  server.get(
    '/api/operator/payout-runs',
    {
      config: HIDDEN,
      schema: {
        operationId: 'operatorRuns',
        summary: 'The runs of payouts',
        description: 'Newest first.',
        tags: TAG,
        querystring: RunsQuery,
        response: { 200: Runs, ...refusing() },
      },
    },
    async (request) => {
      const { cursor, limit } = request.query
      const most = limitOf(limit)
      const after = afterOf(cursor, idPattern('run'))
      return pageOf(await listRuns(db, { after, limit: most + 1 }), most, runView)
    },
  )
}

function proposeRoute(server: Server, { db, operators, work }: PayoutRouteParts): void {
  server.post(
    '/api/operator/payout-runs',
    {
      config: HIDDEN,
      schema: {
        operationId: 'operatorProposeRun',
        summary: 'Propose payouts to all sellers',
        description: `${RECENT} A run says who would get how much now, and why others would not. It reserves nothing. When nothing is due: 409 \`nothing_to_pay_out\`.`,
        tags: TAG,
        response: { 201: RunDetail, ...refusing('recent_sign_in_required', 'nothing_to_pay_out') },
      },
    },
    async (request, reply) => {
      const actor = operators.recently(request)
      const runId = await proposeAsOperator(work, actor)
      return reply.code(201).send(await detailOf(db, work, runId))
    },
  )
}

function getRoute(server: Server, { db, work }: PayoutRouteParts): void {
  server.get(
    '/api/operator/payout-runs/:runId',
    {
      config: HIDDEN,
      schema: {
        operationId: 'operatorRun',
        summary: 'A run with its lines and bank files',
        tags: TAG,
        params: RunParams,
        response: { 200: RunDetail, ...refusing('run_not_found') },
      },
    },
    async (request) => detailOf(db, work, request.params.runId),
  )
}

function approveRoute(server: Server, { db, operators, work }: PayoutRouteParts): void {
  server.post(
    '/api/operator/payout-runs/:runId/approve',
    {
      config: HIDDEN,
      schema: {
        operationId: 'operatorApproveRun',
        summary: 'Approve a run',
        description: `${RECENT} The service counts again what can be paid now, and pays no seller more than the run proposed. From then on the money is reserved. The second of two operators gets 409 \`run_not_proposed\`.`,
        tags: TAG,
        params: RunParams,
        body: Type.Union([Approval, Type.Null()]),
        response: {
          200: RunDetail,
          ...refusing('recent_sign_in_required', 'run_not_found', 'run_not_proposed', 'run_changed'),
        },
      },
    },
    async (request) => {
      const actor = operators.recently(request)
      await approveAsOperator(work, actor, { ...request.params, ...request.body })
      return detailOf(db, work, request.params.runId)
    },
  )
}

function cancelRoute(server: Server, { db, operators, work }: PayoutRouteParts): void {
  server.post(
    '/api/operator/payout-runs/:runId/cancel',
    {
      config: HIDDEN,
      schema: {
        operationId: 'operatorCancelRun',
        summary: 'Cancel a run that waits',
        description: RECENT,
        tags: TAG,
        params: RunParams,
        response: { 200: Run, ...refusing('recent_sign_in_required', 'run_not_found', 'run_not_proposed') },
      },
    },
    async (request) => {
      const actor = operators.recently(request)
      await cancelAsOperator(work, actor, request.params.runId)
      return runView(await findRun(db, request.params.runId))
    },
  )
}

const LINE_ROUTES = [
  {
    method: 'PUT',
    isOut: true,
    operationId: 'operatorLeaveOut',
    summary: 'Leave a seller out of a run that waits',
    description: `${RECENT} The money stays in the balance, and the next run proposes it. A repeat changes nothing.`,
  },
  {
    method: 'DELETE',
    isOut: false,
    operationId: 'operatorTakeIn',
    summary: 'Take a seller into a run again',
    description: `${RECENT} After it was left out. A repeat changes nothing.`,
  },
] as const

function lineRoute(
  server: Server,
  { operators, work }: PayoutRouteParts,
  { method, isOut, ...words }: (typeof LINE_ROUTES)[number],
): void {
  server.route({
    method,
    url: '/api/operator/payout-runs/:runId/left-out/:sellerId/:currency',
    config: HIDDEN,
    schema: {
      ...words,
      tags: TAG,
      params: RunLineParams,
      response: {
        200: Done,
        ...refusing('recent_sign_in_required', 'run_not_found', 'run_not_proposed', 'run_line_not_found'),
      },
    },
    handler: async (request) => {
      const actor = operators.recently(request)
      return { changed: await leaveOutAsOperator(work, actor, { ...request.params, isOut }) }
    },
  })
}

function sentRoute(server: Server, { operators, work }: PayoutRouteParts): void {
  server.post(
    '/api/operator/payout-runs/:runId/sent',
    {
      config: HIDDEN,
      schema: {
        operationId: 'operatorSendRun',
        summary: 'The bank has the files of a run',
        description: `${RECENT} Marks the payouts as sent, all or those of one currency. Payouts that are in no file yet: 409 \`run_not_exported\`.`,
        tags: TAG,
        params: RunParams,
        body: Sending,
        response: { 200: Sent, ...refusing('recent_sign_in_required', 'run_not_found', 'run_not_exported') },
      },
    },
    async (request) => {
      const actor = operators.recently(request)
      return { sent: await sendAsOperator(work, actor, { runId: request.params.runId, ...request.body }) }
    },
  )
}

async function detailOf(db: PayoutRouteParts['db'], { writers }: PayoutRouteParts['work'], runId: string) {
  const run = await findRun(db, runId)
  const [files, lines] = await Promise.all([filesOf(db, runId, writers), linesOf(db, runId)])
  return runDetailView(run, files, lines)
}
