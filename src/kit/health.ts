import { sql } from 'kysely'
import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from 'prom-client'
import { Type } from 'typebox'
import type { Db } from './database.ts'
import { Refusal } from './errors.ts'
import type { Measure } from './measure.ts'
import { isFromHere } from './hosts.ts'
import type { Server } from './http.ts'
import { Problem } from './schema.ts'
import { isBearer } from './tokens.ts'

const Health = Type.Object({ status: Type.Literal('ok') })
const READY_TIMEOUT_MS = 2_000
/** /readyz has no limit and uses connections that payments need. So all requests within this time share one answer. */
const READY_CACHE_MS = 500

/**
 * `/healthz` tells that the process answers. `/readyz` tells that it can do its work, so that a load balancer may send requests.
 * `/metrics` is in Prometheus' text format, for holders of `metricsToken`. Without a token only this machine may read it, and where
 * `isPublic` not even this machine: a proxy on it that adds no forwarding header would publish the metrics.
 */
export function healthRoutes(
  server: Server,
  {
    db,
    isClosing,
    config: { metricsToken, isPublic },
    measures,
  }: {
    db: Db
    isClosing: () => boolean
    config: { metricsToken: string | undefined; isPublic: boolean }
    measures: readonly Measure[]
  },
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
  for (const measure of measures) register(registry, measure)
  server.addHook('onResponse', (request, reply, done) => {
    seconds.observe(
      { method: request.method, route: request.routeOptions.url ?? '(none)', status: reply.statusCode },
      reply.elapsedTime / 1000,
    )
    done()
  })

  // on a connection that stays open, the client's next request could fail because the service has ended
  server.addHook('onSend', (_request, reply, _payload, done) => {
    if (isClosing()) reply.header('connection', 'close')
    done()
  })

  const askDatabase = sharedAnswer(() => sql`select 1`.execute(db), READY_CACHE_MS)
  const schema = { tags: ['Operation'], response: { 200: Health, '5xx': Problem } }
  server.get(
    '/healthz',
    {
      config: { anyHost: true, unmetered: true },
      schema: { ...schema, operationId: 'isAlive', summary: 'The process answers' },
    },
    async () => ({ status: 'ok' as const }),
  )
  server.get(
    '/readyz',
    {
      config: { anyHost: true, unmetered: true },
      schema: {
        ...schema,
        operationId: 'isReady',
        summary: 'The service can do its work',
        description: 'No while its database does not answer, and while it ends (`shutting_down`).',
      },
    },
    async () => {
      if (isClosing()) throw new Refusal('shutting_down', 'The service is ending.', { retryAfterSeconds: 5 })
      const answer = askDatabase().then(() => true)
      const late = new Promise<false>((resolve) => setTimeout(resolve, READY_TIMEOUT_MS, false).unref())
      if (!(await Promise.race([answer, late])))
        throw new Refusal('database_unavailable', 'The database does not answer.', { retryAfterSeconds: 2 })
      return { status: 'ok' as const }
    },
  )
  const anyHost = metricsToken !== undefined
  server.get('/metrics', { config: { anyHost, unmetered: true }, schema: { hide: true } }, async (request, reply) => {
    if (metricsToken ? !isBearer(request, metricsToken) : isPublic || !isFromHere(request))
      throw new Refusal('not_found', 'There is nothing at this address.')
    return reply.type(registry.contentType).send(await registry.metrics())
  })
}

/** Calls `ask` at most once at a time. All callers share its answer, also a failure, for `cacheMs`. */
export function sharedAnswer<T>(
  ask: () => Promise<T>,
  cacheMs: number,
  now = () => performance.now(),
): () => Promise<T> {
  let answer: Promise<T> | undefined
  let goodUntil = 0
  return () => {
    if (answer && now() < goodUntil) return answer
    goodUntil = Number.POSITIVE_INFINITY
    answer = ask().finally(() => (goodUntil = now() + cacheMs))
    // the caller may have stopped waiting, and an unhandled rejection would end the process
    answer.catch(() => {})
    return answer
  }
}

function register(registry: Registry, { name, help, labels = [], isCounter = false, read }: Measure): void {
  // a measure that cannot be read is NaN, so that the other measures still appear
  const samples = async () => {
    const found = (await read().catch(() => undefined)) ?? Number.NaN
    return typeof found === 'number' ? [{ labels: {}, value: found }] : found
  }
  const shape = { name, help, labelNames: [...labels], registers: [] }
  const metric = isCounter
    ? new Counter({
        ...shape,
        async collect() {
          const all = await samples()
          this.reset()
          for (const one of all) this.inc(one.labels, one.value)
        },
      })
    : new Gauge({
        ...shape,
        async collect() {
          const all = await samples()
          this.reset()
          for (const one of all) this.set(one.labels, one.value)
        },
      })
  registry.registerMetric(metric)
}
