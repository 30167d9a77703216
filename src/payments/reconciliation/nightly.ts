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
 * So many days are looked at each night, and not the last one alone: money has the day on which its payment was begun, and a
 * bank may take two weeks to say yes. It then appears in a day that was reconciled before.
 */
export const NIGHTLY_DAYS = 15
/** When little is paid, and no other job of the clock runs. */
const AT = '17 3 * * *'
const DAY_MS = 86_400_000
/** After so long a time without a reconciliation as a list of its days can still be read in a night. */
const MOST_DAYS = 90
/** Of many differences these many are logged each. */
const MOST_LOGGED = 100

/** The beginning of the day (UTC) `days` days before a moment. */
export const daysBefore = (moment: Date, days: number): Date =>
  new Date((Math.floor(moment.getTime() / DAY_MS) - days) * DAY_MS)

/**
 * The days of a night's reconciliation. They end with the last midnight: of what happened in the hours since, the notification may still
 * be on its way, or come again. Nights without a reconciliation, in which nothing ran or not all could be asked, are made up for.
 */
export function nightlySpan(now: Date, latestProof: Date | undefined): { from: Date; to: Date; days: number } {
  const to = daysBefore(now, 0)
  const daysSince = latestProof ? (to.getTime() - daysBefore(latestProof, 0).getTime()) / DAY_MS : 1
  const days = Math.min(NIGHTLY_DAYS + Math.max(0, daysSince - 1), MOST_DAYS)
  return { from: daysBefore(to, days), to, days }
}

/** Each night the reconciliation, once over all instances. Tried again where a processor could not be asked. */
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
    const { differences, notAsked } = await reconcileBooks({ database, processors, ...span })
    for (const difference of differences.slice(0, MOST_LOGGED))
      log.error(difference, 'the reconciliation found a difference')
    if (differences.length > 0) log.error({ differences: differences.length }, 'the books do not reconcile')
    else if (notAsked.length === 0) log.info({ days }, 'the books reconcile')
    await sql`
      insert into proofs (differences, not_asked) values (${differences.length}, ${notAsked.length})
      on conflict (at) do nothing`.execute(db)
    if (notAsked.length > 0) throw new Error(`not reconciled: ${notAsked.join('; ')}`)
  })
  await jobs.every(
    AT,
    'reconciliation_nightly',
    () => inTransaction(db, (tx) => jobs.add(tx, 'reconciliation', [{ data: {} }])),
    'prove_nightly',
  )
}

/** For an alarm: how many differences there were, when all could be asked for the last time, and whose payments are refused. */
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
