import fs from 'node:fs/promises'
import path from 'node:path'
import { createReadStream } from 'node:fs'
import { markGap } from '../kit/embedded/gap.ts'
import type { Vault } from '../kit/vault/vault.ts'
import { WAL_NAME, timelineName, walName } from './names.ts'
import { mustBeClaimed } from './place.ts'
import type { TimelineBegin } from './timelines.ts'

/**
 * The most bytes that wait for a place that cannot be reached. Beyond them the oldest are removed, because a full disk would stop the
 * sales. Then the restore to a time ends before the gap, until the next base.
 */
const MOST_WAITING_BYTES = 2 * 1024 ** 3
/** The same when less than this is free on the disk, where the database is too. */
const LEAST_FREE_BYTES = 512 * 1024 ** 2
/** As much may still wait for a place that answers when the disk is nearly full: its segments go within seconds. */
const ON_THEIR_WAY_BYTES = 128 * 1024 ** 2
/** A place that has not got a segment after so long does not keep up. */
const LATE_SECONDS = 600

/** The write-ahead log of a cluster. */
export interface Wal {
  /** Where PostgreSQL puts finished segments. */
  folder: string
  cluster: string
  /** The id of the installation that writes the log. The place must belong to it. */
  installation: string
}

export interface Sent {
  sent: number
  /** Segments that were removed without being sent. */
  dropped: number
}

/**
 * Sends the segments that PostgreSQL has put into the folder, oldest first, and removes each one that is safe. It can be repeated, and
 * several processes may do it at once: a segment never changes. `begin` runs first, and when it fails nothing is sent.
 */
export async function sendWal(
  { folder, cluster, installation }: Wal,
  vault: Vault,
  {
    begin,
    mostWaitingBytes = MOST_WAITING_BYTES,
    leastFreeBytes = LEAST_FREE_BYTES,
  }: { begin?: () => Promise<void>; mostWaitingBytes?: number; leastFreeBytes?: number } = {},
): Promise<Sent> {
  const done: Sent = { sent: 0, dropped: 0 }
  let failed: unknown
  let isClaimed = false
  try {
    await begin?.()
  } catch (error) {
    failed = error
  }
  for (const name of failed ? [] : await waitingSegments(folder)) {
    const file = path.join(folder, name)
    try {
      if (!isClaimed) await mustBeClaimed(vault, installation)
      isClaimed = true
      const segment = walName(cluster, name)
      if (!(await isSent(vault, segment, file))) await vault.put(segment, createReadStream(file), { compressed: true })
    } catch (error) {
      // another process has sent it
      if ((error as NodeJS.ErrnoException).code === 'ENOENT' && (error as NodeJS.ErrnoException).path === file) continue
      failed = error
      break
    }
    await fs.rm(file, { force: true })
    done.sent++
  }
  if (failed) {
    done.dropped = await dropBeyond(folder, (await freeBytes(folder)) < leastFreeBytes ? 0 : mostWaitingBytes)
    throw Object.assign(new Error('the WAL cannot be sent', { cause: failed }), done)
  }
  return done
}

/**
 * Whether the place has this segment, after a process that was killed before it removed it. Throws when it has other bytes: then a
 * copy of this service sends its own log there, and would destroy this one.
 */
async function isSent(vault: Vault, segment: string, file: string): Promise<boolean> {
  if (!(await vault.list(segment)).includes(segment)) return false
  const ours = await fs.open(file)
  const stored = await vault.read(segment, { compressed: true }).catch(async (error) => {
    await ours.close()
    throw error
  })
  try {
    for await (const chunk of (stored ?? []) as AsyncIterable<Buffer>) {
      const { buffer, bytesRead } = await ours.read(Buffer.alloc(chunk.length))
      if (!chunk.equals(buffer.subarray(0, bytesRead))) throw new OtherLog(segment)
    }
    if ((await ours.read(Buffer.alloc(1))).bytesRead > 0) throw new OtherLog(segment)
    return true
  } finally {
    stored?.destroy()
    await ours.close()
  }
}

class OtherLog extends Error {
  constructor(segment: string) {
    super(`BACKUP_URL: ${segment} has other bytes there, so a copy of this service sends its log to the same place`)
  }
}

/** Sends the history files that a restore has made, and before each one when that was: they name the timelines that are taken. */
export async function sendHistories(dataDir: string, cluster: string, vault: Vault): Promise<void> {
  for (const name of await unsentHistories(dataDir, cluster, vault)) {
    const file = path.join(dataDir, 'pg_wal', name)
    const begin: TimelineBegin = { beganAt: (await fs.stat(file)).mtime.toISOString() }
    await vault.putJson(timelineName(cluster, name.slice(0, 8)), begin)
    await vault.put(walName(cluster, name), createReadStream(file), { compressed: true })
  }
}

/** The histories that the backup does not have yet. With one, this database was restored, and its copies of before end there. */
export async function unsentHistories(dataDir: string, cluster: string, vault: Vault): Promise<string[]> {
  const found = (await fs.readdir(path.join(dataDir, 'pg_wal'))).filter((name) => name.endsWith('.history'))
  if (found.length === 0) return []
  const known = new Set(await vault.list(walName(cluster, '')))
  return found.filter((name) => !known.has(walName(cluster, name)))
}

async function waitingSegments(folder: string): Promise<string[]> {
  return (await fs.readdir(folder)).filter((name) => WAL_NAME.test(name)).sort()
}

/** How long the oldest segment has been waiting, in seconds; 0 when none waits. */
export async function waitingSeconds(folder: string): Promise<number> {
  const [oldest] = await waitingSegments(folder)
  const found = oldest && (await fs.stat(path.join(folder, oldest)).catch(() => undefined))
  return found ? Math.max(0, (Date.now() - found.mtimeMs) / 1000) : 0
}

/**
 * The limits for a place that has not refused a segment, but takes its time or does not answer at all. A short burst of changes may exceed
 * MOST_WAITING_BYTES while the disk has room for it. Returns how many segments were removed.
 */
export async function keepLimits(
  folder: string,
  {
    mostWaitingBytes = MOST_WAITING_BYTES,
    leastFreeBytes = LEAST_FREE_BYTES,
    onTheirWayBytes = ON_THEIR_WAY_BYTES,
  } = {},
): Promise<number> {
  if ((await freeBytes(folder)) < leastFreeBytes) return dropBeyond(folder, onTheirWayBytes)
  return (await waitingSeconds(folder)) > LATE_SECONDS ? dropBeyond(folder, mostWaitingBytes) : 0
}

async function freeBytes(folder: string): Promise<number> {
  const { bavail, bsize } = await fs.statfs(folder)
  return bavail * bsize
}

async function dropBeyond(folder: string, mostBytes: number): Promise<number> {
  const segments = await waitingSegments(folder)
  // one that is gone was sent meanwhile
  const sizeOf = (name: string) => fs.stat(path.join(folder, name)).then(({ size }) => size, () => 0) // oxfmt-ignore
  const sizes = await Promise.all(segments.map(sizeOf))
  let bytes = sizes.reduce((sum, size) => sum + size, 0)
  let dropped = 0
  for (const [at, name] of segments.entries()) {
    if (bytes <= mostBytes) break
    // before the removal: after a kill in between the next start makes a copy without need, but it knows of every gap
    markGap(folder)
    await fs.rm(path.join(folder, name), { force: true })
    bytes -= sizes[at]!
    dropped++
  }
  return dropped
}
