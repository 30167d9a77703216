import { createHash } from 'node:crypto'
import { Kysely, PostgresDialect, type RawBuilder, type Transaction, sql } from 'kysely'
import pg from 'pg'

/** The tables the typed query builder knows; each slice adds its own (declaration merging). */
export interface Tables {}
export type Db = Kysely<Tables>
export type Tx = Transaction<Tables>

/** A frozen server never ends a statement by its own limit, so the client gives up too, a little later. */
const STATEMENT_TIMEOUT_MS = 5_000
const QUERY_TIMEOUT_MS = 6_000
/** How long a request may wait for a connection before it is told to come back. */
const CONNECTION_TIMEOUT_MS = 3_000
const PATIENT_CONNECTION_TIMEOUT_MS = 30_000
/**
 * A prepared statement keeps the plan it was given first. For a table that was nearly empty then, that is to read all of it,
 * and so it would stay while the table grows. What a request needs is found by an index, or should be.
 */
const INDEXES_FIRST = '-c enable_seqscan=off'
/** Statements kept prepared on each connection: ours are far fewer, and texts made at run time must not pile up. */
const MOST_NAMED_STATEMENTS = 500

// bigint columns hold minor units and counts: read as numbers, and never silently rounded
pg.types.setTypeParser(pg.types.builtins.INT8, (text) => {
  const value = Number(text)
  if (!Number.isSafeInteger(value)) throw new RangeError('a bigint is beyond what a number can hold')
  return value
})

const WITH_CUSTOM_PLAN = '/* planned anew */'
/**
 * Begins a statement that is planned each time, for the values it has: one that sums up whatever there is. The plan that is kept
 * for the others is made for a typical seller, and would sort a large one's hundred thousand orders.
 */
export const withCustomPlan = sql.raw(WITH_CUSTOM_PLAN)

/**
 * An array for a statement that joins it, of which the planner cannot see how long it is. Where it can, a plan for the very array
 * seems to cost less than the one that is kept for any, and the statement is planned anew each time, which takes longer than it does.
 */
export const genericPlanArray = (values: readonly unknown[], type: 'text' | 'int'): RawBuilder<unknown> =>
  sql`(select ${values}::${sql.raw(type)}[])`

const names = new Map<string, string>()

/** Gives every statement with parameters a name, so that a connection parses and plans it once (Kysely itself never does). */
class NamingClient extends pg.Client {
  constructor(config?: string | pg.ClientConfig) {
    super(config)
    const plain = this.query.bind(this) as (...args: unknown[]) => unknown
    this.query = ((...args: unknown[]) => {
      const [text, values, callback] = args
      const isNamed = typeof text === 'string' && Array.isArray(values) && values.length > 0
      const named = isNamed && !text.startsWith(WITH_CUSTOM_PLAN) ? nameOf(text) : undefined
      const answer = named ? plain({ name: named, text, values }, callback) : plain(...args)
      return answer instanceof Promise ? answer.catch((failure: unknown) => this.#leave(failure)) : answer
    }) as typeof this.query
  }

  /**
   * A statement that was given up is still under way at the server. Were it a `begin`, whoever used the connection next would
   * be inside its transaction, and what they were told is done would be rolled back with it. And a server that has become
   * read-only was demoted. Either way the connection ends here, and the pool makes a new one.
   */
  #leave(failure: unknown): never {
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

export interface Connection {
  db: Db
  pool: pg.Pool
  close(): Promise<void>
}

/**
 * A pool of at most `connections`. A lost server is an error of the requests it meets, never of the process. `patient` is for
 * what no request waits for, such as a migration: its statements may take as long as they need. Limits that `config` names win.
 */
export function connect(
  config: pg.PoolConfig,
  {
    connections,
    onError,
    patient = false,
  }: { connections: number; onError: (error: Error) => void; patient?: boolean },
): Connection {
  const limits = {
    statement_timeout: STATEMENT_TIMEOUT_MS,
    query_timeout: QUERY_TIMEOUT_MS,
    idle_in_transaction_session_timeout: 10_000,
    options: INDEXES_FIRST,
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
  // The pool listens to idle connections only. One that is lost in use tells the request so with its next statement, but its
  // error event would find no listener, and end the process.
  pool.on('connect', (client) => client.on('error', () => {}))
  const db = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) })
  return { db, pool, close: () => db.destroy() }
}

/** A statement that changes something, to be run with others; undefined where there is nothing to change. */
export type Change = RawBuilder<unknown> | undefined

/** Makes changes of different tables by one statement: none of them sees what the others change. */
export async function changeTogether(tx: Tx, changes: readonly Change[]): Promise<void> {
  const some = changes.filter((change) => change !== undefined)
  if (some.length === 0) return
  const parts = some.map((change, at) => sql`${sql.raw(`change_${at}`)} as (${change})`)
  await sql`with ${sql.join(parts)} select`.execute(tx)
}

/** SQLSTATEs of a server that is away, restarting, failing over, full or overrun: another try later may succeed. */
const OUTAGE = /^(08...|57P0[1-5]|57014|25006|53...|58...)$/
const READ_ONLY_SERVER = '25006'
const CONFLICT = new Set(['40001', '40P01'])
const LOST_CONNECTION =
  /connection terminated|terminated unexpectedly|timeout exceeded when trying to connect|query read timeout|connection timeout|not queryable|ECONNREFUSED|ECONNRESET|EPIPE|ENOENT|ETIMEDOUT/i

/** True when the database could not do its work, as opposed to refusing what was asked. */
export function isDatabaseOutage(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  const code = (error as { code?: unknown }).code
  if (error instanceof AggregateError) return error.errors.some(isDatabaseOutage)
  if (error instanceof pg.DatabaseError) return typeof code === 'string' && (OUTAGE.test(code) || CONFLICT.has(code))
  // the driver's own errors: plain texts, or those of the socket to the server
  const syscall = (error as { syscall?: unknown }).syscall
  if (syscall !== undefined && syscall !== 'connect' && syscall !== 'read' && syscall !== 'write') return false
  return LOST_CONNECTION.test(`${String(code ?? '')} ${error.message}`)
}

/**
 * Runs `work` in one transaction, and again, at most three times in all, when PostgreSQL itself asks for it (serialization
 * failure, deadlock). So `work` does nothing but database statements: what cannot be rolled back cannot be repeated.
 */
export const inTransaction = <T>(db: Db, work: (tx: Tx) => Promise<T>): Promise<T> =>
  retryConflicts(() => db.transaction().execute(work))

/** The same for a statement that is its own transaction. */
export async function retryConflicts<T>(work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work()
    } catch (error) {
      if (attempt >= 3 || !(error instanceof pg.DatabaseError) || !CONFLICT.has(error.code ?? '')) throw error
    }
  }
}
