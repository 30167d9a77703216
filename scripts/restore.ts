// npm run restore                                    makes DATA_DIR of the newest backup, as far as it goes
// npm run restore -- --at 2026-11-20T10:00:00Z       as it was at that moment
// DATA_DIR must be empty. Ends with 0: it is whole; 1: nothing was restored; 2: files or later changes are missing, or can be.
import path from 'node:path'
import { parseArgs } from 'node:util'
import { baseManifest } from '../src/backup/names.ts'
import { restore } from '../src/backup/restore.ts'
import { readRestoreConfig } from '../src/config.ts'
import { CannotStart } from '../src/kit/cannot-start.ts'
import { openStorage } from '../src/kit/storage/open.ts'
import { openVault } from '../src/kit/vault/vault.ts'

const MOST_NAMED = 20
const began = performance.now()
try {
  process.exitCode = await run()
} catch (error) {
  console.error(
    error instanceof CannotStart || (error as { code?: string }).code?.startsWith('ERR_PARSE_ARGS')
      ? (error as Error).message
      : error,
  )
  process.exitCode = 1
}

async function run(): Promise<number> {
  const { values } = parseArgs({ options: { at: { type: 'string' } } })
  const until = values.at === undefined ? undefined : new Date(values.at)
  if (until && !(until.getTime() <= Date.now()))
    throw new CannotStart('--at: expected a moment of the past, such as 2026-11-20T10:00:00Z')
  const { dataDir, secrets, backup, s3, storageDir } = readRestoreConfig()
  if (!backup) throw new CannotStart('BACKUP_URL: not set or none, so there is nothing to restore.')
  const inside = path.relative(dataDir, storageDir)
  const isInside = inside !== '..' && !inside.startsWith(`..${path.sep}`) && !path.isAbsolute(inside)
  const { base, bytes, lastAt, files, unused, damaged } = await restore({
    vault: openVault(backup.place, backup.keys),
    dataDir,
    secrets,
    until,
    openStorage: (folder) => openStorage({ s3, storageDir: isInside ? path.join(folder, inside) : storageDir }),
    onProgress: say,
  })
  say(`restored: ${(bytes / 1e6).toFixed(0)} MB and ${files.copied} files, from the backup of ${base.finishedAt}`)
  console.log(`The last change in it is of ${lastAt?.toISOString() ?? base.finishedAt}. Start the service: it asks the processors for what came later.`)
  console.log('If sellers were paid by bank files after that, read docs/backup.md before you approve a run of payouts.')
  for (const name of damaged) console.error(`damaged, so it was left out: ${name}`)
  if (unused > 0) console.error(`A segment of the log is missing in the backup: ${unused} later ones could not be used.`)
  for (const key of files.missing.slice(0, MOST_NAMED)) console.error(`missing or damaged: ${key}`)
  if (files.missing.length > 0) console.error(`${files.missing.length} files are missing in the backup: see docs/backup.md`)
  // an older copy would have added nothing; the names of all later objects follow that of the manifest
  const mayMiss = damaged.some((name) => name > baseManifest(base.id))
  return files.missing.length + unused > 0 || mayMiss ? 2 : 0
} // oxfmt-ignore

function say(what: string): void {
  console.log(`${((performance.now() - began) / 1000).toFixed(1).padStart(6)} s  ${what}`)
}
