import fs from 'node:fs/promises'
import path from 'node:path'

// A folder as a stream. Each entry is a header (its length, then JSON) and, for a file, blocks (their length, then bytes) that end with
// a block of no bytes. The sizes of files need not be known before, because PostgreSQL goes on writing to them.

const BLOCK_BYTES = 256 * 1024
const MOST_HEADER_BYTES = 8192

interface Entry {
  path: string
  isFolder?: true
}

export interface Packed {
  /** The bytes read so far. */
  bytes: number
  file: string
}

/** Packs the `entries` of the folder `root`, in their order, with `/` in their paths. A file that is gone by then is left out. */
export async function* pack(
  root: string,
  entries: readonly Entry[],
  onProgress: (packed: Packed) => void = () => {},
): AsyncGenerator<Buffer> {
  let bytes = 0
  for (const entry of entries) {
    if (entry.isFolder) {
      yield headerOf(entry)
      continue
    }
    const handle = await fs.open(path.join(root, entry.path)).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return undefined
      throw error
    })
    if (!handle) continue
    try {
      yield headerOf(entry)
      for (;;) {
        const { bytesRead, buffer } = await handle.read(Buffer.allocUnsafe(BLOCK_BYTES), 0, BLOCK_BYTES)
        if (bytesRead === 0) break
        bytes += bytesRead
        yield lengthOf(bytesRead)
        yield buffer.subarray(0, bytesRead)
      }
      yield lengthOf(0)
    } finally {
      await handle.close()
    }
    onProgress({ bytes, file: entry.path })
  }
}

/** Writes the entries of the stream below `root`. Returns the bytes of the files. */
export async function unpack(
  stream: AsyncIterable<Uint8Array>,
  root: string,
  onProgress: (packed: Packed) => void = () => {},
): Promise<number> {
  const reader = newReader(stream)
  let bytes = 0
  for (let header = await reader.header(); header; header = await reader.header()) {
    const target = path.join(root, ...header.path.split('/'))
    if (header.isFolder) {
      await fs.mkdir(target, { recursive: true, mode: 0o700 })
      continue
    }
    const handle = await fs.open(target, 'wx', 0o600)
    try {
      for (let block = await reader.block(); block.length > 0; block = await reader.block()) {
        // `write` can write less, as on a disk that is nearly full
        await handle.writeFile(block)
        bytes += block.length
      }
    } finally {
      await handle.close()
    }
    onProgress({ bytes, file: header.path })
  }
  return bytes
}

function headerOf(entry: Entry): Buffer {
  const text = Buffer.from(JSON.stringify(entry))
  return Buffer.concat([lengthOf(text.length), text])
}

function lengthOf(length: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(length)
  return bytes
}

function newReader(stream: AsyncIterable<Uint8Array>) {
  const source = stream[Symbol.asyncIterator]()
  let held: Buffer = Buffer.alloc(0)
  const read = async (length: number): Promise<Buffer | undefined> => {
    const parts = [held]
    let have = held.length
    while (have < length) {
      const { value, done } = await source.next()
      if (done) break
      parts.push(Buffer.from(value))
      have += value.length
    }
    const all = Buffer.concat(parts)
    if (all.length < length) {
      if (all.length === 0) return undefined
      throw new Error('the stream of the folder ended in the middle of an entry')
    }
    held = all.subarray(length)
    return all.subarray(0, length)
  }
  const must = async (length: number) => {
    const bytes = length === 0 ? Buffer.alloc(0) : await read(length)
    if (!bytes) throw new Error('the stream of the folder ended in the middle of an entry')
    return bytes
  }
  return {
    async header(): Promise<Entry | undefined> {
      const length = (await read(4))?.readUInt32BE()
      if (length === undefined) return undefined
      if (length > MOST_HEADER_BYTES) throw new Error('the stream is not that of a folder')
      const entry = JSON.parse(String(await must(length))) as Entry
      // an entry never leaves the folder
      if (entry.path.split('/').some((part) => part === '..' || part === '' || part.includes('\\')))
        throw new Error('the stream has an entry outside of its folder')
      return entry
    },
    async block(): Promise<Buffer> {
      const length = (await must(4)).readUInt32BE()
      if (length > BLOCK_BYTES) throw new Error('the stream is not that of a folder')
      return must(length)
    },
  }
}
