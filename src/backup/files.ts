import { createHash } from 'node:crypto'
import { sql } from 'kysely'
import type { Db } from '../kit/database.ts'
import { isDenied } from '../kit/storage/s3-client.ts'
import type { Storage } from '../kit/storage/storage.ts'
import { isDamage } from '../kit/vault/sealed.ts'
import type { Vault } from '../kit/vault/vault.ts'
import { imageKeys } from '../products/images/store.ts'
import { fileName } from './names.ts'

const AT_ONCE = 200
const MOST_NAMED = 10
/** When so many files fail in a row, the storage or the backup is away, and each further file would only cost time. */
const MOST_FAILED = 10
/** Buyers do not get a recalled file any more, so a backup is complete without it. */
const isNotRecalled = sql`not exists (
  select from withdrawn_files w join products p on p.seller_id = w.seller_id where p.id = f.product_id and w.sha256 = f.sha256)`

const keysOfPicture = sql.join(imageKeys('?').map((key) => sql`replace(${key}, '?', i.id)`))
/** All sizes of all pictures. */
const PICTURES = sql`images i, unnest(array[${keysOfPicture}]) as k(key)`

interface Stored {
  key: string
  /** Known for a product's file, and not for a picture. */
  sha256: string | null
}

export interface FilesCopied {
  copied: number
  /** Files of products that the storage does not have, or has with other bytes than their rows say. */
  lost: string[]
  /** Files and pictures that could not be copied now, why the first one could not, and whether later ones were not tried. */
  failed: { keys: string[]; error: unknown; isAll: boolean } | undefined
}

/** Copies the new files, and throws when one could not be copied, or is lost. */
export async function copyOrThrow(db: Db, storage: Storage, vault: Vault, signal: AbortSignal): Promise<void> {
  const { lost, failed } = await copyNewFiles(db, storage, vault, signal)
  if (failed) throw failed.error
  const missing = lost.length > 0 ? (await lostFiles(db)).filter((key) => lost.includes(key)) : []
  if (missing.length > 0)
    throw new Error(`the storage does not have these files, or has other bytes: ${listOf(missing)}`)
}

/**
 * Copies the files and pictures that the backup does not have yet, each once: their bytes never change. After `signal` the file that is on
 * its way is broken off, and is copied the next time.
 */
export async function copyNewFiles(db: Db, storage: Storage, vault: Vault, signal?: AbortSignal): Promise<FilesCopied> {
  const done: FilesCopied = { copied: 0, lost: [], failed: undefined }
  let failedInARow = 0
  for (let last = ''; ;) {
    const found = await newFiles(db, last)
    for (const file of found) {
      let sha256: string | undefined
      try {
        sha256 = await copyFile(storage, vault, file, signal)
        failedInARow = 0
      } catch (error) {
        // one file that cannot be copied now must not keep the later ones out of the backup
        done.failed ??= { keys: [], error, isAll: true }
        done.failed.keys.push(file.key)
        if (++failedInARow < MOST_FAILED) continue
        done.failed.isAll = false
        return done
      }
      const isWhole = sha256 !== undefined
      // a lost file is noted too, so that it is not looked for each minute
      await sql`
        insert into backup_files (key, sha256) values (${file.key}, ${sha256 ?? null}) on conflict do nothing`.execute(
        db,
      )
      if (isWhole) done.copied++
      else if (file.sha256) done.lost.push(file.key)
    }
    if (found.length === 0) return done
    last = found.at(-1)!.key
  }
}

/** The files of products that the backup does not have, because the storage had lost or damaged them. Recalled ones do not count. */
export async function lostFiles(db: Db): Promise<string[]> {
  const { rows } = await sql<{ key: string }>`
    select f.id as key from files f join backup_files b on b.key = f.id
    where b.sha256 is null and ${isNotRecalled} order by f.id`.execute(db)
  return rows.map(({ key }) => key)
}

/** Names the files, or the first of many. */
export function listOf(keys: readonly string[]): string {
  const more = keys.length - MOST_NAMED
  return keys.slice(0, MOST_NAMED).join(', ') + (more > 0 ? ` and ${more} more` : '')
}

/** The files and pictures that are noted neither as copied nor as lost. */
const notCopied = sql<Stored>`
  select key, sha256 from (
    select f.id as key, f.sha256 from files f where ${isNotRecalled}
    union all
    select k.key, null from ${PICTURES}
  ) known
  where not exists (select from backup_files b where b.key = known.key)`

async function newFiles(db: Db, after: string): Promise<Stored[]> {
  const { rows } = await sql<Stored>`
    select key, sha256 from (${notCopied}) s where key > ${after} order by key limit ${AT_ONCE}`.execute(db)
  return rows
}

