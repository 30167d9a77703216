import { createHmac, randomBytes } from 'node:crypto'
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { sql } from 'kysely'
import { CannotStart, folderProblem } from './cannot-start.ts'
import type { Db } from './database.ts'
import { type Log, errorForLog } from './log.ts'
import { derivedKey } from './signing.ts'
import { openStorage } from './storage/open.ts'
import type { S3Settings } from './storage/s3-client.ts'
import { type Storage, STORAGE_ID } from './storage/storage.ts'

export interface Installed {
  readonly secrets: readonly string[]
  readonly storageDir: string
  readonly storageReserveBytes?: number
  readonly s3: S3Settings | undefined
}

/**
 * Opens the storage and checks that the storage and the secret belong to this database. An instance with another secret would refuse
 * the links of the other instances, and one with another storage would lack their files. To rotate the secret, the operator lists a
 * new one before the database's own: the list is accepted, and the database then expects its first secret.
 */
export async function openInstallation(db: Db, installed: Installed, log: Log): Promise<Storage> {
  const storage = await openedStorage(installed)
  const { secrets } = installed
  const own = fingerprint(secrets[0]!)
  await sql`
    insert into installation (secret_fingerprint, storage_id) values (${own}, ${randomBytes(16).toString('hex')})
    on conflict do nothing`.execute(db)
  // without a reserve, because the marker's few bytes must fit on a disk that accepts no more files of sellers
  const marked = await openedStorage({ ...installed, storageReserveBytes: 0 })
  // The row stays locked until the first storage is confirmed. So when two first instances start with different storages, the second
  // waits and is refused. Later checks run without the lock, so that one instance's slow storage does not delay the others.
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
  'SECRET: this database was used with another secret. Set SECRET (or the file "secret" in DATA_DIR) as on the other instances. ' +
  'If that secret is lost, "npm run adopt -- secret" makes the database accept this one; existing links, codes and sessions then end.'

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
    // A confirmed storage may be unreachable for a moment. The service starts without it: sales go on, and downloads ask to wait.
    if (!confirmed || isRefusal(error)) throw storageTrouble(installed, error)
    return log.warn(errorForLog(error), 'the storage cannot be reached; the service starts without checking it')
  }
  if (found === id) return
  const says = found ? 'belongs to another database' : 'does not hold the files of this database'
  throw new CannotStart(
    `STORAGE_URL: ${place} ${says}. Set STORAGE_URL (or DATA_DIR, or DATABASE_URL) as on the other instances, or restore the missing files. ` +
      'If you moved the files there on purpose, "npm run adopt -- storage" makes the database accept it.',
  )
}

/**
 * The id of the database that a storage belongs to, or undefined when the storage names none. Amazon answers AccessDenied when the
 * keys may not list the bucket and the object does not exist, and also when the keys may not read the object. So AccessDenied means
 * a missing object only while the marker may not have been written yet (`deniedIsMissing`).
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

/** Writes the id, and returns the id that the storage then holds. */
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

/** Whether the store refused the request. False when it did not answer or had an error of its own. */
const isRefusal = (error: unknown): boolean => {
  const { $metadata, code } = error as { $metadata?: { httpStatusCode?: number }; code?: string }
  const answered = $metadata?.httpStatusCode
  if (answered !== undefined) return answered < SERVER_ERROR
  return ['EACCES', 'EPERM', 'ENOTDIR', 'EROFS'].includes(code ?? '')
}
const SERVER_ERROR = 500

/** Names the setting that is probably wrong, judging by the store's answer. */
function storageTrouble(installed: Installed, error: unknown): unknown {
  if (!installed.s3) return folderProblem('STORAGE_URL', installed.storageDir, error)
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
    `${setting}: ${placeOf(installed)} cannot be used (${answer}): correct the setting, or start the store. "npm run doctor" finds out more.`,
    { cause: error },
  )
}

const placeOf = ({ storageDir, s3 }: Installed): string =>
  s3 ? `the bucket ${s3.bucket} at ${s3.endpoint ?? 'Amazon S3'}` : storageDir

/** The same on every instance with this secret, without revealing anything about the secret. */
export const fingerprint = (secret: string): string =>
  createHmac('sha256', derivedKey(secret, 'fingerprint')).update('installation').digest('hex').slice(0, 32)
