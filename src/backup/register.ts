import os from 'node:os'
import { sql } from 'kysely'
import { type Db, inTransaction } from '../kit/database.ts'
import type { EmbeddedPostgres } from '../kit/embedded.ts'
import { clusterId } from '../kit/embedded/cluster.ts'
import { gapOf } from '../kit/embedded/gap.ts'
import { EVERY_MINUTE, type Jobs } from '../kit/jobs.ts'
import type { Log } from '../kit/log.ts'
import type { Mailer } from '../kit/mail.ts'
import type { Measure } from '../kit/measure.ts'
import type { Storage } from '../kit/storage/storage.ts'
import { inTime } from '../kit/time.ts'
import type { VaultPlace } from '../kit/vault/places.ts'
import { SealError } from '../kit/vault/sealed.ts'
import { type Vault, openVault } from '../kit/vault/vault.ts'
import { removeLeftDrills } from './left-drills.ts'
import { copyOrThrow } from './files.ts'
import { sendBackupMails, tellDrillFailed } from './mails.ts'
import { walName } from './names.ts'
import { claimPlace, ownInstallation } from './place.ts'
import { LONGEST_MS, type Processes, ownProcesses } from './processes.ts'
import { readBases } from './retention.ts'
import { hasGoneWellSince, lastRuns, noteRun, noteUnnoted } from './runs.ts'
import { keepSending } from './sending.ts'
import { sendHistories, sendWal, unsentHistories, waitingSeconds } from './wal.ts'

const SCHEDULED = ['backup_nightly', 'backup_files', 'backup_drill_weekly']
const NIGHTLY = '40 2 * * *'
const WEEKLY = '20 4 * * 0'
/** A process that ends waits for the backup's place no longer than this. */
const LAST_MS = 3_000
/** A service that was off at night makes its backup as soon as it starts. */
const OLDEST_HOURS = 26
/** The exit status of `npm run backup` when another one is under way. */
const UNDER_WAY = 2
/** Its exit status when files are missing in it. The database is in the backup. */
const WITHOUT_FILES = 3
/** Longer than LONGEST_MS, so that the process of a job has ended when the job is given up. */
const EXPIRE_SECONDS = LONGEST_MS / 1000 + 120
const LONG_JOB = {
  retries: 3,
  retryDelaySeconds: 60,
  retryDelayMaxSeconds: 3600,
  expireSeconds: EXPIRE_SECONDS,
  atOnce: 1,
}
/** When the service looks again whether a gap has ended that another backup had under way. */
const GAP_SECONDS = 600

export interface BackupParts {
  db: Db
  jobs: Jobs
  storage: Storage
  /** The embedded database, which archives. Undefined with DATABASE_URL. */
  embedded: EmbeddedPostgres | undefined
  config: {
    backup: { place: VaultPlace; keys: readonly string[] } | undefined
    operators: readonly string[]
  }
  mailer: Mailer
  appUrl: string
  log: Log
  processes?: Processes
  /** How often the service looks for finished segments of the log. */
  sendEveryMs?: number
}

export interface Backup {
  stop(): Promise<void>
  /** Sends the segments that the database wrote when it ended. Segments that cannot be sent wait for the next start. */
  sendLast(): Promise<void>
}

/** Sends the log of the database as it grows, copies the database each night and the files each minute, and tries the restore weekly. */
export async function registerBackup(parts: BackupParts): Promise<Backup> {
  const { db, jobs, embedded, config, log, processes = ownProcesses() } = parts
  if (!config.backup || !embedded) {
    for (const queue of SCHEDULED) await jobs.never(queue)
    return { stop: async () => {}, sendLast: async () => {} }
  }
  const vault = openVault(config.backup.place, config.backup.keys)
  await removeLeftDrills(os.tmpdir())
  const wal = {
    folder: embedded.walFolder,
    cluster: clusterId(embedded.dataDir),
    installation: await ownInstallation(db),
  }
  await sendBackupMails(jobs, parts.mailer, parts.appUrl)
  await jobs.on<BackupJob>('backup', LONG_JOB, (job) => runBackup(parts, processes, wal.folder, job))
  await jobs.every(NIGHTLY, 'backup_nightly', () => addBackup(db, jobs, { fast: false }))
  const stopping = new AbortController()
  let copying: Promise<void> | undefined
  await jobs.every(EVERY_MINUTE, 'backup_files', async () => {
    // a copy of many files outlasts its job and goes on: a second one beside it would copy the same files
    if (copying) return
    copying = copyFiles(parts, vault, stopping.signal).finally(() => (copying = undefined))
    await copying
  })
  let drilling: Promise<void> | undefined
  await jobs.on('backup_drill', LONG_JOB, async () => {
    // a long drill outlasts its job and goes on: the next try waits for it too, and begins no second one beside it
    await (drilling ??= runDrill(parts, processes).finally(() => (drilling = undefined)))
  })
  await jobs.every(WEEKLY, 'backup_drill_weekly', () =>
    inTransaction(db, (tx) => jobs.add(tx, 'backup_drill', [{ data: {} }])),
  )
  let isFirst = true
  const isOnItsWay = await isOverdue(db, wal.folder)
  if (isOnItsWay) await addBackup(db, jobs, { fast: true, ifOverdue: true })
  const begin = async () => {
    if (!isFirst) return
    await claimPlace(db, vault, wal.folder)
    const isBehind = gapOf(wal.folder) !== undefined || (await beginsAnew(embedded.dataDir, wal.cluster, vault))
    if (!isOnItsWay && isBehind) await addBackup(db, jobs, { fast: true })
    await sendHistories(embedded.dataDir, wal.cluster, vault)
    isFirst = false
  }
  const sending = keepSending({
    walFolder: wal.folder,
    send: () => sendWal(wal, vault, { begin }),
    addBackup: () => addBackup(db, jobs, { fast: true, ifGap: true }),
    log,
    everyMs: parts.sendEveryMs,
  })
  return {
    async stop() {
      processes.stop()
      stopping.abort()
      await sending.stop()
    },
    async sendLast() {
      // without the history of its timeline, a segment would take its name from the next restore
      if (!isFirst) await inTime(sendWal(wal, vault), LAST_MS).catch(() => {})
    },
  }
} // oxfmt-ignore