/** Returns the hash of the copied bytes, or undefined when the storage has no such file, or has it with other bytes. */
async function copyFile(
  storage: Storage,
  vault: Vault,
  { key, sha256 }: Stored,
  signal: AbortSignal | undefined,
): Promise<string | undefined> {
  if (!(await storage.stat(key))) return undefined
  const hash = createHash('sha256')
  const bytes = await storage.read(key)
  let copied: string | undefined
  const isOther = () => copied !== undefined && sha256 !== null && copied !== sha256
  async function* hashed() {
    for await (const chunk of bytes as AsyncIterable<Buffer>) {
      signal?.throwIfAborted()
      hash.update(chunk)
      yield chunk
    }
    copied = hash.digest('hex')
    // nothing is put then, because the backup can have the file from before it was damaged, as after a restore
    if (isOther()) throw new Error(`the storage has other bytes of ${key}`)
  }
  try {
    await vault.put(fileName(key), hashed())
    return copied
  } catch (error) {
    if (isOther()) return undefined
    throw error
  }
}

/**
 * Forgets which files the backup does not have, so that they are copied again: a new place has none of them, and the operator can have
 * put a lost one back into the storage.
 */
export async function forgetLostFiles(db: Db, vault: Vault): Promise<void> {
  const known = await storedKeys(db)
  const found = new Set(await vault.list(fileName('')))
  const lost = known.filter((key) => !found.has(fileName(key)))
  await sql`delete from backup_files where key = any(${lost}::text[]) or sha256 is null`.execute(db)
}

/**
 * Forgets the pictures that the service has removed. The copies of the database that are made from then on do not need them, so that they
 * go with the older copies.
 */
export async function forgetRemoved(db: Db): Promise<void> {
  await sql`
    delete from backup_files where key in (
      select key from backup_files except select id from files except select k.key from ${PICTURES})`.execute(db)
}

/** The keys of all files and pictures that the backup has. */
export async function storedKeys(db: Db): Promise<string[]> {
  const { rows } = await sql<{ key: string }>`
    select key from backup_files where sha256 is not null order by key`.execute(db)
  return rows.map(({ key }) => key)
}

/**
 * The same, and those that are still to be copied or that the storage has lost: a copy of the database is of use with them too, and
 * the backup can have a whole copy of a lost one from before.
 */
export async function knownKeys(db: Db): Promise<string[]> {
  const { rows } = await sql<{ key: string }>`
    select key from backup_files where sha256 is not null
    union select key from (${notCopied}) s
    union select f.id from files f where ${isNotRecalled}
    order by key`.execute(db)
  return rows.map(({ key }) => key)
}

export interface FilesBack {
  copied: number
  bytes: number
  /** Files that the backup does not have, or has with other bytes. */
  missing: string[]
}

/** Copies the files that the restored database knows into the storage. A file that is there with its size is left as it is. */
export async function bringFilesBack(db: Db, storage: Storage, vault: Vault): Promise<FilesBack> {
  const done: FilesBack = { copied: 0, bytes: 0, missing: [] }
  for (let last = ''; ;) {
    const { rows } = await sql<{ key: string; sha256: string | null; sizeBytes: number | null }>`
      select b.key, b.sha256, f.size_bytes as "sizeBytes" from backup_files b left join files f on f.id = b.key
      where b.key > ${last} and b.sha256 is not null
      union all
      select f.id, f.sha256, f.size_bytes from files f
      where f.id > ${last} and not exists (select from backup_files b where b.key = f.id and b.sha256 is not null)
        and ${isNotRecalled}
      union all
      select n.key, n.sha256, null from (${notCopied}) n
      where n.key > ${last} and not exists (select from files f where f.id = n.key)
      order by 1 limit ${AT_ONCE}`.execute(db)
    if (rows.length === 0) return done
    for (const { key, sha256, sizeBytes } of rows) {
      const there = await sizeOf(storage, key)
      if (there !== undefined && there === sizeBytes) continue
      const stored = await whenSealed(async () => {
        const bytes = await vault.read(fileName(key))
        return bytes && storage.put(key, bytes)
      })
      // a picture that was not copied yet, in a bucket that is not lost
      if (!stored && sha256 === null && there !== undefined) continue
      if (!stored || (sha256 && stored.sha256 !== sha256)) {
        done.missing.push(key)
        if (stored) await storage.remove(key)
        continue
      }
      done.copied++
      done.bytes += stored.size
    }
    last = rows.at(-1)!.key
  }
}

/** A bucket whose keys may not list it refuses the question for a file that is not there. If it refuses everything, so does `put`. */
async function sizeOf(storage: Storage, key: string): Promise<number | undefined> {
  try {
    return (await storage.stat(key))?.size
  } catch (error) {
    if (isDenied(error)) return undefined
    throw error
  }
}

/** Undefined when an object of the backup is damaged: one file must not keep all others from coming back. A missing key would. */
async function whenSealed<T>(read: () => Promise<T>): Promise<T | undefined> {
  try {
    return await read()
  } catch (error) {
    if (isDamage(error)) return undefined
    throw error
  }
}
