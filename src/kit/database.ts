import { createHash } from 'node:crypto'
import { Kysely, PostgresDialect, type RawBuilder, type Transaction, sql } from 'kysely'
import pg from 'pg'
import { needsCustomPlan } from './plans.ts'

/** The tables that the typed query builder knows. Each slice adds its own (declaration merging). */
export interface Tables {}
export type Db = Kysely<Tables>
export type Tx = Transaction<Tables>

/** A frozen server never ends a statement by its own limit, so the client gives up too, a little later. */
const STATEMENT_TIMEOUT_MS = 5_000
const QUERY_TIMEOUT_MS = 6_000
/** A request that waits longer for a connection is refused, to be sent again. */
const CONNECTION_TIMEOUT_MS = 3_000
const PATIENT_CONNECTION_TIMEOUT_MS = 30_000
/**
 * A prepared statement keeps its plan until its tables are analyzed again, which autovacuum does about once a minute. A plan for a
 * nearly empty table reads the whole table, also while the table grows. Without this setting a new shop in its first busy minute
 * answered status requests at a quarter to a half of the rate. Once the tables are analyzed, at 10,000 and at 1,000,000 orders,
 * the plans differ only for tables of one page. The setting belongs to the connection, because setting it for one statement would
 * take another round trip.
 */
const INDEXES_FIRST = '-c enable_seqscan=off'
/**
 * The planner overestimates the cost of some statements. With 1,000,000 orders a seller's balance started parallel workers, which took
 * 10 of its 12 ms. With the setting above, PostgreSQL up to 17 also compiles each statement that has to read a whole table: 75 ms for
 * one of 20 rows.
 */
const SHORT_STATEMENTS = '-c max_parallel_workers_per_gather=0 -c jit=off'
/** The most prepared statements of a connection. Ours are far fewer; the limit stops texts made at run time from piling up. */
const MOST_NAMED_STATEMENTS = 500

// bigint columns hold minor units and counts; we read them as numbers and never round silently
pg.types.setTypeParser(pg.types.builtins.INT8, (text) => {
  const value = Number(text)
  if (!Number.isSafeInteger(value)) throw new RangeError('a bigint is beyond what a number can hold')
  return value
})

const names = new Map<string, string>()

/** Gives every statement with parameters a name, so that a connection parses and plans it once. Kysely does not do this. */
class NamingClient extends pg.Client {
  constructor(config?: string | pg.ClientConfig) {
    super(config)
    const plain = this.query.bind(this) as (...args: unknown[]) => unknown
    this.query = ((...args: unknown[]) => {
      const [text, values, callback] = args
      const isNamed = typeof text === 'string' && Array.isArray(values) && values.length > 0
      const named = isNamed && !needsCustomPlan(text) ? nameOf(text) : undefined
      const answer = named ? plain({ name: named, text, values }, callback) : plain(...args)
      return answer instanceof Promise ? answer.catch((failure: unknown) => this.#endIfUnsafe(failure)) : answer
    }) as typeof this.query
  }

  /**
   * Ends the connection after two failures, so that the pool makes a new one. After a timeout the server still runs the statement:
   * if it was a `begin`, the connection's next user would work inside that transaction and lose its work with it. After a
   * failover a read-only server is no longer the primary.
   */
  #endIfUnsafe(failure: unknown): never {
    const { message, code } = failure as { message?: string; code?: string }
    if (message === 'Query read timeout' || code === READ_ONLY_SERVER) void this.end().catch(() => {})
    throw failure
  }
}

function nameOf(text: string): string | undefined {
  let name = names.get(text)
  if (!name && names.size < MOST_NAMED_STATEMENTS) {
    name = createHash('sha256').update(text).digest('base64url').slice(0, 24)
    names.set(text, name)
  }
  return name
}

const WITHOUT_LIMITS = 'set statement_timeout = 0; set idle_in_transaction_session_timeout = 0; set enable_seqscan = on'

export interface Connection {
  db: Db
  pool: pg.Pool
  close(): Promise<void>
}

/**
 * A pool of at most `connections`. When the server is lost, requests fail but the process goes on. `patient` is for work that no
 * request waits for, such as a migration: its statements may take as long as they need. Limits in `config` take precedence. `onError`
 * hears of idle connections that were lost. It may be absent, because the next statement takes another connection.
 */
export function connect(
  config: pg.PoolConfig,
  {
    connections,
    onError = () => {},
    patient = false,
  }: { connections: number; onError?: (error: Error) => void; patient?: boolean },
): Connection {
  const limits = {
    statement_timeout: STATEMENT_TIMEOUT_MS,
    query_timeout: QUERY_TIMEOUT_MS,
    idle_in_transaction_session_timeout: 10_000,
    options: `${INDEXES_FIRST} ${SHORT_STATEMENTS}`,
  }
  const pool = new pg.Pool({
    ...(!patient && limits),
    connectionTimeoutMillis: patient ? PATIENT_CONNECTION_TIMEOUT_MS : CONNECTION_TIMEOUT_MS,
    application_name: 'till',
    ...config,
    Client: NamingClient,
    max: connections,
  } as pg.PoolConfig)
  pool.on('error', onError)
  // The pool listens to idle connections only. When a connection in use is lost, its next statement fails, which is enough. But
  // without a listener its error event would end the process.
  pool.on('connect', (client) => {
    client.on('error', () => {})
    // the role can have the limits of requests, as with PgBouncer, which drops those of a connection
    if (patient) client.query(WITHOUT_LIMITS).catch(() => {})
  })
  const db = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) })
  return { db, pool, close: () => db.destroy() }
}

