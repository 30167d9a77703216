import type { FastifyReply } from 'fastify'
import { type Server, neverCached } from '../kit/http.ts'
import { refusing } from '../kit/schema.ts'
import type { ExportedFile } from '../payouts/export.ts'
import { HIDDEN, RECENT } from './guard.ts'
import { RunFileParams, RunFileQuery } from './payout-schema.ts'
import { exportAsOperator } from './payouts.ts'
import { TAG } from './routes.ts'
import type { PayoutRouteParts } from './run-routes.ts'

/** The bank files of a run: made once, and given with the same bytes after that. */
export function runFileRoutes(server: Server, parts: PayoutRouteParts): void {
  makeFileRoute(server, parts)
  fileRoute(server, parts)
}

const FILE_ANSWER = {
  description: 'The file.',
  content: { 'application/xml': { schema: { type: 'string' } }, 'text/csv': { schema: { type: 'string' } } },
}

function makeFileRoute(server: Server, { operators, work }: PayoutRouteParts): void {
  server.post(
    '/api/operator/payout-runs/:runId/files/:currency',
    {
      config: HIDDEN,
      schema: {
        operationId: 'operatorMakeRunFile',
        summary: 'Make a bank file of a run',
        description: `${RECENT} The first request makes the file, and each further one gives the same bytes, so a bank sees that it has the file already. Payouts that wait and belong to a file that was made without them: 409 \`file_made_before\`.`,
        tags: TAG,
        params: RunFileParams,
        querystring: RunFileQuery,
        response: {
          200: FILE_ANSWER,
          ...refusing(
            'recent_sign_in_required',
            'run_not_found',
            'run_not_approved',
            'nothing_to_export',
            'file_made_before',
            'secret_missing',
          ),
        },
      },
    },
    async (request, reply) => {
      const actor = operators.recently(request)
      return sendFile(reply, await exportAsOperator(work, actor, { ...request.params, ...request.query }))
    },
  )
}

function sendFile(reply: FastifyReply, { name, format, content }: ExportedFile): FastifyReply {
  neverCached(reply)
  return reply
    .type(format === 'sepa' ? 'application/xml; charset=utf-8' : 'text/csv; charset=utf-8')
    .header('content-disposition', `attachment; filename="${name}"`)
    .send(content)
}

function fileRoute(server: Server, { operators, work }: PayoutRouteParts): void {
  server.get(
    '/api/operator/payout-runs/:runId/files/:currency',
    {
      config: HIDDEN,
      schema: {
        operationId: 'operatorRunFile',
        summary: 'A bank file of a run',
        description: `${RECENT} One that was made before, with the same bytes. Otherwise: 409 \`run_not_exported\`.`,
        tags: TAG,
        params: RunFileParams,
        querystring: RunFileQuery,
        response: {
          200: FILE_ANSWER,
          ...refusing(
            'recent_sign_in_required',
            'run_not_found',
            'run_not_approved',
            'run_not_exported',
            'secret_missing',
          ),
        },
      },
    },
    async (request, reply) => {
      const actor = operators.recently(request)
      const wanted = { ...request.params, ...request.query, onlyMade: true }
      return sendFile(reply, await exportAsOperator(work, actor, wanted))
    },
  )
}
