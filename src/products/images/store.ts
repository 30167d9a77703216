import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { refusalOfStorage } from '../../kit/storage/refusals.ts'
import type { Storage } from '../../kit/storage/storage.ts'
import { SIZES, type Size } from './urls.ts'

// The only place that stores and reads the bytes of pictures. An id ends in random characters, so its keys do too.

const keyOf = (imageId: string, size: Size): string => `${size}-${imageId}`
/** The keys of all sizes of a picture. */
export const imageKeys = (imageId: string): string[] => SIZES.map((size) => keyOf(imageId, size))

/** Refuses `storage_unavailable`, `storage_full`. */
export async function putImage(storage: Storage, imageId: string, sizes: ReadonlyMap<Size, Buffer>): Promise<void> {
  try {
    for (const [size, bytes] of sizes) await storage.put(keyOf(imageId, size), Readable.from([bytes]))
  } catch (cause) {
    throw refusalOfStorage(cause)
  }
}

/** Undefined when there is no such picture. Refuses `storage_unavailable`. */
export async function readImage(storage: Storage, imageId: string, size: Size): Promise<Buffer | undefined> {
  const key = keyOf(imageId, size)
  try {
    return (await storage.stat(key)) && (await buffer(await storage.read(key)))
  } catch (cause) {
    throw refusalOfStorage(cause)
  }
}

export async function removeImage(storage: Storage, imageId: string): Promise<void> {
  for (const size of SIZES) await storage.remove(keyOf(imageId, size))
}