/** A drill that fails returns: only one that was interrupted is done again. */
async function runDrill({ db, jobs, log, config }: BackupParts, processes: Processes): Promise<void> {
  const startedAt = new Date()
  const { status, lastLine: problem } = await processes.run('drill', '--by-service')
  if (status === 0) return
  await noteUnnoted(db, { kind: 'drill', startedAt, problem })
  log.error({ problem }, 'the restore drill failed')
  await tellDrillFailed(db, jobs, config.operators, problem)
}

async function runBackup(
  { db, jobs, log }: BackupParts,
  processes: Processes,
  walFolder: string,
  { fast, ifGap, ifOverdue }: BackupJob,
) {
  if (ifGap && gapOf(walFolder) === undefined) return
  if (ifOverdue && !(await isOverdue(db, walFolder))) return
  const startedAt = new Date()
  const { status, lastLine } = await processes.run('backup', '--by-service', ...(fast ? [] : ['--spread']))
  if (status === UNDER_WAY) {
    log.info('another backup is under way')
    // it can be killed before it ends the gap
    if (gapOf(walFolder) !== undefined) await addBackup(db, jobs, { fast: true, ifGap: true }, GAP_SECONDS)
    return
  }
  // another try would copy the database again; the files have their turn each minute
  if (status === WITHOUT_FILES) return log.error({ problem: lastLine }, 'files are missing in the backup')
  if (status === 0) return log.info({ result: lastLine }, 'the database was backed up')
  if (await hasGoneWellSince(db, 'base', startedAt)) {
    const problem = `the backup is not complete: it ended before all files were copied: ${lastLine}`
    await noteRun(db, { kind: 'base', startedAt, problem })
    return log.error({ problem }, 'files are missing in the backup')
  }
  await noteUnnoted(db, { kind: 'base', startedAt, problem: lastLine })
  throw new Error(lastLine)
}

async function copyFiles({ db, storage, embedded }: BackupParts, vault: Vault, signal: AbortSignal): Promise<void> {
  await claimPlace(db, vault, embedded!.walFolder)
  await copyOrThrow(db, storage, vault, signal)
}

interface BackupJob {
  /** Whether it begins with a checkpoint at once. At night it is spread over minutes, so that no sale waits for the disk. */
  fast: boolean
  /** Only when the log still has a gap. */
  ifGap?: boolean
  /** Only when it still is: each start before the first copy is complete adds one more. */
  ifOverdue?: boolean
}

const addBackup = (db: Db, jobs: Jobs, data: BackupJob, startAfterSeconds = 0) =>
  inTransaction(db, (tx) => jobs.add(tx, 'backup', [{ data, startAfterSeconds }]))

/**
 * Whether the log begins anew, as after a restore or with another major version of PostgreSQL. Then no earlier copy fits it. The same
 * after the operator has gone back to the former version: a restore would take the copy of the later one, and the former log has a hole.
 */
async function beginsAnew(dataDir: string, cluster: string, vault: Vault): Promise<boolean> {
  const sent = await vault.list(walName(cluster, ''))
  if (sent.length === 0 || (await unsentHistories(dataDir, cluster, vault)).length > 0) return true
  try {
    return (await readBases(vault)).at(-1)?.cluster !== cluster
  } catch (error) {
    // a damaged manifest must not keep the log from being sent
    if (error instanceof SealError) return false
    throw error
  }
}

/** Whether the last backup is too old, or there is none, or the log has a gap since. */
async function isOverdue(db: Db, walFolder: string): Promise<boolean> {
  const { rows } = await sql`
    select from backup_runs where kind = 'base' and problem is null
      and finished_at between now() - make_interval(hours => ${OLDEST_HOURS}) and now()
    limit 1`.execute(db)
  return rows.length === 0 || gapOf(walFolder) !== undefined
}

/** For alarms: the age of the last backup and drill, and of the oldest change that is not in the backup yet. */
export function backupMeasures(db: Db, walFolder: string | undefined): Measure[] {
  const kinds = { base: 'backup', drill: 'backup drill' } as const
  return [
    {
      name: 'till_backup_timestamp_seconds',
      help: 'When the last backup, and the last restore drill, went well (Unix time)',
      labels: ['kind'],
      read: async () =>
        (await lastRuns(db)).flatMap(({ kind, wentWellAt }) =>
          wentWellAt ? [{ labels: { kind: kinds[kind] }, value: wentWellAt.getTime() / 1000 }] : [],
        ),
    },
    {
      name: 'till_backup_failed',
      help: '1 when the last backup, or the last restore drill, failed',
      labels: ['kind'],
      read: async () =>
        (await lastRuns(db)).map(({ kind, problem }) => ({ labels: { kind: kinds[kind] }, value: problem === null ? 0 : 1 })),
    },
    ...(walFolder === undefined
      ? []
      : [
          {
            name: 'till_backup_waiting_seconds',
            help: 'How long the oldest change has been waiting that is not in the backup yet',
            read: () => waitingSeconds(walFolder),
          },
        ]),
  ]
} // oxfmt-ignore
