import { createHash } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { hashPassword } from '../src/kit/password-hash.ts'
import { paidOrders, products } from './fill.ts'
import { cycle, load, wire } from './load.ts'
import type { Result } from './report.ts'
import { WARM_UP_SECONDS, byTurns, medianOf, medians } from './rounds.ts'
import { idOf } from './sql.ts'
import type { Stage } from './stage.ts'
import { type Database, query } from './world.ts'

const SECONDS = 3
const SELLERS = 10_000
const REQUESTS = 1000
/** Sellers sign in by turns, so that no seller's sessions pile up. */
const BY_PASSWORD = 100
const PASSWORD = 'four lazy pelicans juggle'
const HASHES_A_ROUND = 20
const SIGNING_IN = 50
const BUYERS = 16
/** PostgreSQL tells its counts this long after a connection has come to rest, at the latest. */
const COUNTED_AFTER_MS = 11_000

/** The counting of tries is part of the measurement, but the limits stop no request. */
export const LIMITS = [
  'request',
  'key',
  'code',
  'code_address',
  'code_try',
  'mailbox',
  'mailbox_site',
  'password',
  'status',
  'wrong_email',
]
  .map((name) => `${name}=9999999/9999`)
  .join(',')

/** Measures the sign-in of sellers: the cost of each of their requests, and the cost for the buyers. */
export async function measureSignIn(stage: Stage): Promise<Result[]> {
  await signUp(stage.busy.database)
  return [
    ...(await measureSession(stage)),
    await measureCodes(stage),
    await measurePassword(stage),
    await measureBuyers(stage),
  ]
}

/** Sellers, each with a password and one session. */
async function signUp(database: Database): Promise<void> {
  const series = Array.from({ length: SELLERS }, (_, n) => n)
  const hash = await hashPassword(PASSWORD)
  await query(
    database,
    `insert into sellers (id, name, email, email_proven_at)
      select ${idOf('sel_01a')('n')}, 'Seller ' || n, 'seller' || n || '@bench.example', now()
      from unnest($1::int[]) n`,
    [series],
  )
  await query(
    database,
    `insert into passwords (seller_id, hash)
      select ${idOf('sel_01a')('n')}, $2 from unnest($1::int[]) n`,
    [series, hash],
  )
  await query(
    database,
    `insert into sessions (id, token_hash, seller_id, method)
      select ${idOf('ses_01a')('n')}, hash, ${idOf('sel_01a')('n')}, 'code'
      from unnest($1::int[], $2::bytea[]) t (n, hash)`,
    [series, series.map((n) => createHash('sha256').update(tokenOf(n)).digest())],
  )
  await query(database, 'vacuum (analyze) sellers, passwords, sessions')
}

const tokenOf = (n: number): string => createHash('sha256').update(`bench ${n}`).digest('base64url')

/** GET /api/auth/session: every request of a signed-in seller begins with the same check. */
async function measureSession({ busy: { database, service }, bare }: Stage): Promise<Result[]> {
  const ours = Array.from({ length: REQUESTS }, (_, n) =>
    wire('GET', '/api/auth/session', undefined, { cookie: `till_session=${tokenOf(n)}` }),
  )
  const plain = (await paidOrders(database, REQUESTS)).map(({ id }) => wire('GET', `/orders/${id}`))
  const ask = async (port: number, requests: Buffer[], seconds = SECONDS) =>
    (await load({ port, connections: 32, seconds, next: cycle(requests), status: 200 })).rate
  await ask(service.port, ours, WARM_UP_SECONDS)
  await ask(bare.port, plain, WARM_UP_SECONDS)
  const rate = await byTurns({
    bare: () => ask(bare.port, plain),
    service: () => ask(service.port, ours),
  })
  const { count, ...reads } = await readsOf(database, () =>
    load({ port: service.port, connections: 1, seconds: SECONDS, next: cycle(ours), status: 200 }),
  )
  return [
    {
      name: 'session check: answers a second, of a bare route with one select',
      value: medianOf(rate, (round) => round.service! / round.bare!),
      least: 0.6,
      parts: medians(rate),
    },
    {
      // the jobs' own come on top of it
      name: 'session check: statements for one',
      value: reads.transactions / count,
      most: 1.2,
    },
    {
      name: 'session check: rows looked up by an index for one',
      value: reads.rows / count,
      most: 3,
    },
    // a sweep, which comes every ten minutes, is one
    { name: 'session check: whole tables read for a thousand', value: (reads.tables / count) * 1000, most: 1 },
  ]
}

