import type pg from 'pg'
import { patiently } from '../kit/database.ts'
import type { Jobs } from '../kit/jobs.ts'
import { type PayoutRules, proposeRun } from './runs.ts'

/** After the nightly reconciliation, and before the operator's working day in most of the world. */
const [HOUR, MINUTE] = [4, 37]

/** When the run of a day (UTC), such as 2026-11-30, is proposed. */
export const runTimeOf = (day: string): Date => new Date(Date.parse(day) + (HOUR * 60 + MINUTE) * 60_000)

export type Schedule = 'weekly' | 'monthly'

/** The week (ISO 8601) or the month of a moment, in UTC: 2026-W48, or 2026-11. */
export function periodOf(schedule: Schedule, now: Date): string {
  if (schedule === 'monthly') return now.toISOString().slice(0, 7)
  // a week belongs to the year of its Thursday
  const thursday = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate()))
  thursday.setUTCDate(thursday.getUTCDate() + 4 - (thursday.getUTCDay() || 7))
  const days = (thursday.getTime() - Date.UTC(thursday.getUTCFullYear(), 0, 1)) / 86_400_000
  return `${thursday.getUTCFullYear()}-W${String(Math.floor(days / 7) + 1).padStart(2, '0')}`
}

/**
 * Proposes the run of this week or month, once over all instances and days. The job asks each day: a service that was down on the first
 * day proposes on the next one, and where no seller could be paid, the period gets its run when one can.
 */
export const proposeOnSchedule = (
  database: pg.PoolConfig,
  rules: PayoutRules & { schedule: Schedule },
  now = new Date(),
): Promise<string | undefined> =>
  patiently(database, (db) => proposeRun(db, rules, { by: 'schedule', period: periodOf(rules.schedule, now) }))

export const registerSchedule = (
  jobs: Jobs,
  database: pg.PoolConfig,
  rules: PayoutRules & { schedule: Schedule },
): Promise<void> =>
  jobs.every(`${MINUTE} ${HOUR} * * *`, 'payout_schedule', async () => void (await proposeOnSchedule(database, rules)))