/** Does work whose statements may take as long as they need, such as a sum over all books, on a connection of its own. */
export async function patiently<T>(config: pg.PoolConfig, work: (db: Db) => Promise<T>): Promise<T> {
  const { db, close } = connect(config, { connections: 1, patient: true })
  try {
    return await work(db)
  } finally {
    await close()
  }
}

/**
 * True when two connections that are both open have one server process, as behind a pooler that gives it to each transaction anew.
 * Then the statements that a connection has prepared, its locks and its channels have no owner left. False when it cannot ask.
 */
export async function sharesServerProcesses(config: pg.PoolConfig): Promise<boolean> {
  const clients = [0, 1].map(() => new pg.Client({ ...config, connectionTimeoutMillis: CONNECTION_TIMEOUT_MS }))
  try {
    const pids: number[] = []
    for (const client of clients) {
      client.on('error', () => {})
      await client.connect()
      pids.push((await client.query('select pg_backend_pid() as pid')).rows[0].pid)
    }
    return pids[0] === pids[1]
  } catch {
    return false
  } finally {
    await Promise.all(clients.map((client) => client.end().catch(() => {})))
  }
}

/** A statement that changes something, to be run together with others. Undefined when there is nothing to change. */
export type Change = RawBuilder<unknown> | undefined

/** Makes changes of different tables in one statement. No change sees the results of the others. */
export async function changeTogether(tx: Tx, changes: readonly Change[]): Promise<void> {
  const some = changes.filter((change) => change !== undefined)
  if (some.length === 0) return
  const parts = some.map((change, at) => sql`${sql.raw(`change_${at}`)} as (${change})`)
  await sql`with ${sql.join(parts)} select`.execute(tx)
}

/** SQLSTATE of a row that a unique index refuses. */
export const UNIQUE_VIOLATION = '23505'
/** SQLSTATEs of a server that is unreachable, restarting, failing over, full or overloaded. A later try may succeed. */
const OUTAGE = /^(08...|57P0[1-5]|57014|25006|53...|58...)$/
const READ_ONLY_SERVER = '25006'
const CONFLICT = new Set(['40001', '40P01'])
const LOST_CONNECTION =
  /connection terminated|terminated unexpectedly|timeout exceeded when trying to connect|query read timeout|connection timeout|not queryable|ECONNREFUSED|ECONNRESET|EPIPE|ENOENT|ETIMEDOUT|E(?:HOST|NET)(?:UNREACH|DOWN)|ENOTFOUND|EAI_AGAIN/i

/** While a database moves, its name can have no address. The calls of files have other names. */
const SOCKET_CALLS = new Set(['connect', 'read', 'write', 'getaddrinfo'])

/** True when the database could not do its work. False when it refused the statement. */
export function isDatabaseOutage(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  const code = (error as { code?: unknown }).code
  if (error instanceof AggregateError) return error.errors.some(isDatabaseOutage)
  if (error instanceof pg.DatabaseError) return typeof code === 'string' && (OUTAGE.test(code) || CONFLICT.has(code))
  // the driver's own errors: plain texts, or those of the socket to the server
  const syscall = (error as { syscall?: unknown }).syscall
  if (syscall !== undefined && !SOCKET_CALLS.has(String(syscall))) return false
  return LOST_CONNECTION.test(`${String(code ?? '')} ${error.message}`)
}

/**
 * Runs `work` in one transaction, and repeats it after a serialization failure or a deadlock, at most three times in all. So `work`
 * must consist of database statements only: an effect that cannot be rolled back must not be repeated.
 */
export const inTransaction = <T>(db: Db, work: (tx: Tx) => Promise<T>): Promise<T> =>
  retryConflicts(async () => {
    const ends: TransactionEnd[] = []
    let hasCommitted = false
    try {
      const result = await db.transaction().execute((tx) => {
        endsOf.set(tx, ends)
        return work(tx)
      })
      hasCommitted = true
      return result
    } finally {
      for (const end of ends) end(hasCommitted)
    }
  })

/** Reads the state of one moment, also with several statements. They run one after the other. */
export const inSnapshot = <T>(db: Db, read: (tx: Tx) => Promise<T>): Promise<T> =>
  db.transaction().setIsolationLevel('repeatable read').setAccessMode('read only').execute(read)

type TransactionEnd = (hasCommitted: boolean) => void

const endsOf = new WeakMap<Tx, TransactionEnd[]>()

/**
 * Calls `end` after the transaction. `hasCommitted` is also false when the answer to the commit was lost. Returns false, and never
 * calls it, when `inTransaction` has not begun the transaction.
 */
export function onTransactionEnd(tx: Tx, end: TransactionEnd): boolean {
  const ends = endsOf.get(tx)
  ends?.push(end)
  return ends !== undefined
}

/** Runs a single statement outside a transaction, and repeats it after a conflict as `inTransaction` does. */
export async function retryConflicts<T>(work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work()
    } catch (error) {
      if (attempt >= 3 || !(error instanceof pg.DatabaseError) || !CONFLICT.has(error.code ?? '')) throw error
    }
  }
}
