import { createHash } from 'node:crypto'
import type { Readable } from 'node:stream'
import type { Stored } from './storage.ts'

/** Hashes a stream while reading it to its end. */
export async function hashOfStream(bytes: Readable): Promise<Stored> {
  const hash = createHash('sha256')
  let size = 0
  for await (const chunk of bytes as AsyncIterable<Buffer>) {
    hash.update(chunk)
    size += chunk.length
  }
  return { size, sha256: hash.digest('hex') }
}
