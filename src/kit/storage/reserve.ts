import fs from 'node:fs/promises'
import { Refusal } from '../errors.ts'

/** Refuses `storage_full` when so many more bytes would leave less than the reserve. */
export type MustHaveRoom = (bytes: number) => Promise<void>

/**
 * Keeps a part of the disk free that `folder` lies on: the database is often on the same one, and a full disk would stop every
 * sale. Asked before a file begins and before each piece of it is written, so all writers together pass the reserve by one piece
 * each at most.
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
