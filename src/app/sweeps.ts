import { sql } from 'kysely'
import { sweepCodes } from '../kit/code-table.ts'
import type { Db } from '../kit/database.ts'
import { EVERY_TEN_MINUTES, type Jobs } from '../kit/jobs.ts'
import { sweepLimits } from '../kit/limits.ts'
import { sweepOutbox } from '../kit/mail.ts'
import type { Measure } from '../kit/measure.ts'

/** Removes ended rows from the tables that several slices share or write. */
export async function registerSweeps(jobs: Jobs, db: Db, { outboxDays }: { outboxDays: number }): Promise<void> {
  await jobs.every(EVERY_TEN_MINUTES, 'sweep_limits', () => sweepLimits(db))
  await jobs.every(EVERY_TEN_MINUTES, 'sweep_mailbox_codes', () => sweepCodes(db))
  // also beside a mail server, because the service may have had none before
  await jobs.every(EVERY_TEN_MINUTES, 'sweep_outbox', async () => {
    await sweepOutbox(db, outboxDays)
  })
}

/** Measures whether the sweeps keep up. */
export const oldestRowMeasure = (db: Db): Measure => ({
  name: 'till_oldest_row_seconds',
  help: 'The age of the oldest row, by table; 0 when it is empty',
  labels: ['table'],
  async read() {
    const { rows } = await sql<{ table: string; seconds: number }>`
      select t.table, coalesce(extract(epoch from now() - t.at), 0)::float8 as seconds
      from (select 'processor_events' as table, min(received_at) as at from processor_events
        union all select 'outbox', min(sent_at) from outbox) t`.execute(db)
    return rows.map(({ table, seconds }) => ({ labels: { table }, value: seconds }))
  },
})
