import fs from 'node:fs'
import { sql } from 'kysely'
import { type Installed, fingerprint, storageIdOf } from '../../src/kit/installation.ts'
import { STORAGE_ID } from '../../src/kit/storage/storage.ts'
import { openStorage } from '../../src/kit/storage/open.ts'
import { type Finding, type Patient, failure, fine } from './finding.ts'

/** Checks, as the start of the service does, whether the secret and the storage belong to the database. */
export async function checkInstallation({ config, database }: Patient): Promise<Finding[]> {
  const db = await database
  if (!db) return []
  const { rows: made } = await sql<{ made: boolean }>`select to_regclass('installation') is not null as made`.execute(
    db,
  )
  if (!made[0]?.made) return []
  const { rows } = await sql<{ secret: string | null; storage: string; confirmed: boolean }>`
    select secret_fingerprint as secret, storage_id as storage, storage_confirmed_at is not null as confirmed
    from installation`.execute(db)
  const installed = rows[0]
  if (!installed) return []
  const isSame = !installed.secret || config.secrets.map(fingerprint).includes(installed.secret)
  const secret = isSame
    ? fine('secret', 'the one that the database was used with')
    : failure(
        'secret',
        'SECRET is not the one that the database was used with: the service does not start',
        'set it as the other instances have it; if it is lost: npm run adopt -- secret',
      )
  return installed.confirmed ? [secret, ...(await checkFiles(config, installed.storage))] : [secret]
}

async function checkFiles(config: Installed, installed: string): Promise<Finding[]> {
  // opening a storage makes its folder, and the doctor must change nothing
  const isThere = config.s3 !== undefined || fs.existsSync(config.storageDir)
  const found = isThere
    ? await openStorage(config)
        .then((storage) => storageIdOf(storage))
        .catch(() => null)
    : undefined
  if (found === null || found === installed) return [] // the line about the storage says whether it can be used
  const says = found
    ? 'the storage belongs to another database'
    : 'the storage does not hold the files of this database'
  return [
    failure(
      'storage',
      `${says} (${STORAGE_ID}): the service does not start`,
      'set STORAGE_URL or DATA_DIR as the other instances have it; if the files were moved there on purpose: npm run adopt -- storage',
    ),
  ]
}
