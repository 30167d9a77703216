import { randomBytes } from 'node:crypto'
import type { Dirent } from 'node:fs'
import fs from 'node:fs/promises'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import { endGap, gapOf } from '../kit/embedded/gap.ts'
import { type Db, connect } from '../kit/database.ts'
import type { Vault } from '../kit/vault/vault.ts'
import { type Packed, pack } from './folder-stream.ts'
import type { Wal } from './wal.ts'
import { knownKeys } from './files.ts'
import { type Base, FOLDERS, baseData, baseManifest, walName } from './names.ts'
import { OtherBackup, claimPlace } from './place.ts'

/** Only one base is copied at a time, over all processes. */
const LOCK = 7_261_004
const POLL_MS = 200
/** Slow enough that reading, packing and encrypting take a small part of one core from the sales. */
const BYTES_A_SECOND = 25e6
const PACE_MS = 50
/** A file that is being written grows all the time, so that one of this age was left by a process that was killed. */
const UNFINISHED_MS = 3_600_000
/** PostgreSQL's manual (25.3.4, "Backing Up the Data Directory") leaves out the contents of these: they are of the running server. */
const LEFT_OUT = [
  'pg_wal',
  'pg_replslot',
  'pg_dynshmem',
  'pg_notify',
  'pg_serial',
  'pg_snapshots',
  'pg_stat_tmp',
  'pg_subtrans',
]
const LEFT_OUT_FILES =
  /^(?:postmaster\.pid|postmaster\.opts|backup_label.*|tablespace_map.*|.*\/pg_internal\.init|(?:.*\/)?pgsql_tmp.*)$/
const CONTROL = 'global/pg_control'

/** Another base is being copied at the moment. */
export class BackupUnderWay extends Error {}

export interface Copied {
  /** The database, as its superuser. */
  superuserUrl: string
  dataDir: string
  wal: Wal
  vault: Vault
  secrets: readonly string[]
  /** Sends the waiting WAL. */
  sendWal(): Promise<unknown>
  /** A checkpoint at once, instead of one that is spread over minutes. */
  fast?: boolean
  onProgress?: (packed: Packed) => void
  bytesASecond?: number
  /** How long to wait until the last segment is sent. */
  walWaitMs?: number
}

/**
 * Copies the database while it is in use, as pg_backup_start() and pg_backup_stop() allow it. Sales go on. The manifest is written
 * last, so a copy that is cut off counts for nothing. Throws BackupUnderWay, OtherBackup and BackupGone.
 */
export async function makeBase(copied: Copied): Promise<Base> {
  const database = { connectionString: copied.superuserUrl }
  const { db: pool, close } = connect(database, { connections: 1, patient: true })
  try {
    return await pool.connection().execute(async (db) => {
      const { rows } = await sql<{ isOurs: boolean }>`select pg_try_advisory_lock(${LOCK}) as "isOurs"`.execute(db)
      if (!rows[0]!.isOurs) throw new BackupUnderWay('another backup is under way')
      return copy(db, copied)
    })
  } finally {
    // the connection ends, and with it the lock and a backup mode that was not ended
    await close()
  }
}

async function copy(db: Db, { dataDir, wal, vault, secrets, sendWal, ...copied }: Copied): Promise<Base> {
  const installation = await claimPlace(db, vault, wal.folder)
  await mustBeNewest(db, wal.cluster, vault)
  // what cannot be removed is named by the removal after the copy
  await removeCutOff(vault).catch(() => {})
  const { fast = false, onProgress, walWaitMs = 600_000, bytesASecond = BYTES_A_SECOND } = copied
  const gap = gapOf(wal.folder)
  const began = await one<{ id: string; at: string; segment: string; version: string }>(
    db,
    sql`select to_char(now() at time zone 'UTC', 'YYYYMMDD"T"HH24MISS"Z"') as id,
      to_char(now() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as at,
      pg_walfile_name(pg_backup_start('till', ${fast})) as segment,
      (current_setting('server_version_num')::int / 10000)::text as version`,
  )
  const id = `${began.id}-${randomBytes(3).toString('hex')}`
  const files = await knownKeys(db)
  let bytes = 0
  const entries = await entriesOf(dataDir)
  const packed = pack(dataDir, entries, (now) => {
    bytes = now.bytes
    onProgress?.(now)
  })
  await vault.put(baseData(id), paced(packed, bytesASecond), { compressed: true })
  const ended = await one<{ label: string; segment: string; at: string }>(
    db,
    sql`select labelfile as label, pg_walfile_name(lsn) as segment,
      to_char(clock_timestamp() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as at
      from pg_backup_stop(false)`,
  )
  const base: Base = {
    id,
    startedAt: began.at,
    finishedAt: ended.at,
    version: began.version,
    cluster: wal.cluster,
    firstSegment: began.segment,
    lastSegment: ended.segment,
    label: ended.label,
    bytes,
    files,
    secrets: [...secrets],
    installation,
  }
  await lastSegmentSent(vault, base, sendWal, walWaitMs)
  // segments that went since then can be those that this copy needs
  if (gapOf(wal.folder) !== gap)
    throw new Error('the log has got a gap during the copy, so the copy is of no use: it has to be made again')
  await vault.putJson(baseManifest(id), base)
  // a gap that came meanwhile is behind this copy, whose part of the log was sent before
  if (gap !== undefined && gap === gapOf(wal.folder)) endGap(wal.folder)
  return base
}

