import { AsyncLocalStorage, createHook } from 'node:async_hooks'
import { subscribe } from 'node:diagnostics_channel'
import type http from 'node:http'
import { Session } from 'node:inspector/promises'
import pg from 'pg'

// Counts the work that a request causes. A clock would show it too, but only on an idle machine.

/** Each watcher has a header of its own, because the files of a folder share a process. */
let watchers = 0
const HASHING = 'a password is hashed'
const ADDING_JOBS = 'jobs are added'

export interface Work {
  /** The header that marks a request for counting. */
  headers(name: string): Record<string, string>
  /** The work of the requests of that name, in order: their statements to the database, and their password hashes. */
  of(name: string): string[]
}

/** Called at the top of a file: it watches the connections to the database that are opened afterwards. */
export function watchWork(): Work {
  const header = `x-watched-as-${++watchers}`
  const current = new AsyncLocalStorage<string[]>()
  const done = new Map<string, string[]>()
  subscribe('http.server.request.start', (message) => {
    const { request } = message as { request: http.IncomingMessage }
    const name = request.headers[header]
    if (typeof name !== 'string') return
    const steps = done.get(name) ?? []
    done.set(name, steps)
    current.enterWith(steps)
    // the events that bring the body come from the connection, and would not know whose they are
    const emit = request.emit.bind(request)
    request.emit = (...event: Parameters<typeof emit>) => current.run(steps, () => emit(...event))
  })
  const query = pg.Client.prototype.query as (...args: unknown[]) => unknown
  pg.Client.prototype.query = function (this: pg.Client, ...args: unknown[]) {
    const [asked] = args as [string | { text: string }]
    const text = typeof asked === 'string' ? asked : asked.text
    // a job begins at once or waits, by the other work of the process at that moment; neither depends on the request
    current.getStore()?.push(/insert into pgboss\.job/i.test(text) ? ADDING_JOBS : text)
    return query.apply(this, args)
  } as typeof pg.Client.prototype.query
  const hook = createHook({ init: (_id, type) => void (type === 'ARGON2REQUEST' && current.getStore()?.push(HASHING)) })
  hook.enable()
  return { headers: (name) => ({ [header]: name }), of: (name) => done.get(name) ?? [] }
}

/** How often a request hashed a password. */
export const hashesIn = (steps: readonly string[]): number => steps.filter((step) => step === HASHING).length

/** How many functions of the matching files this process calls during the work: the same on any machine, unlike a time. */
export async function callsOf(files: RegExp, work: () => Promise<unknown>): Promise<number> {
  const session = new Session()
  session.connect()
  try {
    await session.post('Profiler.enable')
    await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })
    await session.post('Profiler.takePreciseCoverage')
    await work()
    const { result } = await session.post('Profiler.takePreciseCoverage')
    const counts = result
      .filter(({ url }) => files.test(url))
      .flatMap(({ functions }) => functions.map(({ ranges }) => ranges[0]!.count))
    return counts.reduce((sum, count) => sum + count, 0)
  } finally {
    await session.post('Profiler.stopPreciseCoverage')
    session.disconnect()
  }
}
