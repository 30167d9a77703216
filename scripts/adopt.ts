// npm run adopt -- secret     the database accepts the secret of the next start
// npm run adopt -- storage    the database accepts the configured storage as its own
import { randomBytes } from 'node:crypto'
import { sql } from 'kysely'
import { connect } from '../src/kit/database.ts'
import { storageIdOf, writeStorageId } from '../src/kit/installation.ts'
import { openStorage } from '../src/kit/storage/open.ts'
import { ownDatabase, settingsOrExit } from './own-database.ts'

const what = process.argv[2]
if (what !== 'secret' && what !== 'storage') {
  console.error('npm run adopt -- secret|storage')
  process.exit(2)
}
const config = settingsOrExit(2)
try {
  const { url, stop } = await ownDatabase(config)
  const { db, close } = connect({ connectionString: url }, { connections: 1, onError: () => {} })
  try {
    console.log(await adopt(what))
  } finally {
    await close()
    await stop()
  }

  async function adopt(one: 'secret' | 'storage'): Promise<string> {
    if (one === 'secret') {
      await sql`update installation set secret_fingerprint = null`.execute(db)
      return 'The database accepts the SECRET of the next start. Links, codes and sessions made with another one end.'
    }
    const storage = await openStorage(config)
    // a storage without an id gets a new one, so the storage that it replaces is refused from now on
    const found = await storageIdOf(storage, { deniedIsMissing: true })
    const id = found ?? (await writeStorageId(storage, randomBytes(16).toString('hex')))
    const { rows } = await sql`
      update installation set storage_id = ${id}, storage_confirmed_at = now() returning storage_id`.execute(db)
    if (!rows[0]) throw new Error('this version has never used the database: start the service once')
    return 'This storage belongs to the database from now on. An instance with another storage no longer starts.'
  }
} catch (error) {
  console.error(`It could not be done: ${(error as Error).message}`)
  process.exit(2)
}
