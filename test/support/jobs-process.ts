// A process that runs jobs, for jobs-world.ts: says which it has begun, and ends each when it reads a line. It can add one itself.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import { type Tx, connect, inTransaction } from '../../src/kit/database.ts'
import { startJobs } from '../../src/kit/jobs.ts'
import { newLog } from '../../src/kit/log.ts'
import { openJobs } from './jobs.ts'

const [connectionString, queue, how] = process.argv.slice(2)
const jobs = await startJobs({ connectionString }, newLog('silent'))
const options = {
  retries: 3,
  retryDelaySeconds: 60,
  retryDelayMaxSeconds: 60,
  expireSeconds: 600,
  atOnce: 5,
  isBrief: how === 'adds brief',
}
await jobs.on(queue!, options, async () => {
  process.stdout.write('begun\n')
  await once(process.stdin, 'data')
})
process.stdout.write('ready\n')
if (how?.startsWith('adds')) {
  const { db } = connect({ connectionString }, { connections: 1, patient: true })
  const addTaken = (tx: Tx) => add(tx).then(({ state }) => assert.equal(state, 'running'))
  while (!(await inTransaction(db, addTaken).then(() => true, () => false))) await sleep(10) // oxfmt-ignore
}

/** Adds the job. It runs at once when this process has looked for older jobs before. */
async function add(tx: Tx): Promise<{ state: string }> {
  await jobs.add(tx, queue!, [{ data: { n: 0 } }])
  const { rows } = await sql<{ state: string }>`select state from ${openJobs} as j where name = ${queue}`.execute(tx)
  return rows[0]!
}
