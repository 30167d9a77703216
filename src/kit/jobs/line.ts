import type { Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'

// Each process keeps one connection, on which it listens for new jobs and holds a lock. The lock tells the other processes that it
// is alive: PostgreSQL releases the lock when the connection ends. A process that is slow or stopped keeps its connection.

/** The first half of the locks' keys: "till" as a number. The second half is the process's owner number. */
export const LOCK_CLASS = 1_953_066_092
/** The channel on which the job library announces new jobs. */
const CHANNEL = `'pgboss_' || left(encode(sha224('pgboss'::bytea), 'hex'), 24)`

const QUERY_TIMEOUT_MS = 4_000
/**
 * Limits of each step by which a lost connection is opened again. A try that reached the server, and then its limit, doubles the limit:
 * where the steps take longer, because the machine is very busy, a process would take no jobs. A server that is not reached does not
 * double it, because the process must notice soon that the server is back.
 */
const AGAIN_TIMEOUT_MS = { first: 3_000, most: 30_000 }
/** The same for the first connection of a process: a start must not fail because a busy machine takes seconds for it. */
const FIRST_TIMEOUT_MS = 30_000
/** A machine that is lost does not close its connection. With these settings the server does, within about ten seconds. */
const KEEPALIVES = '-c tcp_keepalives_idle=4 -c tcp_keepalives_interval=2 -c tcp_keepalives_count=3'
const AGAIN_AFTER_MS = 500
const TIMER_MS = 50

export interface Line {
  /** Whether the last beat found the lock held. Without the lock, the process must not take jobs. */
  isUp(): boolean
  close(): void
}

/** Runs a statement on the line's connection. */
export type Query = (text: string, values: unknown[]) => Promise<pg.QueryResult>

export interface LineEvents {
  /** This queue has a new job. Without a name, any queue may have one. */
  onNewJobs(queue?: string): void
  /** Called regularly while the lock is held. */
  onBeat(query: Query): Promise<void>
  onError(error: unknown): void
}

/** Opens the line and keeps it open. Rejects when the first try fails. */
export async function openLine(
  connection: pg.ClientConfig,
  { owner, beatMs }: { owner: number; beatMs: number },
  events: LineEvents,
): Promise<Line> {
  let isUp = false
  const closing = new AbortController()
  /** Aborted when the connection is lost, so that the next one is opened at once. */
  let lost = new AbortController()
  const isClosed = () => closing.signal.aborted
  /** Whether the server's machine has accepted the last connection. */
  let isReached = false

  async function open(timeoutMs: number): Promise<pg.Client> {
    const ended = new AbortController()
    const onEnd = () => {
      if (lost === ended) isUp = false
      ended.abort()
    }
    isReached = false
    const onReached = () => void (isReached = true)
    const client = await openLocked(connection, { owner, timeoutMs }, { ...events, onEnd, onReached })
    lost = ended
    return client
  }

  async function beatUntilLost(client: pg.Client): Promise<never> {
    for (;;) {
      if (!(await holdsLock(client, owner))) throw new Error('the lock of this process was lost')
      await events.onBeat((text, values) => client.query(text, values))
      const ended = AbortSignal.any([closing.signal, lost.signal])
      await sleep(beatMs, undefined, { signal: ended, ref: false }).catch(() => {})
      if (ended.aborted) throw new Error('the connection was lost')
    }
  }

  async function keep(first: pg.Client): Promise<void> {
    let openedAt = 0
    let timeoutMs = AGAIN_TIMEOUT_MS.first
    for (let client: pg.Client | undefined = first; !isClosed();) {
      const triedAt = performance.now()
      try {
        client ??= await open(timeoutMs)
        timeoutMs = AGAIN_TIMEOUT_MS.first
        isUp = !lost.signal.aborted
        openedAt = performance.now()
        // we missed the announcements of jobs that were added before we listened
        events.onNewJobs()
        await beatUntilLost(client)
      } catch (error) {
        isUp = false
        const openMs = client ? performance.now() - openedAt : 0
        if (client) end(client)
        // a timer can fire a little before its time
        else if (isReached && performance.now() - triedAt > timeoutMs - TIMER_MS)
          timeoutMs = Math.min(2 * timeoutMs, AGAIN_TIMEOUT_MS.most)
        client = undefined
        if (isClosed()) return
        events.onError(error)
        // reopen a lost connection at once, but pause when it cannot be opened or never lasts
        if (openMs < AGAIN_AFTER_MS) await sleep(AGAIN_AFTER_MS, undefined, { ref: false })
      }
    }
  }

  void keep(await open(FIRST_TIMEOUT_MS))
  return {
    isUp: () => isUp,
    close: () => closing.abort(),
  }
}

/** Connects, takes the lock and listens for new jobs. */
async function openLocked(
  settings: pg.ClientConfig,
  { owner, timeoutMs }: { owner: number; timeoutMs: number },
  { onEnd, onNewJobs, onReached }: { onEnd: () => void; onNewJobs: LineEvents['onNewJobs']; onReached: () => void },
): Promise<pg.Client> {
  const client = new pg.Client({
    options: KEEPALIVES,
    ...settings,
    connectionTimeoutMillis: timeoutMs,
    application_name: 'till-jobs',
    query_timeout: QUERY_TIMEOUT_MS,
    keepAlive: true,
  })
  client.on('error', onEnd)
  client.on('end', onEnd)
  streamOf(client).once('connect', onReached)
  client.on('notification', ({ payload }) => onNewJobs(payload))
  try {
    await client.connect()
    // a shared lock does not wait when the server still holds it for our lost connection
    const query = (text: string, values: unknown[] = []) =>
      client.query({ text, values, ...({ query_timeout: timeoutMs } as object) })
    await query('select pg_advisory_lock_shared($1, $2)', [LOCK_CLASS, owner])
    const { rows } = await query(`select ${CHANNEL} as channel`)
    await query(`listen "${rows[0].channel}"`)
    return client
  } catch (error) {
    end(client)
    throw error
  }
}

/** A pooler can have given our session to another client. Then the lock is no longer ours. */
async function holdsLock(client: pg.Client, owner: number): Promise<boolean> {
  const { rows } = await client.query(
    `select 1 from pg_locks where locktype = 'advisory' and classid = $1::bigint::oid and objid = $2::bigint::oid
      and objsubid = 2 and database = (select oid from pg_database where datname = current_database())
      and pid = pg_backend_pid()`,
    [LOCK_CLASS, owner],
  )
  return rows.length > 0
}

/** Ends a connection, without waiting when it hangs. */
function end(client: pg.Client): void {
  client.end().catch(() => {})
  setTimeout(() => streamOf(client).destroy(), 1000).unref()
}

/** The client's socket, which its types do not show. */
const streamOf = (client: pg.Client): Socket =>
  (client as unknown as { connection: { stream: Socket } }).connection.stream
