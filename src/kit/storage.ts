import { createHash, randomBytes } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import fs from 'node:fs/promises'
import path from 'node:path'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'

/** Files by keys of our own making. A key is written once and its bytes never change. */
export interface Storage {
  put(key: string, bytes: Readable): Promise<{ size: number; sha256: string }>
  /** Where on this machine the bytes lie: a folder, and the path below it. */
  locate(key: string): { root: string; path: string }
}

export async function openStorage(folder: string): Promise<Storage> {
  const root = path.resolve(folder)
  await fs.mkdir(root, { recursive: true, mode: 0o700 })
  // the last characters of an id are random: they spread the files over 1,024 folders
  const below = (key: string) => path.join(key.slice(-2), key)

  return {
    async put(key, bytes) {
      const target = path.join(root, below(key))
      const unfinished = `${target}.${randomBytes(6).toString('hex')}.part`
      await fs.mkdir(path.dirname(target), { recursive: true, mode: 0o700 })
      const hash = createHash('sha256')
      let size = 0
      try {
        await pipeline(
          bytes,
          async function* (source: AsyncIterable<Buffer>) {
            for await (const chunk of source) {
              hash.update(chunk)
              size += chunk.length
              yield chunk
            }
          },
          // flushed to the disk before it counts: a row in the database must not outlive its bytes
          createWriteStream(unfinished, { flags: 'wx', mode: 0o600, flush: true }),
        )
        await fs.rename(unfinished, target)
        // and so is its name
        await flushFolder(path.dirname(target))
        await flushFolder(root)
      } catch (error) {
        await fs.rm(unfinished, { force: true })
        throw error
      }
      return { size, sha256: hash.digest('hex') }
    },
    locate: (key) => ({ root, path: below(key) }),
  }
}

async function flushFolder(folder: string): Promise<void> {
  if (process.platform === 'win32') return // keeps folders by itself, and opens none
  const handle = await fs.open(folder)
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
