import fs from 'node:fs/promises'
import { Refusal } from '../errors.ts'

/** Refuses `storage_full` when writing `bytes` would leave less than the reserve. */
export type MustHaveRoom = (bytes: number) => Promise<void>

/**
 * Keeps a part of the disk of `folder` free. The database is often on the same disk, and a full disk would stop every sale. Writers
 * call it before each file and before each piece, so each writer exceeds the reserve by one piece at most.
 */
export function reserveOn(folder: string, reserveBytes: number): MustHaveRoom {
  return async (bytes) => {
    if (reserveBytes === 0) return
    const { bavail, bsize } = await fs.statfs(folder)
    if (bavail * bsize - bytes >= reserveBytes) return
    throw new Refusal(
      'storage_full',
      'The disk of this service is nearly full. Nothing more is taken until the operator has made room.',
    )
  }
}
