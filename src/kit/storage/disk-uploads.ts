import { FileStore } from '@tus/file-store'
import type { Upload } from '@tus/server'
import fs from 'node:fs/promises'
import path from 'node:path'
import { type Readable, Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { type Disk, WRITE_BYTES, diskPath, flushFolder } from './disk.ts'
import { type RunningHashes, runningHashes } from './running-hashes.ts'
import type { MustHaveRoom } from './reserve.ts'
import { hashOfStream } from './hash-of-stream.ts'
import { type Resumable, STORAGE_ID } from './storage.ts'

/** Resumable uploads to a disk. Pieces are written into the final file. */
export function resumableDisk(disk: Disk, root: string, below: (key: string) => string): Resumable {
  const hashes = runningHashes()
  const store = new PieceStore(root, hashes, disk.mustHaveRoom)
  const keyOf = (name: string) => path.basename(name)
  return {
    store,
    nameOf: below,
    keyOf,
    // two writers write the same bytes to the same place
    cut() {},
    async finish(key, size) {
      const file = path.join(root, below(key))
      const handle = await fs.open(file, 'r+')
      try {
        await handle.sync()
      } finally {
        await handle.close()
      }
      await flushFolder(path.dirname(file))
      await flushFolder(root)
      const known = hashes.digest(key, size)
      return known ? { size, sha256: known } : hashOfStream(await disk.read(key))
    },
    async forget(key) {
      hashes.forget(key)
      await disk.tidy(key)
    },
  }
}

class PieceStore extends FileStore {
  static {
    // The library's constructor makes the folder. If the disk refuses, it throws from a callback, which would end the service. `create`
    // makes the folder where it is missing. The library's types call this method private, so it is assigned.
    Object.assign(this.prototype, { checkOrCreateDirectory() {} })
  }

  readonly #hashes: RunningHashes
  readonly #mustHaveRoom: MustHaveRoom

  constructor(root: string, hashes: RunningHashes, mustHaveRoom: MustHaveRoom) {
    super({ directory: root })
    this.#hashes = hashes
    this.#mustHaveRoom = mustHaveRoom
  }

  /** Makes the folder and the files for the service alone: the library makes them with the default rights, and then keeps what is there. */
  override async create(upload: Upload): Promise<Upload> {
    const file = path.join(this.directory, upload.id)
    await fs.mkdir(path.dirname(file), { recursive: true, mode: 0o700 })
    for (const ending of ['', '.json']) await fs.writeFile(file + ending, '', { mode: 0o600 })
    return super.create(upload)
  }

  /**
   * The library answers each failure to read its notes with "no such upload", and a client then begins again from the first byte. Where
   * a disk is not mounted there is an empty folder, so missing notes count only beside the mark of the storage.
   */
  override async getUpload(name: string): Promise<Upload> {
    try {
      await fs.readFile(path.join(this.directory, `${name}.json`))
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
      await fs.access(diskPath(this.directory, STORAGE_ID))
    }
    return super.getUpload(name)
  }

  /** Like the library's, but it hashes the bytes on the way, and it passes on the original error of a full disk. */
  override async write(bytes: Readable, name: string, offset: number): Promise<number> {
    const hash = this.#hashes.goOn(path.basename(name), offset)
    const handle = await fs.open(path.join(this.directory, name), 'r+')
    let at = offset
    const writeAt = async (chunk: Buffer) => {
      await this.#mustHaveRoom(chunk.length)
      const writing = handle.write(chunk, 0, chunk.length, at)
      // hashes while the disk writes
      hash?.update(chunk)
      const { bytesWritten } = await writing
      at += bytesWritten
      for (let done = bytesWritten; done < chunk.length;) {
        const more = await handle.write(chunk, done, chunk.length - done, at)
        done += more.bytesWritten
        at += more.bytesWritten
      }
    }
    let last: Promise<void> = Promise.resolve()
    const sink = new Writable({
      highWaterMark: WRITE_BYTES,
      write(chunk: Buffer, _encoding, done) {
        last = writeAt(chunk)
        void settle(last, done)
      },
      writev(chunks, done) {
        // one after the other, because joining them would need as much memory again
        last = (async () => {
          for (const { chunk } of chunks) await writeAt(chunk as Buffer)
        })()
        void settle(last, done)
      },
    })
    try {
      await pipeline(bytes, sink)
      return at
    } catch (error) {
      if (hash && hash.offset !== at) this.#hashes.forget(path.basename(name))
      throw error
    } finally {
      // finishes the last write before another request reads the offset
      await last.catch(() => {})
      await handle.close()
    }
  }

  override async remove(name: string): Promise<void> {
    this.#hashes.forget(path.basename(name))
    for (const ending of ['', '.json']) await fs.rm(path.join(this.directory, name) + ending, { force: true })
  }
}

/** Calls the stream's callback with the result of a promise. */
async function settle(work: Promise<void>, done: (error?: Error) => void): Promise<void> {
  let failure: Error | undefined
  await work.catch((error: Error) => (failure = error))
  done(failure)
}
