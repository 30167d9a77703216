import { sql } from 'kysely'
import type { Db } from '../kit/database.ts'
import { markGap } from '../kit/embedded/gap.ts'
import type { Vault } from '../kit/vault/vault.ts'
import { IDENTITY, type Identity } from './names.ts'

/** The place holds the backup of another service, and is left as it is. */
export class OtherBackup extends Error {}

/** The backup of this service was in the place, and is not there now. */
export class BackupGone extends Error {
  constructor() {
    super(
      'BACKUP_URL: the backup of this service is not there any more. Is its disk mounted? For an empty place: npm run backup -- --new-place',
    )
  }
}

const BACKUP_ID = sql`coalesce(backup_id, storage_id)`

export async function ownInstallation(db: Db): Promise<string> {
  const { rows } = await sql<{ id: string }>`select ${BACKUP_ID} as id from installation`.execute(db)
  return rows[0]!.id
}

/**
 * Writes whose backup it is. Throws OtherBackup for the place of another service. Throws BackupGone when the database knows the backup at
 * this address, and the place is empty: the folder below a disk that is not mounted looks like a new place. `isNew`: the operator knows
 * that it is one. At another place than before, also at a former one, the log has a gap, which is marked in the folder of the log. Returns
 * the id of the installation.
 */
export async function claimPlace(db: Db, vault: Vault, walFolder: string, { isNew = false } = {}): Promise<string> {
  const { rows } = await sql<{ id: string; place: string | null }>`
    select ${BACKUP_ID} as id, backup_place as place from installation`.execute(db)
  const { id: installation, place } = rows[0]!
  const found = await vault.readJson<Identity>(IDENTITY)
  if (found && found.installation !== installation)
    throw new OtherBackup('BACKUP_URL: this place holds the backup of another service')
  if (!found && place === vault.address && !isNew) throw new BackupGone()
  // a place that was emptied has no copy, also when this process is killed before it makes one
  if (!found && isNew) markGap(walFolder)
  if (!found) await vault.putJson(IDENTITY, { installation })
  if (place === vault.address) return installation
  // before the database knows the place: after a kill in between, the next call marks it again
  if (place !== null) markGap(walFolder)
  await sql`update installation set backup_place = ${vault.address}`.execute(db)
  return installation
}

/** The same for a place that was claimed, without the database. Throws OtherBackup and BackupGone. */
export async function mustBeClaimed(vault: Vault, installation: string): Promise<void> {
  const found = await vault.readJson<Identity>(IDENTITY)
  if (!found) throw new BackupGone()
  if (found.installation !== installation)
    throw new OtherBackup('BACKUP_URL: this place holds the backup of another service')
}
