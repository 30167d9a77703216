// npm run adopt -- secret     the database accepts the secret of the next start
// npm run adopt -- storage    the database accepts the configured storage as its own
// npm run adopt -- payments   the database accepts the payments of the configured processors, real ones or tries
import { randomBytes } from 'node:crypto'
import { sql } from 'kysely'
import { connect } from '../src/kit/database.ts'
import { storageIdOf, writeStorageId } from '../src/kit/installation.ts'
import { adoptMode } from '../src/payments/mode.ts'
import { openStorage } from '../src/kit/storage/open.ts'
import { ownDatabase, settingsOrExit } from './own-database.ts'

const SUBJECTS = ['secret', 'storage', 'payments'] as const
const what = SUBJECTS.find((one) => one === process.argv[2])
if (!what) {
  console.error('npm run adopt -- secret|storage|payments')
  process.exit(2)
}
const config = settingsOrExit(2)
try {
  const { url, stop } = await ownDatabase(config)
  const { db, close } = connect({ connectionString: url }, { connections: 1 })
  try {
    console.log(await adopt(what))
  } finally {
    await close()
    await stop()
  }

  async function adopt(one: (typeof SUBJECTS)[number]): Promise<string> {
    if (one === 'secret') {
      await sql`update installation set secret_fingerprint = null`.execute(db)
      return 'The database accepts the SECRET of the next start. Links, codes and sessions made with another one end.'
    }
    if (one === 'payments') {
      const isLive = (await adoptMode(db, config)) === 'live'
      const of = `(PROCESSORS: ${config.processors.join(', ')})`
      return isLive
        ? `The database accepts real payments ${of} from now on. An instance with the sandbox or keys for tests no longer starts.`
        : `The database accepts tries ${of} from now on. An instance with live keys no longer starts.`
    }
    const storage = await openStorage(config)
    // a storage without an id gets a new one, so the storage that it replaces is refused from now on
    const found = await storageIdOf(storage, { deniedIsMissing: true })
    const id = found ?? (await writeStorageId(storage, randomBytes(16).toString('hex')))
    const { rows } = await sql`
      update installation set storage_id = ${id}, storage_confirmed_at = now(), backup_id = coalesce(backup_id, storage_id)
      returning storage_id`.execute(db)
    if (!rows[0]) throw new Error('this version has never used the database: start the service once')
    return 'This storage belongs to the database from now on. An instance with another storage no longer starts.'
  }
} catch (error) {
  console.error(`It could not be done: ${(error as Error).message}`)
  process.exit(2)
}
