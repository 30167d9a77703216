// A process that runs jobs, for test/kit/jobs.test.ts: says which it has begun, and ends each when it reads a line.
import { once } from 'node:events'
import { startJobs } from '../../src/kit/jobs.ts'
import { newLog } from '../../src/kit/log.ts'

const [connectionString, queue] = process.argv.slice(2)
const jobs = await startJobs({ connectionString }, newLog('silent'))
const options = { retries: 3, retryDelaySeconds: 60, retryDelayMaxSeconds: 60, expireSeconds: 600, atOnce: 5 }
await jobs.on(queue!, options, async () => {
  process.stdout.write('begun\n')
  await once(process.stdin, 'data')
})
process.stdout.write('ready\n')
