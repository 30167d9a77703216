import { buffer } from 'node:stream/consumers'
import type { Storage } from '../../kit/storage/storage.ts'

/** By this length an archive has named its first files, which tell its type. */
const LOOK_AT_BYTES = 64 * 1024
const UNKNOWN = 'application/octet-stream'
/** Types that a browser could show as a page and run. */
const PAGE = /html|xml|svg|javascript|^text\//

/** Returns a file's content type by its bytes, not by its name. */
export async function contentTypeOf(storage: Storage, key: string, size: number): Promise<string> {
  if (size === 0) return UNKNOWN
  const first = await buffer(await storage.read(key, { from: 0, to: Math.min(size, LOOK_AT_BYTES) }))
  const { fileTypeFromBuffer } = await import('file-type')
  // the library can throw on bytes that only look like a known type
  const type = await fileTypeFromBuffer(first).catch(() => undefined)
  return !type || PAGE.test(type.mime) ? UNKNOWN : type.mime
}
