import { createHash } from 'node:crypto'
import { createReadStream, createWriteStream } from 'node:fs'
import fs from 'node:fs/promises'
import path from 'node:path'
import { pipeline } from 'node:stream/promises'
import { reserveOn } from './reserve.ts'
import type { Resumable, Storage } from './storage.ts'

/** Bytes that arrive during a write are written together afterwards, up to this many. */
export const WRITE_BYTES = 1024 ** 2

/** A folder on this machine, or on a volume that several machines share. */
export interface Disk extends Storage {
  /** The place of the bytes on this machine: a folder, and the path below it. */
  locate(key: string): { root: string; path: string }
}

/** The last characters of an id are random: they spread the files over 1,024 folders. */
const below = (key: string) => path.join(key.slice(-2), key)
export const diskPath = (root: string, key: string): string => path.join(root, below(key))

/** Leaves `reserveBytes` of the disk free. */
export async function openDisk(folder: string, reserveBytes = 0): Promise<Disk> {
  const root = path.resolve(folder)
  const mustHaveRoom = reserveOn(root, reserveBytes)
  await fs.mkdir(root, { recursive: true, mode: 0o700 })
  const fileOf = (key: string) => diskPath(root, key)
  let resumable: Promise<Resumable> | undefined

  const disk: Disk = {
    async put(key, bytes) {
      const target = fileOf(key)
      const unfinished = `${target}.part`
      await fs.mkdir(path.dirname(target), { recursive: true, mode: 0o700 })
      const hash = createHash('sha256')
      let size = 0
      try {
        await pipeline(
          bytes,
          async function* (source: AsyncIterable<Buffer>) {
            for await (const chunk of source) {
              await mustHaveRoom(chunk.length)
              hash.update(chunk)
              size += chunk.length
              yield chunk
            }
          },
          // flushed to the disk, because a power loss must not remove bytes that a row in the database relies on
          createWriteStream(unfinished, { mode: 0o600, flush: true, highWaterMark: WRITE_BYTES }),
        )
        await fs.rename(unfinished, target)
        // the file's name must be flushed too
        await flushFolder(path.dirname(target))
        await flushFolder(root)
      } catch (error) {
        await fs.rm(unfinished, { force: true })
        throw error
      }
      return { size, sha256: hash.digest('hex') }
    },
    async read(key, part) {
      const handle = await fs.open(fileOf(key))
      return createReadStream('', { fd: handle, ...(part && { start: part.from, end: part.to - 1 }) })
    },
    // the route that sends the file notices when it is missing
    serve: async (key) => disk.locate(key),
    async stat(key) {
      try {
        return { size: (await fs.stat(fileOf(key))).size }
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
        throw error
      }
    },
    async remove(key) {
      await fs.rm(fileOf(key), { force: true })
      await disk.tidy(key)
    },
    mustHaveRoom,
    async tidy(key) {
      for (const ending of ['.part', '.json']) await fs.rm(fileOf(key) + ending, { force: true })
    },
    resumable: () =>
      (resumable ??= import('./disk-uploads.ts').then(({ resumableDisk }) => resumableDisk(disk, root, below))),
    locate: (key) => ({ root, path: below(key) }),
  }
  return disk
}

/** Flushes the names in a folder to the disk. */
export async function flushFolder(folder: string): Promise<void> {
  if (process.platform === 'win32') return // Windows cannot open folders, and flushes them by itself
  const handle = await fs.open(folder)
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
