import type { KeyObject } from 'node:crypto'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { createZstdCompress, createZstdDecompress } from 'node:zlib'
import { derivedKey } from '../signing.ts'
import { type VaultPlace, openPlace } from './places.ts'
import { needsAnotherKey, seal, unseal } from './sealed.ts'

/** Encrypted objects in a folder or a bucket. The first key writes, and all of them read. */
export interface Vault {
  /** Where it is, in words. */
  address: string
  /** Writes the object, whole or not at all. `compressed` for bytes that are worth it. */
  put(name: string, bytes: AsyncIterable<Uint8Array>, options?: { compressed?: boolean }): Promise<void>
  /** Undefined when there is no such object. The stream throws a SealError. */
  read(name: string, options?: { compressed?: boolean }): Promise<Readable | undefined>
  putJson(name: string, value: object): Promise<void>
  readJson<T extends object>(name: string): Promise<T | undefined>
  /** Whether the object is there, and was written with another key than the first one. */
  needsEarlierKey(name: string): Promise<boolean>
  list(prefix: string): Promise<string[]>
  remove(name: string): Promise<void>
  /** Removes unfinished objects with these prefixes in a folder, if they are older than that. */
  removeUnfinished(prefixes: readonly string[], ageMs: number): Promise<void>
}

export function openVault(place: VaultPlace, keys: readonly string[]): Vault {
  const { address, put, read, list, remove, removeUnfinished } = openPlace(place)
  const own: KeyObject[] = keys.map((key) => derivedKey(key, 'backup'))
  const vault: Vault = {
    address,
    async put(name, bytes, { compressed = false } = {}) {
      const plain = Readable.from(bytes, { objectMode: false })
      const written = compressed ? plain.pipe(createZstdCompress()) : plain
      // a pipe does not pass on errors
      plain.on('error', (error) => written.destroy(error))
      const streams = [written, plain, bytes].filter((one) => one instanceof Readable)
      // without a listener an error that comes before the place reads ends the process; the place meets it when it reads
      for (const one of streams) one.on('error', () => {})
      try {
        await put(name, Readable.from(seal(own[0]!, name, written), { objectMode: false }))
      } finally {
        // also when the place has refused before it took a byte: an open file of each try would use up the process's files
        for (const one of streams) one.destroy()
      }
    },
    async read(name, { compressed = false } = {}) {
      const bytes = await read(name)
      if (!bytes) return undefined
      const plain = Readable.from(unseal(own, name, bytes), { objectMode: false })
      // also for a reader that stops early, or never begins
      plain.on('close', () => bytes.destroy())
      if (!compressed) return plain
      const expanded = plain.pipe(createZstdDecompress())
      plain.on('error', (error) => expanded.destroy(error))
      // as above, for a reader that begins later
      expanded.on('error', () => {})
      expanded.on('close', () => plain.destroy())
      return expanded
    },
    putJson: (name, value) => vault.put(name, bytesOf(value)),
    async readJson<T extends object>(name: string) {
      const bytes = await vault.read(name)
      return bytes && (JSON.parse(String(await buffer(bytes))) as T)
    },
    async needsEarlierKey(name) {
      const bytes = await read(name)
      try {
        return bytes !== undefined && (await needsAnotherKey(own[0]!, bytes))
      } finally {
        bytes?.destroy()
      }
    },
    list,
    remove,
    removeUnfinished,
  }
  return vault
}

async function* bytesOf(value: object): AsyncGenerator<Buffer> {
  yield Buffer.from(JSON.stringify(value))
}
