import { sql } from 'kysely'
import type { Db } from '../kit/database.ts'
import type { Log } from '../kit/log.ts'

export interface BackupSettings {
  backup: object | undefined
  backupIsOff: boolean
  databaseUrl: string | undefined
}

/**
 * Where this service made its backups until BACKUP_URL was lost. Undefined where BACKUP_URL is set, also to none, where there never was a
 * backup, and with DATABASE_URL, whose server has its own tools.
 */
export async function lostPlace(db: Db, settings: BackupSettings): Promise<string | undefined> {
  if (settings.backup || settings.backupIsOff || settings.databaseUrl) return undefined
  const { rows } = await sql<{ place: string | null }>`select backup_place as place from installation`.execute(db)
  return rows[0]?.place ?? undefined
}

/** Says in the log that the backups have ended because BACKUP_URL was lost, and returns whether it was. Sales go on without it. */
export async function warnOfLostBackup(db: Db, settings: BackupSettings, log: Log): Promise<boolean> {
  const place = await lostPlace(db, settings)
  if (place === undefined) return false
  log.error(
    { place },
    'BACKUP_URL is not set, so there are no backups any more: set it again, or BACKUP_URL=none to do without them',
  )
  return true
}
