import { sql } from 'kysely'
import type { Db } from '../database.ts'
import { type Measure, newCounter } from '../measure.ts'

interface Depth {
  queue: string
  waiting: number
  due: number
  running: number
  oldestSeconds: number
}

/** Measures the queues over all instances, and counts the outcomes of the jobs that this process ran. */
export function jobMeasures(db: Db): {
  measures: Measure[]
  /** A queue of this process, before its first job. */
  beginQueue: (queue: string) => void
  countOutcome: (queue: string, outcome: string) => void
} {
  const runs = newCounter(['queue', 'outcome'])
  /** All measures of a scrape share one reading. */
  let reading: Promise<Depth[]> | undefined
  const depths = () => {
    reading ??= readDepths(db).finally(() => (reading = undefined))
    return reading
  }
  const ofQueues = (name: string, help: string, valueOf: (depth: Depth) => number): Measure => ({
    name,
    help,
    labels: ['queue'],
    read: async () => (await depths()).map((depth) => ({ labels: { queue: depth.queue }, value: valueOf(depth) })),
  })
  return {
    beginQueue: (queue) => runs.beginAtZero(queue, 'dropped'),
    countOutcome: (queue, outcome) => runs.count(queue, outcome),
    measures: [
      ofQueues('till_jobs_waiting', 'Jobs that are not done, by queue', ({ waiting }) => waiting),
      ofQueues('till_jobs_due', 'Jobs that are due and that no process has taken, by queue', ({ due }) => due),
      ofQueues('till_jobs_running', 'Jobs that a process has taken, by queue', ({ running }) => running),
      ofQueues(
        'till_jobs_oldest_seconds',
        'How long ago the first try of the oldest unfinished job was due, by queue; 0 when there is none',
        ({ oldestSeconds }) => oldestSeconds,
      ),
      {
        name: 'till_job_runs_total',
        help: 'Jobs that this process ran, by queue and outcome: completed, failed (and tried again) or dropped (given up)',
        isCounter: true,
        labels: ['queue', 'outcome'],
        read: async () => runs.samples(),
      },
    ],
  }
}

async function readDepths(db: Db): Promise<Depth[]> {
  const { rows } = await sql<Depth>`
    select q.name as queue, count(j.name) filter (where j.state <> 'active')::int as waiting,
      count(j.name) filter (where j.state <> 'active' and j.start_after <= now())::int as due,
      count(j.name) filter (where j.state = 'active')::int as running,
      -- a job that has failed before counts from the moment when it was added
      coalesce(greatest(0, extract(epoch from now() - min(
        case when j.state = 'created' then greatest(j.created_on, j.start_after) else j.created_on end))), 0)::float8 as "oldestSeconds"
    from pgboss.queue q left join (
      select name, state::text, start_after, created_on from pgboss.job where state <= 'active'
      union all select queue, 'active', begun_at, begun_at from begun_jobs) j on j.name = q.name
    where q.name not like '\\_\\_pgboss%'
    group by q.name`.execute(db)
  return rows
}
