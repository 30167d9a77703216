import fs from 'node:fs/promises'
import { DEADLINES } from './deadlines.ts'
import { inTime } from './time.ts'

export interface DiskSpace {
  /** Equal for folders on one disk. */
  disk: number
  freeBytes: number
  sizeBytes: number
}

const asked = new Map<string, Promise<DiskSpace>>()

/**
 * Reads the space on the disk of a folder, or throws when the disk does not answer in time. Each question to a shared folder whose server is
 * away keeps one of Node's four threads, which names and passwords need too. So a folder is asked once at a time, and all share the answer.
 */
export function diskSpaceOf(folder: string, limitMs: number = DEADLINES.storageQuestionMs): Promise<DiskSpace> {
  let space = asked.get(folder)
  if (!space) {
    space = readSpace(folder).finally(() => asked.delete(folder))
    asked.set(folder, space)
  }
  return inTime(space, limitMs)
}

async function readSpace(folder: string): Promise<DiskSpace> {
  const { dev } = await fs.stat(folder)
  const { bavail, blocks, bsize } = await fs.statfs(folder)
  return { disk: dev, freeBytes: bavail * bsize, sizeBytes: blocks * bsize }
}
