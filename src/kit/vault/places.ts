import { randomBytes } from 'node:crypto'
import { type Dirent, createReadStream, createWriteStream } from 'node:fs'
import fs from 'node:fs/promises'
import path from 'node:path'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { type S3, type S3Settings, connectS3, isMissing } from '../storage/s3-client.ts'
import { putStream } from '../storage/s3-put.ts'
import { readObject } from '../storage/s3-read.ts'

/** Where a backup lies: a folder, or a bucket. */
export type VaultPlace = { readonly folder: string } | { readonly s3: S3Settings }

/** Objects by name. A name is written whole or not at all, and survives a loss of power once `put` returns. */
export interface Place {
  /** Where it is, in words. */
  address: string
  put(name: string, bytes: Readable): Promise<void>
  /** Undefined when there is no such object. */
  read(name: string): Promise<Readable | undefined>
  /** The names that begin with `prefix`, sorted. */
  list(prefix: string): Promise<string[]>
  /** A missing object is no error. */
  remove(name: string): Promise<void>
  /**
   * Removes what processes have left that were killed while they wrote objects with these prefixes, such as `files/`, if it is older than
   * that. A bucket does so by its own rules.
   */
  removeUnfinished(prefixes: readonly string[], ageMs: number): Promise<void>
}

export const openPlace = (place: VaultPlace, pauseMs?: number): Place =>
  'folder' in place ? folderPlace(place.folder) : bucket(place.s3, pauseMs)

const UNFINISHED = '.part'

function folderPlace(root: string): Place {
  const fileOf = (name: string) => path.join(root, ...name.split('/'))
  /** All of the folder that the prefix names. */
  const entriesBelow = async (prefix: string): Promise<Dirent[]> => {
    const from = fileOf(prefix.slice(0, prefix.lastIndexOf('/') + 1))
    for (;;) {
      try {
        return await fs.readdir(from, { recursive: true, withFileTypes: true })
      } catch (error) {
        if (!isGone(error)) throw error
        if ((error as NodeJS.ErrnoException).path === from) return []
        // another process has removed a folder below it: the others are still there
      }
    }
  }
  return {
    address: root,
    async put(name, bytes) {
      const target = fileOf(name)
      const unfinished = `${target}.${randomBytes(6).toString('hex')}${UNFINISHED}`
      const made = await fs.mkdir(path.dirname(target), { recursive: true, mode: 0o700 })
      await giveToOwner(root, foldersBetween(made, path.dirname(target)))
      try {
        await pipeline(bytes, createWriteStream(unfinished, { mode: 0o600, flush: true }))
        await giveToOwner(root, [unfinished])
        await fs.rename(unfinished, target)
        await flushFolder(path.dirname(target))
      } catch (error) {
        await fs.rm(unfinished, { force: true })
        throw error
      }
    },
    async read(name) {
      try {
        const handle = await fs.open(fileOf(name))
        return createReadStream('', { fd: handle })
      } catch (error) {
        if (isGone(error)) return undefined
        throw error
      }
    },
    async list(prefix) {
      return (await entriesBelow(prefix))
        .filter((entry) => entry.isFile() && !entry.name.endsWith(UNFINISHED))
        .map((entry) => path.relative(root, path.join(entry.parentPath, entry.name)).split(path.sep).join('/'))
        .filter((name) => name.startsWith(prefix))
        .sort()
    },
    async remove(name) {
      await fs.rm(fileOf(name), { force: true })
      // the folder of a removed copy of the database goes with its last object
      if (name.startsWith('base/')) await fs.rmdir(path.dirname(fileOf(name))).catch(() => {})
    },
    async removeUnfinished(prefixes, ageMs) {
      const entries = await Promise.all(prefixes.map(entriesBelow))
      for (const entry of entries.flat()) {
        if (!entry.isFile() || !entry.name.endsWith(UNFINISHED)) continue
        const file = path.join(entry.parentPath, entry.name)
        const found = await fs.stat(file).catch(() => undefined)
        if (!found || Date.now() - found.mtimeMs < ageMs) continue
        await fs.rm(file, { force: true })
        if (path.dirname(entry.parentPath) === path.join(root, 'base')) await fs.rmdir(entry.parentPath).catch(() => {})
      }
    },
  }
}

/** The folders that `mkdir` has made: from the first one, if any, down to the last. */
function foldersBetween(first: string | undefined, last: string): string[] {
  if (first === undefined) return []
  return last === first ? [last] : [...foldersBetween(first, path.dirname(last)), last]
}

/**
 * Gives the files that root makes, as in an upgrade, to the owner of the place: the service must be able to read and remove them. A file system
 * that knows no owners refuses, and needs none.
 */
async function giveToOwner(root: string, paths: string[]): Promise<void> {
  if (process.getuid?.() !== 0) return
  const { uid, gid } = await fs.stat(root)
  for (const one of paths) await fs.chown(one, uid, gid).catch(() => {})
}

const isGone = (error: unknown) => (error as NodeJS.ErrnoException).code === 'ENOENT'

async function flushFolder(folder: string): Promise<void> {
  // Windows cannot flush a folder
  if (process.platform === 'win32') return
  const handle = await fs.open(folder)
  await handle.sync().finally(() => handle.close())
}

function bucket(settings: S3Settings, pauseMs?: number): Place {
  const { bucket: Bucket } = settings
  let connecting: Promise<S3> | undefined
  const connected = () => (connecting ??= connectS3(settings))
  return {
    address: `${settings.endpoint ?? 's3:/'}/${Bucket}`,
    async put(name, bytes) {
      await putStream(await connected(), { Bucket, Key: name }, bytes)
    },
    async read(name) {
      try {
        return await readObject(await connected(), { Bucket, Key: name }, { pauseMs })
      } catch (error) {
        if (isMissing(error)) return undefined
        throw error
      }
    },
    async list(prefix) {
      const { sdk, client } = await connected()
      const names: string[] = []
      for (let ContinuationToken: string | undefined; ;) {
        const page = await client.send(new sdk.ListObjectsV2Command({ Bucket, Prefix: prefix, ContinuationToken }))
        names.push(...(page.Contents ?? []).flatMap(({ Key }) => (Key === undefined ? [] : [Key])))
        ContinuationToken = page.NextContinuationToken
        if (!page.IsTruncated || ContinuationToken === undefined) return names.sort()
      }
    },
    async remove(name) {
      const { sdk, client } = await connected()
      await client.send(new sdk.DeleteObjectCommand({ Bucket, Key: name }))
    },
    removeUnfinished: async () => {},
  }
}
