import { createWriteStream } from 'node:fs'
import fs from 'node:fs/promises'
import path from 'node:path'
import { pipeline } from 'node:stream/promises'
import { sql } from 'kysely'
import { CannotStart } from '../kit/cannot-start.ts'
import { connect } from '../kit/database.ts'
import { startEmbedded } from '../kit/embedded.ts'
import { packagedMajor } from '../kit/embedded/place.ts'
import { recover } from '../kit/embedded/recovery.ts'
import { writeStorageId } from '../kit/installation.ts'
import { UNFINISHED } from '../kit/unfinished-restore.ts'
import { isOfStore } from '../kit/storage/s3-client.ts'
import type { Storage } from '../kit/storage/storage.ts'
import { SealError, isDamage } from '../kit/vault/sealed.ts'
import type { Vault } from '../kit/vault/vault.ts'
import { renewPrefixes } from '../invoices/profile.ts'
import { type FilesBack, bringFilesBack, forgetRemoved } from './files.ts'
import { type Chosen, chooseBase } from './choose-base.ts'
import { type Base, baseData, walName } from './names.ts'
import { unpack } from './folder-stream.ts'
import { keptBases, readBases } from './retention.ts'
import { positionOf, segmentsOfWay } from './timelines.ts'

const MARK = 'This folder is being restored. If no restore runs any more, remove it and run the restore again.\n'

export interface Restored {
  base: Base
  /** The bytes of the database's folder. */
  bytes: number
  /** The time of the last transaction in it. */
  lastAt: Date | undefined
  files: FilesBack
  /** How many segments the backup has after a missing one. The changes in them are lost. */
  unused: number
  /** Damaged objects of the backup that were left out. */
  damaged: string[]
}

export interface Restore {
  vault: Vault
  /** An empty folder, or none. */
  dataDir: string
  /** The secrets of the settings. Empty: those of the backup are written into the folder. */
  secrets: readonly string[]
  until?: Date | undefined
  openStorage(dataDir: string): Promise<Storage>
  /** The longest wait for a segment of the log. */
  segmentTimeoutMs?: number
  onProgress?: (step: string) => void
}

/**
 * Makes an installation of a backup: the database as it was at `until` or at the end of the backup, the files, the secret. It works
 * in a folder of its own inside of `dataDir` and moves the result into its place at the end, so a restore that is cut off leaves
 * nothing that a start could take for a database. Throws CannotStart with advice for the operator.
 */
export async function restore(wanted: Restore): Promise<Restored> {
  const { vault, dataDir, secrets, until, openStorage, segmentTimeoutMs, onProgress = () => {} } = wanted
  await mustBeEmpty(dataDir)
  const chosen = await inWords(() => chooseBase(vault, until, segmentTimeoutMs))
  const { base, timeline, passedOver, damaged } = chosen
  if (secrets.length > 0 && !base.secrets.some((secret) => secrets.includes(secret)))
    throw new CannotStart('SECRET: the backup was made with another secret. Set that one, or none to take it from the backup.')
  mustFit(base)
  const working = path.join(dataDir, UNFINISHED)
  await fs.mkdir(working, { recursive: true, mode: 0o711 })
  await fs.chmod(working, 0o711)
  await fs.writeFile(path.join(working, 'README'), MARK)
  const postgres = path.join(working, 'postgres')
  await fs.mkdir(path.join(postgres, 'data'), { recursive: true, mode: 0o700 })
  await fs.chmod(postgres, 0o711)
  onProgress(`the database of ${base.finishedAt}, ${megabytes(base.bytes)}`)
  const bytes = await inWords(() => unpackBase(vault, base, path.join(postgres, 'data'), onProgress))
  onProgress('the changes since then')
  const [asked, none] = [new Set<string>(), new Set<string>()]
  const lastAt = await inWords(() =>
    recover({
      dir: postgres,
      name: 'till',
      label: base.label,
      timeline: timeline.id,
      until,
      fetchTimeoutMs: segmentTimeoutMs,
      async fetch(segment, file) {
        const isThere = await fetchSegment(vault, walName(base.cluster, segment), file)
        if (!isThere) none.add(segment)
        return isThere
      },
      onProgress: (segment) => asked.add(segment),
    }),
  )
  const unused = (await unusedSegments(vault, chosen, asked.intersection(none))) + passedOver
  onProgress('the files')
  const files = await inWords(() => restoreRest(postgres, vault, () => openStorage(working)), 'BACKUP_URL or STORAGE_URL')
  if (secrets.length === 0) await fs.writeFile(path.join(working, 'secret'), `${base.secrets[0]}\n`, { mode: 0o600, flush: true })
  await moveIntoPlace(working, dataDir)
  return { base, bytes, lastAt, files, unused, damaged }
} // oxfmt-ignore

async function mustBeEmpty(dataDir: string): Promise<void> {
  const found = await fs.readdir(dataDir).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [] as string[]
    throw error
  })
  if (found.includes(UNFINISHED))
    throw new CannotStart(`DATA_DIR: an earlier restore was cut off: remove ${path.join(dataDir, UNFINISHED)} first.`)
  // an empty volume has this folder on some systems
  if (found.some((name) => name !== 'lost+found'))
    throw new CannotStart(`DATA_DIR: ${dataDir} is not empty. A restore needs an empty folder, and overwrites nothing.`)
}