/**
 * Removes the copies that were cut off, which can take the room that this one needs. The lock says that no other one is on its way: so a copy
 * without a manifest stays without it.
 */
async function removeCutOff(vault: Vault): Promise<void> {
  const names = await vault.list('base/')
  const complete = new Set(names.filter((name) => name.endsWith('/manifest')).map((name) => path.posix.dirname(name)))
  for (const name of names) if (!complete.has(path.posix.dirname(name))) await vault.remove(name)
  await vault.removeUnfinished(FOLDERS, UNFINISHED_MS)
}

/** The same bytes, no faster than that. */
async function* paced(bytes: AsyncIterable<Buffer>, bytesASecond: number): AsyncGenerator<Buffer> {
  const began = performance.now()
  let sent = 0
  for await (const chunk of bytes) {
    sent += chunk.length
    const aheadMs = (sent / bytesASecond) * 1000 - (performance.now() - began)
    if (aheadMs > PACE_MS) await sleep(aheadMs)
    yield chunk
  }
}

/**
 * A restored copy of this service goes on with a higher timeline. A restore takes the highest one, so it would
 * never use our copies again, without any sign of that.
 */
async function mustBeNewest(db: Db, cluster: string, vault: Vault): Promise<void> {
  const { timeline } = await one<{ timeline: string }>(
    db,
    sql`select left(pg_walfile_name(pg_current_wal_lsn()), 8) as timeline`,
  )
  const histories = (await vault.list(walName(cluster, ''))).filter((name) => name.endsWith('.history'))
  if (histories.some((name) => name > walName(cluster, `${timeline}.history`)))
    throw new OtherBackup(
      'BACKUP_URL: a restored copy of this service has its backup in the same place. Give each of them a place of its own',
    )
}

/** A restore needs the changes that were made while the files were copied. */
async function lastSegmentSent(
  vault: Vault,
  { cluster, lastSegment }: Pick<Base, 'cluster' | 'lastSegment'>,
  send: Copied['sendWal'],
  waitMs: number,
): Promise<void> {
  const segment = walName(cluster, lastSegment)
  for (const end = Date.now() + waitMs; ; await sleep(POLL_MS)) {
    await send()
    if ((await vault.list(segment)).includes(segment)) return
    if (Date.now() > end) throw new Error(`PostgreSQL has not archived ${lastSegment}: see postgres.log`)
  }
}

/** The folders and files to copy. pg_control comes last, because it says how far the files are. */
export async function entriesOf(dataDir: string) {
  const found = await allBelow(dataDir)
  const all = found.map((entry) => ({
    path: path.relative(dataDir, path.join(entry.parentPath, entry.name)).split(path.sep).join('/'),
    isFolder: entry.isDirectory(),
    isFile: entry.isFile(),
  }))
  const isCopied = ({ path: name }: { path: string }) =>
    !LEFT_OUT.some((folder) => name.startsWith(`${folder}/`)) && !LEFT_OUT_FILES.test(name) && name !== CONTROL
  const kept = all.filter(isCopied)
  const byPath = (a: { path: string }, b: { path: string }) => (a.path < b.path ? -1 : 1)
  return [
    ...kept.filter(({ isFolder }) => isFolder).sort(byPath).map(({ path: name }) => ({ path: name, isFolder: true as const })),
    { path: 'pg_wal/archive_status', isFolder: true as const },
    ...kept.filter(({ isFile }) => isFile).sort(byPath).map(({ path: name }) => ({ path: name })),
    { path: CONTROL },
  ] // oxfmt-ignore
}

async function allBelow(dataDir: string): Promise<Dirent[]> {
  for (;;) {
    try {
      return await fs.readdir(dataDir, { recursive: true, withFileTypes: true })
    } catch (error) {
      const { code, path: gone } = error as NodeJS.ErrnoException
      // PostgreSQL has removed a folder below it, such as that of a query's temporary files
      if (code !== 'ENOENT' || gone === dataDir) throw error
    }
  }
}

async function one<Row>(db: Db, query: ReturnType<typeof sql<Row>>): Promise<Row> {
  const { rows } = await query.execute(db)
  return rows[0]!
}
