import { sql } from 'kysely'
import { backupMeasures } from '../backup/register.ts'
import type { Config } from '../config.ts'
import type { Connection, Db } from '../kit/database.ts'
import { diskSpaceOf } from '../kit/disk-space.ts'
import type { EmbeddedPostgres } from '../kit/embedded.ts'
import type { Jobs } from '../kit/jobs.ts'
import type { Mailer } from '../kit/mail.ts'
import type { Measure } from '../kit/measure.ts'
import { reconciliationMeasures } from '../payments/reconciliation/nightly.ts'
import { webhookMeasures } from '../webhooks/retention.ts'
import { oldestRowMeasure } from './sweeps.ts'

interface Measured {
  db: Db
  jobs: Jobs
  mailers: Readonly<Record<string, Mailer>>
  connections: Readonly<Record<string, Connection>>
  config: Pick<Config, 'dataDir' | 'storageDir' | 's3' | 'backup' | 'processors'>
  embedded: EmbeddedPostgres | undefined
  isBackupLost: boolean
}

/** Every number of the service's own that /metrics shows. docs/operation.md says what each is for. */
export const measuresOf = ({ db, jobs, mailers, connections, config, embedded, isBackupLost }: Measured): Measure[] => [
  // the first, because a query that a later measure begins in the same moment counts as waiting
  {
    name: 'till_database_connections',
    help: 'Connections of this process by pool, used or idle, and requests that wait for one',
    labels: ['pool', 'state'],
    read: async () =>
      Object.entries(connections).flatMap(([name, { pool }]) =>
        Object.entries({
          used: pool.totalCount - pool.idleCount,
          idle: pool.idleCount,
          waiting: pool.waitingCount,
        }).map(([state, value]) => ({ labels: { pool: name, state }, value })),
      ),
  },
  ...reconciliationMeasures(db),
  ...(jobs.measures ?? []),
  {
    name: 'till_mails_total',
    help: 'Mails that this process gave to the mail server: sent, refused for good, or failed and tried again',
    isCounter: true,
    labels: ['kind', 'outcome'],
    read: async () =>
      Object.entries(mailers).flatMap(([kind, mailer]) =>
        mailer.outcomes().map(({ labels, value }) => ({ labels: { kind, ...labels }, value })),
      ),
  },
  {
    name: 'till_sync_lag_seconds',
    help: 'The time for which the longest due order has been waiting for its sync; 0 when none is due',
    async read() {
      const { rows } = await sql<{ seconds: number }>`
        select greatest(0, coalesce(extract(epoch from now() - min(due_at)), 0))::float8 as seconds from orders`.execute(
        db,
      )
      return rows[0]?.seconds
    },
  },
  backfillMeasure(db, config.processors),
  oldestRowMeasure(db),
  ...webhookMeasures(db),
  ...(config.backup && embedded ? backupMeasures(db, embedded.walFolder) : []),
  // so that TillBackupOld comes when the last backup is too old
  ...(isBackupLost ? backupMeasures(db, undefined) : []),
  ...(['free', 'size'] as const).map((what): Measure => ({
    name: `till_disk_${what}_bytes`,
    help: what === 'free' ? 'Free bytes on the disk of a folder' : 'Size of the disk of a folder',
    labels: ['folder'],
    async read() {
      const folders = { data: config.dataDir, ...(!config.s3 && { files: config.storageDir }) }
      return Promise.all(
        Object.entries(folders).map(async ([folder, place]) => {
          const { freeBytes, sizeBytes } = await diskSpaceOf(place)
          return { labels: { folder }, value: what === 'free' ? freeBytes : sizeBytes }
        }),
      )
    },
  })),
]

/** Only of the processors in the settings: the list of one that was removed is not read any more. */
const backfillMeasure = (db: Db, processors: readonly string[]): Measure => ({
  name: 'till_backfill_lag_seconds',
  help: 'The age of the moment up to which the backfill has read the processor’s list',
  labels: ['processor'],
  async read() {
    const { rows } = await sql<{ processor: string; seconds: number }>`
      select case when c.account is null then p.processor else c.processor || ' accounts' end as processor,
        extract(epoch from now() - min(p.seen_until))::float8 as seconds
      from processor_cursors p
      -- thousands of sellers' accounts would be as many series
      left join connected_accounts c on p.processor = c.processor || '@' || c.account and c.ended_at is null
      where (c.account is not null or strpos(p.processor, '@') = 0)
        and split_part(p.processor, '@', 1) = any(${processors}::text[])
      group by 1 order by 1`.execute(db)
    return rows.map(({ processor, seconds }) => ({ labels: { processor }, value: seconds }))
  },
})