/** The files of a database belong to one major version of PostgreSQL. */
function mustFit({ version, finishedAt }: Base): void {
  const ours = packagedMajor()
  if (version === ours) return
  const way =
    Number(version) < Number(ours)
      ? 'Restore it with the release that made it, and upgrade that one then (docs/upgrade.md)'
      : 'Restore it with the newer release that made it'
  throw new CannotStart(
    `BACKUP_URL: the backup of ${finishedAt} was made by PostgreSQL ${version}, and this release runs ${ours}. ${way}.`,
  )
}

async function unpackBase(
  vault: Vault,
  base: Base,
  target: string,
  onProgress: (step: string) => void,
): Promise<number> {
  const data = await vault.read(baseData(base.id), { compressed: true })
  if (!data) throw new CannotStart(`BACKUP_URL: ${baseData(base.id)} is missing.`)
  let shown = 0
  return unpack(data, target, ({ bytes }) => {
    if (bytes - shown < 256e6) return
    shown = bytes
    onProgress(`${megabytes(bytes)} of ${megabytes(base.bytes)}`)
  })
}

async function fetchSegment(vault: Vault, segment: string, file: string): Promise<boolean> {
  const bytes = await vault.read(segment, { compressed: true })
  if (!bytes) return false
  try {
    await pipeline(bytes, createWriteStream(file, { mode: 0o600 }))
  } catch (error) {
    if (!segment.endsWith('.history') || !isDamage(error)) throw error
    // PostgreSQL only needs to know that there is such a timeline: of one whose history is damaged we begin with its own copies
    await fs.writeFile(file, '', { mode: 0o600 })
  }
  return true
}

/**
 * How many segments come after one that PostgreSQL asked for, and that is missing or was removed during the restore. A gap after the moment
 * of `--at` does no harm, and neither does the end of a weekly or monthly copy, which is kept without the log that followed.
 */
async function unusedSegments(
  vault: Vault,
  { base, timeline, log }: Chosen,
  missed: ReadonlySet<string>,
): Promise<number> {
  const { cluster, firstSegment, lastSegment } = base
  const prefix = walName(cluster, '')
  const wayIn = (names: string[]) => {
    const ours = names.filter((name) => name.startsWith(prefix)).map((name) => name.slice(prefix.length))
    const whole = ours.filter((name) => /^[0-9A-F]{24}$/.test(name))
    return segmentsOfWay(whole, positionOf(firstSegment), timeline)
  }
  const before = wayIn(log)
  const removed = before.findIndex((name) => missed.has(name))
  if (removed >= 0) return before.length - removed
  const later = wayIn(await vault.list(prefix))
  const gap = later.findIndex((name, at) => at > 0 && positionOf(name) !== positionOf(later[at - 1]!) + 1n)
  if (gap < 0) return 0
  const missing = positionOf(later[gap - 1]!) + 1n
  if (![...missed].some((name) => /^[0-9A-F]{24}$/.test(name) && positionOf(name) === missing)) return 0
  if (later[gap - 1] === lastSegment && !(await hasItsLog(vault, base))) return 0
  return later.length - gap
}

async function hasItsLog(vault: Vault, { id }: Base): Promise<boolean> {
  const { daily } = keptBases(await readBases(vault), new Date())
  return daily.some((base) => base.id === id)
}

async function restoreRest(dir: string, vault: Vault, openStorage: () => Promise<Storage>): Promise<FilesBack> {
  // a part of the log that is written without the archive would be a gap for every later restore
  const postgres = await startEmbedded({ dir, name: 'till', mayMake: false, archive: true })
  const { db, close } = connect({ connectionString: postgres.url }, { connections: 2, patient: true })
  try {
    const storage = await openStorage()
    // it can have removed pictures since the copy of its database was made
    await forgetRemoved(db)
    const back = await bringFilesBack(db, storage, vault)
    const { rows } = await sql<{ id: string }>`select storage_id as id from installation`.execute(db)
    await writeStorageId(storage, rows[0]!.id)
    await renewPrefixes(db)
    return back
  } finally {
    await close()
    await postgres.stop()
  }
} // oxfmt-ignore

/** The database comes last: without it, a start refuses the folder. */
async function moveIntoPlace(working: string, dataDir: string): Promise<void> {
  await fs.rm(path.join(working, 'README'))
  const names = await fs.readdir(working)
  const last = 'postgres'
  for (const name of [...names.filter((one) => one !== last), last])
    await fs.rename(path.join(working, name), path.join(dataDir, name))
  await fs.rmdir(working)
}

/** Tells the operator what helps when an object cannot be opened. `settings` name the places that `work` uses. */
async function inWords<T>(work: () => Promise<T>, settings = 'BACKUP_URL'): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (isOfStore(error))
      throw new CannotStart(`${settings}: the place cannot be used (${error.name}). Run the restore again when it answers.`, { cause: error }) // oxfmt-ignore
    if (!(error instanceof SealError)) throw error
    const advice = {
      other_key: 'BACKUP_KEY (or SECRET): the backup was written with another key',
      not_sealed: 'BACKUP_URL: this place holds something that is no backup of Till',
      damaged: 'BACKUP_URL: the backup is damaged; choose an earlier one with --at, if there is one',
    }[error.problem]
    throw new CannotStart(`${advice} (${error.message}).`, { cause: error })
  }
}

const megabytes = (bytes: number): string => `${Math.ceil(bytes / 1e6).toLocaleString('en')} MB`
