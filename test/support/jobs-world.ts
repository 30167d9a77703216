import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import path from 'node:path'
import type { TestContext } from 'node:test'
import { sql } from 'kysely'
import { type Connection, connect, inTransaction } from '../../src/kit/database.ts'
import { type Jobs, type QueueOptions, startJobs } from '../../src/kit/jobs.ts'
import { newLog } from '../../src/kit/log.ts'
import { openJobs } from './jobs.ts'
import { eventually, newDatabase } from './shop.ts'
import { atEnd } from './ends.ts'

// Processes that run jobs on a database of their own, for the tests of the jobs.

const PROCESS = path.join(import.meta.dirname, 'jobs-process.ts')
export const OPTIONS = { retries: 3, retryDelaySeconds: 60, retryDelayMaxSeconds: 60, expireSeconds: 600, atOnce: 5 }
/** These tests need no process that is known as slow to come back. */
export const QUICK = { dueMs: 50, beatMs: 50, endedAfterMs: 500 }

export interface World {
  url: string
  db: Connection['db']
  /** Jobs of this process. */
  start(rhythm?: typeof QUICK): Promise<Jobs>
}

export async function newWorld(t: TestContext): Promise<World> {
  const url = await newDatabase(t)
  const { db, close } = connect({ connectionString: url }, { connections: 2, patient: true })
  const ends: (() => Promise<void>)[] = []
  atEnd(t, async () => {
    for (const end of ends) await end()
    await close()
  })
  return {
    url,
    db,
    async start(rhythm = QUICK) {
      const jobs = await startJobs({ connectionString: url }, newLog('silent'), rhythm)
      ends.push(() => jobs.stop())
      return jobs
    },
  }
}

/** Starts jobs of one queue, which end when the test says so. */
export async function heldJobs(
  world: World,
  queue: string,
  atOnce: number,
  { beatMs, ...options }: Partial<QueueOptions> & { beatMs?: number } = {},
) {
  const jobs = await world.start({ ...QUICK, dueMs: 600_000, ...(beatMs && { beatMs }) })
  const ran: number[] = []
  let end = () => {}
  const ended = new Promise<void>((resolve) => (end = resolve))
  await jobs.on<{ n: number }>(queue, { ...OPTIONS, atOnce, ...options }, async ({ n }) => {
    ran.push(n)
    await ended
  })
  return { jobs, ran, end }
}

/** Another process, which has begun `queue`'s only job. It adds the job itself, or the job is added once it waits for one. */
export async function startOther(
  t: TestContext,
  world: World,
  jobs: Jobs,
  queue: string,
  how: 'waits' | 'adds' | 'adds brief' = 'waits',
): Promise<ChildProcess> {
  const child = spawn(process.execPath, [PROCESS, world.url, queue, how], { stdio: ['pipe', 'pipe', 'inherit'] })
  atEnd(t, () => child.kill('SIGKILL'))
  let said = ''
  child.stdout!.on('data', (text) => (said += String(text)))
  const says = (word: string) =>
    eventually(
      async () => said,
      (text) => text.includes(word),
    )
  await says('ready')
  if (how === 'waits') await add(world, jobs, queue)
  await says('begun')
  return child
}

export const states = async ({ db }: World, queue: string): Promise<string[]> => {
  const { rows } = await sql<{ state: string }>`select state::text from pgboss.job where name = ${queue}`.execute(db)
  return rows.map(({ state }) => state)
}
export const add = (world: World, jobs: Jobs, queue: string, count = 1) =>
  inTransaction(world.db, (tx) =>
    jobs.add(
      tx,
      queue,
      Array.from({ length: count }, (_, n) => ({ data: { n } })),
    ),
  )

/** Waits until new jobs of the queue begin at once: first the process looks for older ones. */
export const untilTaking = (world: World, jobs: Jobs, queue: string) =>
  eventually(
    async () => {
      let state: string | undefined
      const probe = inTransaction(world.db, async (tx) => {
        await jobs.add(tx, queue, [{ data: { n: -1 } }])
        const { rows } = await sql<{ state: string }>`select state from ${openJobs} as j where name = ${queue}`.execute(
          tx,
        )
        state = rows[0]!.state
        throw new Error('only a probe')
      })
      await assert.rejects(probe, /only a probe/)
      return state
    },
    (state) => state === 'running',
  )

/** Waits until no job of the queue waits, runs or has failed. */
export const untilDone = (world: World, queue: string) =>
  eventually(
    async () => (await sql`select from ${openJobs} as j where name = ${queue}`.execute(world.db)).rows,
    ({ length }) => length === 0,
  )
