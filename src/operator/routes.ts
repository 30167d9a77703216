import type { Db } from '../kit/database.ts'
import { CSV_ROWS, type Columns, listOf, sendCsv, wantsCsv } from '../kit/csv.ts'
import type { Server } from '../kit/http.ts'
import type { Jobs } from '../kit/jobs.ts'
import { afterOf, allPages, pageOf } from '../kit/keyset.ts'
import { limitOf, refusing } from '../kit/schema.ts'
import { HIDDEN, type Operators } from './guard.ts'
import { type LogRow, readLog } from './log.ts'
import { recallAsOperator } from './recall.ts'
import { type Check, type Machine, checkMachine } from './machine.ts'
import { mattersOf } from './matters.ts'
import {
  Attention,
  FileParams,
  Log,
  type LogEntry,
  LogQuery,
  Recall,
  Recalled,
  Statistics,
  StatisticsQuery,
} from './schema.ts'
import { type PeriodDays, type Sums, statisticsOf } from './statistics.ts'

export interface OperatorRouteParts {
  db: Db
  jobs: Jobs
  operators: Operators
  machine: Machine
  /** Whether the payments of a public service are tests. */
  isOnTrial: boolean
  orderUrl: (orderId: string) => string
}

/** The tag of the operators' routes. The description of the API says for all of them who gets 404. */
export const TAG = ['Operator']

/** The overview, the recall of files, and the log of operators' actions. */
export function overviewRoutes(server: Server, parts: OperatorRouteParts): void {
  statisticsRoute(server, parts)
  attentionRoute(server, parts)
  recallRoute(server, parts)
  logRoute(server, parts)
}

function statisticsRoute(server: Server, { db }: OperatorRouteParts): void {
  server.get(
    '/api/operator/statistics',
    {
      config: HIDDEN,
      schema: {
        operationId: 'operatorStatistics',
        summary: 'Volume, fees and conversion of the service',
        description: 'In days of UTC; 365 days come in weeks.',
        tags: TAG,
        querystring: StatisticsQuery,
        response: { 200: Statistics, ...refusing() },
      },
    },
    async (request) => {
      const { items, ...period } = await statisticsOf(db, Number(request.query.days ?? 30) as PeriodDays)
      const view = <S extends Sums>({ volumeMinor, feesMinor, ...rest }: S) => ({
        ...rest,
        volume: volumeMinor,
        fees: feesMinor,
      })
      return { ...period, items: items.map(({ buckets, ...sums }) => ({ ...view(sums), buckets: buckets.map(view) })) }
    },
  )
}

function attentionRoute(server: Server, { db, machine, isOnTrial }: OperatorRouteParts): void {
  server.get(
    '/api/operator/attention',
    {
      config: HIDDEN,
      schema: {
        operationId: 'operatorAttention',
        summary: 'What needs a person, and how the machine is',
        tags: TAG,
        response: { 200: Attention, ...refusing() },
      },
    },
    async () => {
      const [matters, checks] = await Promise.all([mattersOf(db, { isOnTrial }), checkMachine(machine)])
      return {
        matters: matters.map(({ at, ...matter }) => ({ ...matter, at: at && at.toISOString() })),
        checks: checks satisfies Check[],
      }
    },
  )
}

function recallRoute(server: Server, { db, operators }: OperatorRouteParts): void {
  server.post(
    '/api/operator/files/:fileId/recall',
    {
      config: HIDDEN,
      schema: {
        operationId: 'operatorRecallFile',
        summary: 'Recall a file for good',
        description:
          'Needs a sign-in of the last ten minutes. Every copy that its seller has of these bytes goes, also for buyers who paid; they get a mail with the reason. A repeat changes nothing.',
        tags: TAG,
        params: FileParams,
        body: Recall,
        response: { 200: Recalled, ...refusing('recent_sign_in_required', 'file_not_found') },
      },
    },
    async (request) => {
      const actor = operators.recently(request)
      const { name, productName, recalledAt, reason, already, elsewhere } = await recallAsOperator(db, actor, {
        fileId: request.params.fileId,
        reason: request.body.reason,
      })
      return {
        name,
        product: productName,
        recalledAt: recalledAt.toISOString(),
        reason,
        already,
        elsewhere: elsewhere.map(({ fileId, productName: product, sellerName: seller }) => ({
          fileId,
          product,
          seller,
        })),
      }
    },
  )
}

function logRoute(server: Server, { db }: OperatorRouteParts): void {
  server.get(
    '/api/operator/log',
    {
      config: HIDDEN,
      schema: {
        operationId: 'operatorLog',
        summary: 'What operators have done',
        description: 'Newest first. Nothing in it is ever changed. With `Accept: text/csv` the response is a file.',
        tags: TAG,
        querystring: LogQuery,
        response: { 200: listOf(Log, 'A page of the log.'), ...refusing() },
      },
    },
    async (request, reply) => {
      const { cursor, limit, subject } = request.query
      const after = afterOf(cursor, '^[1-9][0-9]{0,17}$')
      if (wantsCsv(request)) {
        const read = (from: typeof after, rows: number) => readLog(db, { subject }, { after: from, limit: rows })
        return sendCsv(request, reply, 'operator-log', LOG_COLUMNS, allPages(read, { after, limit: CSV_ROWS }))
      }
      const most = limitOf(limit)
      return pageOf(await readLog(db, { subject }, { after, limit: most + 1 }), most, logView)
    },
  )
}

const logView = ({ at, ...row }: LogRow): LogEntry => ({ ...row, at: at.toISOString() })

const LOG_COLUMNS: Columns<LogRow> = {
  id: ({ id }) => id,
  at: ({ at }) => at.toISOString(),
  actor: ({ actor }) => actor,
  action: ({ action }) => action,
  subject: ({ subject }) => subject,
  detail: ({ detail }) => JSON.stringify(detail),
}
