import { sql } from 'kysely'
import type pg from 'pg'
import { type Db, inTransaction } from '../../kit/database.ts'
import type { Measure } from '../../kit/measure.ts'
import type { Jobs } from '../../kit/jobs.ts'
import type { Log } from '../../kit/log.ts'
import { refusalMeasures } from '../attempts/refused.ts'
import type { Processor } from '../../processors/processor.ts'
import { reconcileBooks } from './reconcile.ts'

/**
 * Each night covers this many days. Money counts for the day on which its payment began, and a bank may take two weeks to pay. So
 * money can appear in a day that an earlier night has already reconciled.
 */
export const NIGHTLY_DAYS = 15
/** At this time there are few payments. */
const AT = '17 3 * * *'
const DAY_MS = 86_400_000
/** The most days whose lists can be read in one night, after a long time without a reconciliation. */
const MOST_DAYS = 90
/** The log shows at most this many differences, or accounts without access, one by one. */
const MOST_LOGGED = 100

/** The beginning of the day (UTC) `days` days before a moment. */
export const daysBefore = (moment: Date, days: number): Date =>
  new Date((Math.floor(moment.getTime() / DAY_MS) - days) * DAY_MS)

/**
 * The days that a night's reconciliation covers. They end with the last midnight, because notifications about the hours since may
 * still be on their way. After nights without a complete reconciliation the span is longer, to make up for them.
 */
export function nightlySpan(now: Date, latestReconciliation: Date | undefined): { from: Date; to: Date; days: number } {
  const to = daysBefore(now, 0)
  const daysSince = latestReconciliation ? (to.getTime() - daysBefore(latestReconciliation, 0).getTime()) / DAY_MS : 1
  const days = Math.min(NIGHTLY_DAYS + Math.max(0, daysSince - 1), MOST_DAYS)
  return { from: daysBefore(to, days), to, days }
}

/** Runs the reconciliation each night, once over all instances. It tries again when a processor did not answer. */
export async function registerReconciliation(
  jobs: Jobs,
  {
    db,
    database,
    processors,
    log,
  }: { db: Db; database: pg.PoolConfig; processors: ReadonlyMap<string, Processor>; log: Log },
): Promise<void> {
  const options = {
    retries: 5,
    retryDelaySeconds: 600,
    retryDelayMaxSeconds: 3600,
    // lists of many days are long
    expireSeconds: 7200,
    atOnce: 1,
  }
  await jobs.on('reconciliation', options, async () => {
    const { rows } = await sql<{ at: Date | null }>`
      select coalesce(max(at) filter (where not_asked = 0), min(at)) as at from proofs`.execute(db)
    const { days, ...span } = nightlySpan(new Date(), rows[0]?.at ?? undefined)
    const { differences, notAsked, notConfigured, noAccess } = await reconcileBooks({ database, processors, ...span })
    for (const difference of differences.slice(0, MOST_LOGGED))
      log.error(difference, 'the reconciliation found a difference')
    if (differences.length > 0) log.error({ differences: differences.length }, 'the books do not reconcile')
    else if (notAsked.length === 0) log.info({ days }, 'the books reconcile')
    await sql`
      insert into proofs (differences, not_asked) values (${differences.length}, ${notAsked.length})
      on conflict (at) do nothing`.execute(db)
    if (notAsked.length > 0) throw new Error(`not reconciled: ${notAsked.join('; ')}`)
    // no further try and no later night could ask it, so this is no failure; after the error, so that it stands there once a night
    for (const processor of notConfigured)
      log.warn({ processor }, 'the reconciliation left out a processor that is not configured any more')
    // the same holds here, because a seller who has left may never come back
    for (const processor of noAccess.slice(0, MOST_LOGGED))
      log.warn({ processor }, 'the reconciliation left out a connected account that gives no access any more')
  })
  await jobs.every(
    AT,
    'reconciliation_nightly',
    () => inTransaction(db, (tx) => jobs.add(tx, 'reconciliation', [{ data: {} }])),
    'prove_nightly',
  )
}

/** Measures for alarms: the differences, the time of the last complete reconciliation, and the sellers with refused payments. */
export function reconciliationMeasures(db: Db): Measure[] {
  return [
    {
      name: 'till_reconciliation_differences',
      help: 'Differences that the latest reconciliation has found',
      async read() {
        const { rows } = await sql<{ differences: number }>`
          select differences from proofs order by at desc limit 1`.execute(db)
        return rows[0]?.differences
      },
    },
    {
      name: 'till_reconciliation_timestamp_seconds',
      help: 'When the books were last compared with all that the processors list (Unix time)',
      async read() {
        const { rows } = await sql<{ seconds: number }>`
          select extract(epoch from at)::bigint as seconds from proofs where not_asked = 0 order by at desc limit 1`.execute(
          db,
        )
        return rows[0]?.seconds
      },
    },
    ...refusalMeasures(db),
  ]
}
