import { sql } from 'kysely'
import { Gauge, Histogram, Registry, collectDefaultMetrics } from 'prom-client'
import { Type } from 'typebox'
import type { Db } from './database.ts'
import { Refusal } from './errors.ts'
import type { Server } from './http.ts'
import { Problem } from './schema.ts'

const Health = Type.Object({ status: Type.Literal('ok') })
const READY_TIMEOUT_MS = 2_000

/** A number of the service's own for /metrics, read at each scrape. */
export interface Measure {
  name: string
  help: string
  read(): Promise<number | undefined>
}

/**
 * `/healthz`: the process answers. `/readyz`: it can do its work, so a load balancer may send requests. `/metrics`: Prometheus'
 * text format; where `metricsAreLocal`, only to a scraper on this very machine.
 */
export function healthRoutes(
  server: Server,
  {
    db,
    isClosing,
    metricsAreLocal,
    measures,
  }: { db: Db; isClosing: () => boolean; metricsAreLocal: boolean; measures: readonly Measure[] },
): void {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  const seconds = new Histogram({
    name: 'till_http_request_duration_seconds',
    help: 'How long requests took, by route and status',
    labelNames: ['method', 'route', 'status'],
    buckets: [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5],
    registers: [registry],
  })
  for (const { name, help, read } of measures) {
    const gauge = new Gauge({
      name,
      help,
      registers: [],
      // what is not known is no number, and no reason to tell nothing else
      async collect() {
        this.set((await read().catch(() => undefined)) ?? Number.NaN)
      },
    })
    registry.registerMetric(gauge)
  }
  server.addHook('onResponse', (request, reply, done) => {
    seconds.observe(
      { method: request.method, route: request.routeOptions.url ?? '(none)', status: reply.statusCode },
      reply.elapsedTime / 1000,
    )
    done()
  })

  const schema = { tags: ['Operation'], response: { 200: Health, '5xx': Problem } }
  server.get(
    '/healthz',
    { schema: { ...schema, operationId: 'isAlive', summary: 'The process answers' } },
    async () => ({ status: 'ok' as const }),
  )
  server.get(
    '/readyz',
    {
      schema: {
        ...schema,
        operationId: 'isReady',
        summary: 'The service can do its work',
        description: 'No while its database does not answer, and while it ends (`shutting_down`).',
      },
    },
    async () => {
      if (isClosing()) throw new Refusal('shutting_down', 'The service is ending.', { retryAfterSeconds: 5 })
      const answer = sql`select 1`.execute(db).then(() => true)
      answer.catch(() => {})
      const late = new Promise<false>((resolve) => setTimeout(resolve, READY_TIMEOUT_MS, false).unref())
      if (!(await Promise.race([answer, late])))
        throw new Refusal('database_unavailable', 'The database does not answer.', { retryAfterSeconds: 2 })
      return { status: 'ok' as const }
    },
  )
  server.get('/metrics', { schema: { hide: true } }, async (request, reply) => {
    const local =
      ['127.0.0.1', '::1', '::ffff:127.0.0.1'].includes(request.socket.remoteAddress ?? '') &&
      !request.headers['x-forwarded-for']
    if (metricsAreLocal && !local) throw new Refusal('not_found', 'There is nothing at this address.')
    return reply.type(registry.contentType).send(await registry.metrics())
  })
}
