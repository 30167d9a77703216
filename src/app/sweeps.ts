import { sweepCodes } from '../kit/code-table.ts'
import type { Db } from '../kit/database.ts'
import { EVERY_TEN_MINUTES, type Jobs } from '../kit/jobs.ts'
import { sweepLimits } from '../kit/limits.ts'

/** Removes what has expired from the two tables that several slices share. */
export async function registerSweeps(jobs: Jobs, db: Db): Promise<void> {
  await jobs.every(EVERY_TEN_MINUTES, 'sweep_limits', () => sweepLimits(db))
  await jobs.every(EVERY_TEN_MINUTES, 'sweep_mailbox_codes', () => sweepCodes(db))
}
