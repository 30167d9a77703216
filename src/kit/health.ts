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

interface HealthParts {
  db: Db
  isClosing: () => boolean
  config: MetricsAccess
  measures: readonly Measure[]
}

/** Without a token only this machine reads the metrics, and where `isPublic` no machine does. */
interface MetricsAccess {
  metricsToken: string | undefined
  isPublic: boolean
}

/** Registers the routes by which the operator's machines watch the service. */
export function healthRoutes(server: Server, { db, isClosing, config, measures }: HealthParts): void {
  const registry = openRegistry(server, measures)
  // on a connection that stays open, the client's next request could fail because the service has ended
  server.addHook('onSend', (_request, reply, _payload, done) => {
    if (isClosing()) reply.header('connection', 'close')
    done()
  })
  aliveRoute(server)
  readyRoute(server, db, isClosing)
  metricsRoute(server, registry, config)
}

/** The metrics of the process, of its requests, and the service's own. */
function openRegistry(server: Server, measures: readonly Measure[]): Registry {
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
  return registry
}

const CONFIG = { anyHost: true, unmetered: true }
const SCHEMA = { tags: ['Operation'], response: { 200: Health, '5xx': Problem } }

function aliveRoute(server: Server): void {
  server.get(
    '/healthz',
    { config: CONFIG, schema: { ...SCHEMA, operationId: 'isAlive', summary: 'The process answers' } },
    async () => ({ status: 'ok' as const }),
  )
}

/** A load balancer sends requests to a service that is ready. */
function readyRoute(server: Server, db: Db, isClosing: () => boolean): void {
  const askDatabase = sharedAnswer(() => sql`select 1`.execute(db), READY_CACHE_MS)
  server.get(
    '/readyz',
    {
      config: CONFIG,
      schema: {
        ...SCHEMA,
        operationId: 'isReady',
        summary: 'The service can do its work',
        description:
          '503 while the database does not answer (`database_unavailable`), and while the service stops (`shutting_down`).',
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
}

/**
 * Gives the metrics in Prometheus' text format to holders of `metricsToken`. Where `isPublic`, not even this machine reads them
 * without the token: a proxy on it that adds no forwarding header would publish them.
 */
function metricsRoute(server: Server, registry: Registry, { metricsToken, isPublic }: MetricsAccess): void {
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