interface Reads {
  transactions: number
  rows: number
  tables: number
}

/** The database's work during `work`: each single statement is a transaction. */
async function readsOf(database: Database, work: () => Promise<{ count: number }>): Promise<Reads & { count: number }> {
  const read = async (): Promise<Reads> => {
    await sleep(COUNTED_AFTER_MS)
    const [row] = await query<Record<keyof Reads, string>>(
      database,
      `select (select xact_commit from pg_stat_database where datname = current_database()) as "transactions",
        sum(idx_tup_fetch) as "rows", sum(seq_scan) as "tables"
      from pg_stat_user_tables where relname in ('sessions', 'sellers', 'passwords')`,
    )
    return {
      transactions: Number(row!.transactions),
      rows: Number(row!.rows),
      tables: Number(row!.tables),
    }
  }
  const before = await read()
  const { count } = await work()
  const after = await read()
  return {
    count,
    transactions: after.transactions - before.transactions,
    rows: after.rows - before.rows,
    tables: after.tables - before.tables,
  }
}

/** POST /api/auth/otp for mailboxes that are all new, with its mails in the outbox. */
async function measureCodes({ busy: { database, service }, bare }: Stage): Promise<Result> {
  let mailbox = 0
  const ours = () => wire('POST', '/api/auth/otp', JSON.stringify({ email: `new${mailbox++}@bench.example` }))
  const plain = products.map((productId) =>
    wire('POST', '/orders', JSON.stringify({ productId, email: 'buyer@example.com' })),
  )
  const ask = async (seconds = SECONDS) => {
    const { rate } = await load({ port: service.port, connections: 32, seconds, next: ours, status: 202 })
    // the mails of one round must not be sent during the next
    await query(database, `delete from pgboss.job where starts_with(name, 'code') and state in ('created', 'retry')`)
    return rate
  }
  const askBare = async (seconds = SECONDS) =>
    (await load({ port: bare.port, connections: 32, seconds, next: cycle(plain), status: 201 })).rate
  await ask(WARM_UP_SECONDS)
  await askBare(WARM_UP_SECONDS)
  const rate = await byTurns({ bare: () => askBare(), service: () => ask() })
  return {
    name: 'code: requests a second, of a bare route with one insert',
    value: medianOf(rate, (round) => round.service! / round.bare!),
    least: 0.4,
    parts: medians(rate),
  }
}

const signIns = Array.from({ length: BY_PASSWORD }, (_, n) =>
  wire('POST', '/api/auth/password', JSON.stringify({ email: `seller${n}@bench.example`, password: PASSWORD })),
)

/** POST /api/auth/password with the right one, one after the other. */
async function measurePassword({ busy: { service }, bare }: Stage): Promise<Result> {
  const alone = async () =>
    (await load({ port: service.port, connections: 1, seconds: SECONDS, next: cycle(signIns), status: 200 })).p50Ms
  await alone()
  const p50 = await byTurns({ hash: () => bare.hashMs(HASHES_A_ROUND), service: alone })
  return {
    name: 'password: p50 of a sign-in alone, of its hash',
    value: medianOf(p50, (round) => round.service! / round.hash!),
    most: 1.15,
    parts: medians(p50),
  }
}

/** GET …/status for the buyers, while sellers sign in by their passwords. */
async function measureBuyers({ busy: { database, service } }: Stage): Promise<Result> {
  const asked = (await paidOrders(database, REQUESTS)).map(({ id, email }) =>
    wire('GET', `/api/checkout/${id}/status?email=${encodeURIComponent(email)}`),
  )
  const p99 = async (seconds = SECONDS) =>
    (await load({ port: service.port, connections: BUYERS, seconds, next: cycle(asked), status: 200 })).p99Ms
  const signIn = () =>
    load({ port: service.port, connections: SIGNING_IN, seconds: SECONDS, next: cycle(signIns), status: 200 })
  await p99(WARM_UP_SECONDS)
  const rounds = await byTurns({
    quiet: () => p99(),
    busy: async () => (await Promise.all([p99(), signIn()]))[0],
  })
  return {
    name: `status: p99 while ${SIGNING_IN} passwords are checked, of its p99 alone`,
    value: medianOf(rounds, (round) => round.busy! / round.quiet!),
    most: 5,
    parts: medians(rounds),
  }
}
