import { createHmac, randomBytes } from 'node:crypto'
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { sql } from 'kysely'
import { CannotStart, troubleWith } from './cannot-start.ts'
import type { Db } from './database.ts'
import { type Log, errorForLog } from './log.ts'
import { derivedKey } from './signing.ts'
import { openStorage } from './storage/open.ts'
import type { S3Settings } from './storage/s3-client.ts'
import type { Storage } from './storage/storage.ts'

export interface Installed {
  readonly secrets: readonly string[]
  readonly storageDir: string
  readonly storageReserveBytes?: number
  readonly s3: S3Settings | undefined
}

/** The key under which a storage says to which database it belongs. */
export const STORAGE_ID = 'till-storage-id'

/**
 * Opens the storage, and makes sure that it and the secret are those of this database: a second instance with others would refuse
 * the links of the first one, and have none of its files. A list of secrets that holds the database's own is accepted, and from then
 * on its first one counts: so a secret is rotated.
 */
export async function openInstallation(db: Db, installed: Installed, log: Log): Promise<Storage> {
  const storage = await openedStorage(installed)
  const { secrets } = installed
  const own = fingerprint(secrets[0]!)
  await sql`
    insert into installation (secret_fingerprint, storage_id) values (${own}, ${randomBytes(16).toString('hex')})
    on conflict do nothing`.execute(db)
  // its few bytes are no file of a seller's, and find room on a disk that takes no more of those
  const marked = await openedStorage({ ...installed, storageReserveBytes: 0 })
  // The row is locked until the first storage is confirmed: of two first instances with different files the second waits, and is
  // then refused. Once it is confirmed, one instance's slow storage holds up no other.
  const known = await db.transaction().execute(async (tx) => {
    const { rows } = await sql<{ id: string; confirmed: boolean }>`
      update installation set secret_fingerprint = ${own}
      where secret_fingerprint is null or secret_fingerprint = any(${secrets.map(fingerprint)})
      returning storage_id as id, storage_confirmed_at is not null as confirmed`.execute(tx)
    const found = rows[0]
    if (!found) throw new CannotStart(OTHER_SECRET)
    if (found.confirmed) return found
    await checkStorage(marked, found, installed, log)
    await sql`update installation set storage_confirmed_at = now()`.execute(tx)
    return found
  })
  if (known.confirmed) await checkStorage(marked, known, installed, log)
  return storage
}

const OTHER_SECRET =
  'SECRET: this database was used with another secret. Set SECRET (or the file "secret" in DATA_DIR) as the other instances have it. ' +
  'If that is lost, "npm run adopt -- secret" lets the database take this one; links, codes and sessions given so far end.'

async function checkStorage(
  storage: Storage,
  { id, confirmed }: { id: string; confirmed: boolean },
  installed: Installed,
  log: Log,
): Promise<void> {
  const place = placeOf(installed)
  let found: string | undefined
  try {
    found = await storageIdOf(storage, { deniedIsMissing: !confirmed })
    if (!found && !confirmed) found = await writeStorageId(storage, id)
  } catch (error) {
    // A storage that was right before may be away for a moment. Sales go on without it, and downloads say that they must wait
    if (!confirmed || isRefusal(error)) throw storageTrouble(installed, error)
    return log.warn(errorForLog(error), 'the storage cannot be reached, and is taken for the right one')
  }
  if (found === id) return
  const says = found ? 'belongs to another database' : 'does not hold the files of this database'
  throw new CannotStart(
    `STORAGE_URL: ${place} ${says}. Set STORAGE_URL (or DATA_DIR, or DATABASE_URL) as the other instances have it, or put back what is missing. ` +
      'If the files were moved there on purpose, "npm run adopt -- storage" lets the database take it.',
  )
}

/**
 * The text that says to which database a storage belongs; undefined where it says nothing. Amazon answers AccessDenied for an
 * object that is not there where the keys may not list the bucket, and also where the keys have lost their right to read. So only
 * where the object need not be there yet (`deniedIsMissing`) does that answer mean that it is missing.
 */
export async function storageIdOf(storage: Storage, { deniedIsMissing = false } = {}): Promise<string | undefined> {
  try {
    return (await text(await storage.read(STORAGE_ID))).trim()
  } catch (error) {
    const { name, code } = error as { name?: string; code?: string }
    if (name === 'NoSuchKey' || name === 'NotFound' || code === 'ENOENT') return undefined
    if (deniedIsMissing && name === 'AccessDenied') return undefined
    throw error
  }
}

/** Writes it, and returns what can be read then. */
export async function writeStorageId(storage: Storage, id: string): Promise<string | undefined> {
  await storage.put(STORAGE_ID, Readable.from([Buffer.from(`${id}\n`)]))
  return storageIdOf(storage)
}

async function openedStorage(installed: Installed): Promise<Storage> {
  try {
    return await openStorage(installed)
  } catch (error) {
    throw storageTrouble(installed, error)
  }
}

/** Whether the store itself has said no, as opposed to not answering, or answering that it has trouble of its own. */
const isRefusal = (error: unknown): boolean => {
  const { $metadata, code } = error as { $metadata?: { httpStatusCode?: number }; code?: string }
  const answered = $metadata?.httpStatusCode
  if (answered !== undefined) return answered < SERVER_TROUBLE
  return ['EACCES', 'EPERM', 'ENOTDIR', 'EROFS'].includes(code ?? '')
}
const SERVER_TROUBLE = 500

/** The wrong setting by its name, as far as the store's answer tells. */
function storageTrouble(installed: Installed, error: unknown): unknown {
  if (!installed.s3) return troubleWith('STORAGE_URL', installed.storageDir, error)
  const {
    name = '',
    message = '',
    $metadata,
    code,
  } = error as Error & {
    $metadata?: { httpStatusCode?: number }
    code?: string
  }
  const isKey = /AccessKey|Signature|AccessDenied|Token|Credentials/.test(name)
  const setting = isKey ? 'S3_ACCESS_KEY_ID, S3_SECRET_ACCESS_KEY' : 'STORAGE_URL'
  const answer = $metadata?.httpStatusCode ? `${name}, ${$metadata.httpStatusCode}` : (code ?? (message || name))
  return new CannotStart(
    `${setting}: ${placeOf(installed)} cannot be used (${answer}): correct the setting, or let the store answer. npm run doctor looks closer.`,
    { cause: error },
  )
}

const placeOf = ({ storageDir, s3 }: Installed): string =>
  s3 ? `the bucket ${s3.bucket} at ${s3.endpoint ?? 'Amazon S3'}` : storageDir

/** Says nothing about the secret, and is the same on every instance that has it. */
export const fingerprint = (secret: string): string =>
  createHmac('sha256', derivedKey(secret, 'fingerprint')).update('installation').digest('hex').slice(0, 32)
