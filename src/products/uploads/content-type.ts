import { buffer } from 'node:stream/consumers'
import type { Storage } from '../../kit/storage/storage.ts'

/** Where what is in an archive, and so what it is, has been named. */
const LOOK_AT_BYTES = 64 * 1024
const UNKNOWN = 'application/octet-stream'
/** Types that a browser could show as a page and run. */
const PAGE = /html|xml|svg|javascript|^text\//

/** The type of a file by its bytes; its name does not count. */
export async function contentTypeOf(storage: Storage, key: string, size: number): Promise<string> {
  if (size === 0) return UNKNOWN
  const first = await buffer(await storage.read(key, { from: 0, to: Math.min(size, LOOK_AT_BYTES) }))
  const { fileTypeFromBuffer } = await import('file-type')
  // it may stumble over what only looks like something
  const type = await fileTypeFromBuffer(first).catch(() => undefined)
  return !type || PAGE.test(type.mime) ? UNKNOWN : type.mime
}
