// npm run backup                   makes a backup now, beside the running service or without it
// npm run backup -- --new-place    the same, after the place was lost: it is empty now, for example because its disk was replaced
// npm run backup -- --by-service   as the service does: only beside it, after the sales, and, with --spread, over minutes
// Ends with 0: it is complete; 1: it failed; 2: another one is under way; 3: the database is in it, and files are missing.
import { parseArgs } from 'node:util'
import { sql } from 'kysely'
import { BackupUnderWay, makeBase } from '../src/backup/base.ts'
import {
  type FilesCopied,
  copyNewFiles,
  forgetLostFiles,
  forgetRemoved,
  listOf,
  lostFiles,
  storedKeys,
} from '../src/backup/files.ts'
import { baseManifest } from '../src/backup/names.ts'
import { claimPlace } from '../src/backup/place.ts'
import { prune } from '../src/backup/retention.ts'
import { rotateKeys } from '../src/backup/rotation.ts'
import { noteRun, noted } from '../src/backup/runs.ts'
import { sendHistories, sendWal } from '../src/backup/wal.ts'
import { CannotStart } from '../src/kit/cannot-start.ts'
import { type Db, connect } from '../src/kit/database.ts'
import { clusterId } from '../src/kit/embedded/cluster.ts'
import { openStorage } from '../src/kit/storage/open.ts'
import { type Vault, openVault } from '../src/kit/vault/vault.ts'
import { databaseToBackUp, giveWayToSales, settingsOrExit } from './own-database.ts'

const PROGRESS_BYTES = 64e6
const began = performance.now()
const { values: options } = parseArgs({
  options: { 'by-service': { type: 'boolean' }, spread: { type: 'boolean' }, 'new-place': { type: 'boolean' } },
})
if (options['by-service']) giveWayToSales()
const config = settingsOrExit(1)
try {
  await backUp()
} catch (error) {
  console.error((error as Error).message)
  process.exitCode = error instanceof BackupUnderWay ? 2 : 1
}

async function backUp(): Promise<void> {
  if (!config.backup) throw new CannotStart('BACKUP_URL: not set or none, so there is no place for a backup.')
  const vault = openVault(config.backup.place, config.backup.keys)
  const database = await databaseToBackUp(config, { mayStart: !options['by-service'] })
  const { db, close } = connect({ connectionString: database.url }, { connections: 2, patient: true })
  try {
    await mustArchive(db)
    const storage = await openStorage(config)
    const { superuserUrl, dataDir, walFolder } = database
    const base = await noted(db, 'base', async () => {
      const installation = await claimPlace(db, vault, walFolder, { isNew: options['new-place'] })
      const wal = { folder: walFolder, cluster: clusterId(dataDir), installation }
      await forgetLostFiles(db, vault)
      await forgetRemoved(db)
      // old copies can fill the place; what cannot be removed is noted after the copy
      await prune(vault, new Date()).catch(() => {})
      say('the database')
      await sendHistories(dataDir, wal.cluster, vault)
      let shown = 0
      return makeBase({
        superuserUrl,
        dataDir,
        wal,
        vault,
        secrets: config.secrets,
        fast: !options.spread,
        sendWal: () => sendWal(wal, vault),
        onProgress({ bytes }) {
          if (bytes - shown < PROGRESS_BYTES) return
          shown = bytes
          say(`${(bytes / 1e6).toFixed(0)} MB`)
        },
      })
    })
    // after the database: without a copy of it, a lost machine is a total loss, and many files take hours
    say('the files')
    const { copied, failed } = await copyNewFiles(db, storage, vault)
    say(`${copied} new files copied`)
    // before old copies go, which can take minutes
    const problems = problemsOf(await lostFiles(db), failed)
    if (problems.length > 0) await tellIncomplete(db, problems)
    const removed = await removeOld(db, vault)
    const keys = config.backup.keys.length > 1 ? `; ${await renewKeys(vault)}` : ''
    say(
      `${problems.length > 0 ? 'not complete' : 'complete'}: ${(base.bytes / 1e6).toFixed(0)} MB, ${(await storedKeys(db)).length} files; ${removed} old objects removed${keys}`,
    )
  } finally {
    await close()
    await database.stop()
  }
}

/** The backup is complete without it, so a failure is noted for the alarms and does not repeat the backup. */
async function removeOld(db: Db, vault: Vault): Promise<number> {
  const startedAt = new Date()
  const note = async (why: string) => {
    const problem = `the backup is complete, but old objects could not be removed: ${why}`
    await noteRun(db, { kind: 'base', startedAt, problem })
    console.error(problem)
  }
  try {
    const { removed, damaged } = await prune(vault, startedAt)
    if (damaged.length > 0) await note(`these are damaged: ${listOf(damaged.map(baseManifest))}. See docs/backup.md`)
    return removed
  } catch (error) {
    await note((error as Error).message)
    return 0
  }
}

/** Says whether the earlier keys can be removed. The backup is complete without it, and the next one tries it again. */
async function renewKeys(vault: Vault): Promise<string> {
  try {
    const { left, damaged } = await rotateKeys(vault)
    if (damaged.length > 0) console.error(`damaged: ${listOf(damaged)}. See docs/backup.md`)
    return left === 0 ? 'no object needs an earlier key any more' : `${left} objects still need an earlier key`
  } catch (error) {
    return `earlier keys are still needed: ${(error as Error).message}`
  }
}

function problemsOf(lost: readonly string[], failed: FilesCopied['failed']): string[] {
  const problems: string[] = []
  if (lost.length > 0) problems.push(`the storage does not have these files, or has other bytes: ${listOf(lost)}`)
  if (failed)
    problems.push(
      `these files could not be copied${failed.isAll ? '' : ', and later ones were not tried'}: ${listOf(failed.keys)} (${(failed.error as Error).message})`,
    )
  return problems
}

/** The copy of the database is of use without the files, so it counts, and the files are noted for the alarms. */
async function tellIncomplete(db: Db, problems: readonly string[]): Promise<void> {
  const problem = `the backup is not complete: ${problems.join('; ')}`
  await noteRun(db, { kind: 'base', startedAt: new Date(), problem })
  console.error(`${problem}. See docs/backup.md`)
  process.exitCode = 3
}

/** A service that was started without BACKUP_URL does not keep its log, and a copy without the log is of no use. */
async function mustArchive(db: Db): Promise<void> {
  const { rows } = await sql<{ mode: string }>`select current_setting('archive_mode') as mode`.execute(db)
  if (rows[0]?.mode !== 'on')
    throw new CannotStart('The service runs without BACKUP_URL: set it there, and start it again.')
}

function say(what: string): void {
  console.log(`${((performance.now() - began) / 1000).toFixed(1).padStart(6)} s  ${what}`)
}
