import fs from 'node:fs/promises'
import path from 'node:path'
import { CannotStart } from '../kit/cannot-start.ts'
import { startEmbedded } from '../kit/embedded.ts'
import { afterUs } from '../kit/embedded/after-us.ts'
import { WINDOWS } from '../kit/embedded/place.ts'
import { hashOfStream } from '../kit/storage/hash-of-stream.ts'
import { openStorage } from '../kit/storage/open.ts'
import { STORAGE_ID, type Storage } from '../kit/storage/storage.ts'
import type { Vault } from '../kit/vault/vault.ts'
import { daysBefore } from '../payments/reconciliation/nightly.ts'
import { reconcileBooks } from '../payments/reconciliation/reconcile.ts'
import { removeLeftDrills } from './left-drills.ts'
import { readBases } from './retention.ts'
import { listOf } from './files.ts'
import { restore } from './restore.ts'

const DAYS = 15
/** The database and its log need more room than the copy. */
const ROOM = 1.5

export interface DrillReport {
  seconds: number
  /** Of the database and the files. */
  bytes: number
  /** How much would be lost if the machine were gone now, in seconds. */
  lostSeconds: number
  /** Undefined: the restored service is whole. */
  problem: string | undefined
}

/**
 * Restores the newest backup into a temporary folder of `parent` and reconciles its books. It sends nothing: no program of the shop
 * runs there, so no mail and no request to a processor leaves it.
 */
export async function drill({
  vault,
  secrets,
  parent,
  onProgress,
}: {
  vault: Vault
  secrets: readonly string[]
  parent: string
  onProgress?: (step: string) => void
}): Promise<DrillReport> {
  const began = new Date()
  // first, because what a killed drill has left can be the room that this one needs
  await removeLeftDrills(parent)
  await mustHaveRoom(vault, parent)
  const dataDir = await fs.mkdtemp(path.join(parent, 'till-drill-'))
  // root's PostgreSQL runs under another account, which must get in
  await fs.chmod(dataDir, 0o711)
  const endRemoval = removeWithUs(dataDir)
  try {
    const restored = await restore({
      vault,
      dataDir,
      secrets: [],
      openStorage: (folder) => checkingStorage(path.join(folder, 'files')),
      ...(onProgress && { onProgress }),
    })
    onProgress?.('the books')
    const differences = await reconciled(path.join(dataDir, 'postgres'))
    const lastAt = restored.lastAt ?? new Date(restored.base.finishedAt)
    const { missing } = restored.files
    const problems = [
      ...(differences > 0 ? [`the books differ in ${differences} places`] : []),
      ...(restored.damaged.length > 0 ? [`these objects are damaged: ${listOf(restored.damaged)}`] : []),
      ...(restored.unused > 0 ? [`the log has a gap, and ${restored.unused} segments after it are lost`] : []),
      ...(missing.length > 0 ? [`these files are missing or damaged: ${listOf(missing)}`] : []),
      ...(restored.base.secrets.some((secret) => secrets.includes(secret)) ? [] : ['the secret is another one']),
    ]
    return {
      seconds: (Date.now() - began.getTime()) / 1000,
      bytes: restored.bytes + restored.files.bytes,
      lostSeconds: Math.max(0, (began.getTime() - lastAt.getTime()) / 1000),
      problem: problems.length > 0 ? problems.join('; ') : undefined,
    }
  } finally {
    await fs.rm(dataDir, { recursive: true, force: true })
    endRemoval()
  }
}

/**
 * Removes the folder when this process ends, however it does: it holds the whole database in plain text, and its secret. The server that
 * ends at the same moment can still write into it, hence the repetition.
 */
function removeWithUs(folder: string): () => void {
  if (WINDOWS) return () => {}
  return afterUs('read word; for n in 1 2 3 4 5 6 7 8 9; do rm -rf "$1"; sleep 1; [ -e "$1" ] || exit 0; done', folder)
}

/** Reads each file for its hash and keeps none: a drill needs no more room than the database. */
async function checkingStorage(folder: string): Promise<Storage> {
  const storage = await openStorage({ storageDir: folder })
  return { ...storage, put: (key, bytes) => (key === STORAGE_ID ? storage.put(key, bytes) : hashOfStream(bytes)) }
}

/** Compares the restored books with themselves and with the orders. No processor is asked, because it has gone on since. */
async function reconciled(dir: string): Promise<number> {
  const postgres = await startEmbedded({ dir, name: 'till', mayMake: false })
  try {
    const to = new Date()
    const database = { connectionString: postgres.url }
    const { differences } = await reconcileBooks({ database, processors: new Map(), from: daysBefore(to, DAYS), to })
    return differences.length
  } finally {
    await postgres.stop()
  }
}

async function mustHaveRoom(vault: Vault, parent: string): Promise<void> {
  const base = (await readBases(vault)).at(-1)
  const { bavail, bsize } = await fs.statfs(parent)
  if (base && bavail * bsize < base.bytes * ROOM)
    throw new CannotStart(`${parent} has no room for a drill: it needs ${Math.ceil((base.bytes * ROOM) / 1e6)} MB. Name another folder in TMPDIR.`)
} // oxfmt-ignore
