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
/** Anybody may ask, as often as they like, over connections that payments need: so long one answer is everybody's. */
const READY_KEPT_MS = 500

/**
 * `/healthz`: the process answers. `/readyz`: it can do its work, so a load balancer may send requests. `/metrics`: Prometheus'
 * text format, for who has `metricsToken`. Without one only this machine reads it, and no machine where `isPublic`: a proxy on the
 * same machine that says nothing of whom it asks for would hand it to everybody.
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

  // a connection that is kept open would carry its next request into the end
  server.addHook('onSend', (_request, reply, _payload, done) => {
    if (isClosing()) reply.header('connection', 'close')
    done()
  })

  const askDatabase = sharedAnswer(() => sql`select 1`.execute(db), READY_KEPT_MS)
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

/** Asks once at a time for however many want to know, and keeps what was answered, a failure too, for `keptMs`. */
export function sharedAnswer<T>(
  ask: () => Promise<T>,
  keptMs: number,
  now = () => performance.now(),
): () => Promise<T> {
  let answer: Promise<T> | undefined
  let goodUntil = 0
  return () => {
    if (answer && now() < goodUntil) return answer
    goodUntil = Number.POSITIVE_INFINITY
    answer = ask().finally(() => (goodUntil = now() + keptMs))
    // whoever asked may have gone on meanwhile
    answer.catch(() => {})
    return answer
  }
}

function register(registry: Registry, { name, help, labels = [], isCounter = false, read }: Measure): void {
  // what is not known is no number, and no reason to tell nothing else
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
