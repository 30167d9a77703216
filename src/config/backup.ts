import path from 'node:path'
import { secretList } from './parsers.ts'
import type { S3Settings } from '../kit/storage/s3-client.ts'
import type { VaultPlace } from '../kit/vault/places.ts'
import type { Reader } from './reader.ts'
import { PLACE_EXPECTED, type StorageConfig, placeOf } from './storage.ts'

export interface BackupConfig {
  /** Where backups go, and the keys that they are encrypted with: the first writes, and all read. Undefined: there are none. */
  readonly backup: { readonly place: VaultPlace; readonly keys: readonly string[] } | undefined
  /** BACKUP_URL=none: the operator wants no backups. A BACKUP_URL that is only missing can be a lost one. */
  readonly backupIsOff: boolean
  /** Restores a copy of DATABASE_URL and prints its address, for `npm run drill`. */
  readonly drillRestoreCommand: string | undefined
}

/** Reads BACKUP_URL and BACKUP_KEY. `secrets` are those of the environment, `databaseUrl` is of a database that is not ours. */
export function readBackup(
  { text, checked, problems }: Reader,
  { dataDir, secrets, databaseUrl }: { dataDir: string; secrets: readonly string[]; databaseUrl: string | undefined },
): BackupConfig {
  const ownKeys = checked(
    'BACKUP_KEY',
    [],
    secretList,
    'at least 32 characters; several, separated by commas, to rotate',
  )
  const drillRestoreCommand = text('DRILL_RESTORE_COMMAND')
  const own = { id: text('BACKUP_S3_ACCESS_KEY_ID'), secret: text('BACKUP_S3_SECRET_ACCESS_KEY') }
  // the keys stay while there are no backups
  if (text('BACKUP_URL') === 'none') return { backup: undefined, backupIsOff: true, drillRestoreCommand }
  const found = checked('BACKUP_URL', undefined, placeOf, `${PLACE_EXPECTED}, or none`)
  if (own.id && !(found && 'bucket' in found))
    problems.push('BACKUP_S3_ACCESS_KEY_ID: of no use without BACKUP_URL=s3://…, so there would be no backup')
  if (!found && ownKeys.length > 0) problems.push('BACKUP_URL: required with BACKUP_KEY, or there would be no backup')
  const rest = { backupIsOff: false, drillRestoreCommand }
  if (!found) return { backup: undefined, ...rest }
  const keys = ownKeys.length > 0 ? ownKeys : secrets
  if (keys.length === 0)
    problems.push('BACKUP_KEY: required (or SECRET), because a key that is only in DATA_DIR is lost with this machine')
  if (databaseUrl)
    problems.push('BACKUP_URL: only for the embedded database; see docs/backup.md for the server of DATABASE_URL')
  if ('bucket' in found) return { backup: { place: { s3: withKeys({ text, problems }, found, own) }, keys }, ...rest }
  const folder = path.resolve(found.storageDir)
  if (isWithin(folder, dataDir)) problems.push('BACKUP_URL: a folder inside of DATA_DIR is lost together with it')
  return { backup: { place: { folder }, keys }, ...rest }
}

/** A backup should have keys of its own, so that a thief of the service's keys cannot remove it. */
function withKeys(
  { text, problems }: Pick<Reader, 'text' | 'problems'>,
  place: Omit<S3Settings, 'keys'>,
  own: { id: string | undefined; secret: string | undefined },
): S3Settings {
  const id = own.id ?? text('S3_ACCESS_KEY_ID')
  const secret = own.secret ?? text('S3_SECRET_ACCESS_KEY')
  for (const [name, value] of [
    ['BACKUP_S3_ACCESS_KEY_ID', id],
    ['BACKUP_S3_SECRET_ACCESS_KEY', secret],
  ] as const)
    // Amazon gives keys to its own machines, so only there they can be absent
    if (!value && (place.endpoint || id || secret)) problems.push(`${name}: required for this BACKUP_URL`)
  return { ...place, keys: id && secret ? { id, secret } : undefined }
}

/** A backup that lies among the files is lost together with them, by the same disk, keys or mistake. */
export function problemsOfSharing({ backup, s3, storageDir }: BackupConfig & StorageConfig): string[] {
  if (!backup) return []
  if ('s3' in backup.place) {
    const { place } = backup
    const isSame = s3?.bucket === place.s3.bucket && storesOf(s3).some((one) => storesOf(place.s3).includes(one))
    return isSame ? ['BACKUP_URL: STORAGE_URL has the files in this bucket; a backup needs a bucket of its own'] : []
  }
  const [folder, files] = [backup.place.folder, path.resolve(storageDir)]
  if (s3 || !(isWithin(folder, files) || isWithin(files, folder))) return []
  return [
    'BACKUP_URL: this is the folder of the files (STORAGE_URL), or one of the two folders is inside the other; a backup needs a folder of its own',
  ]
}

function isWithin(inner: string, outer: string): boolean {
  const way = path.relative(outer, inner)
  return way !== '..' && !way.startsWith(`..${path.sep}`) && !path.isAbsolute(way)
}

/** The addresses of a bucket's store, without what does not tell two stores apart. Amazon's has many addresses, and each bucket once. */
const storesOf = ({ endpoint, publicEndpoint }: S3Settings): string[] =>
  [endpoint, publicEndpoint ?? endpoint].map((address) => {
    const { hostname, host, pathname } = new URL(address ?? 'https://amazonaws.com')
    return /(?:^|\.)amazonaws\.com$/.test(hostname) ? 'Amazon' : host + pathname.replace(/\/$/, '')
  })
