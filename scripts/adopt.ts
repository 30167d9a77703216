// npm run adopt -- secret     the database takes the secret that it is started with from now on
// npm run adopt -- storage    the database takes the files of the storage that is set now for its own
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
      return 'The next start enters its SECRET. Links, codes and sessions given with another one end.'
    }
    const storage = await openStorage(config)
    // a new one where it has none: the storage that it takes the place of is refused from now on
    const found = await storageIdOf(storage, { deniedIsMissing: true })
    const id = found ?? (await writeStorageId(storage, randomBytes(16).toString('hex')))
    const { rows } = await sql`
      update installation set storage_id = ${id}, storage_confirmed_at = now() returning storage_id`.execute(db)
    if (!rows[0]) throw new Error('the database has never been used by this version: start it')
    return 'This storage belongs to the database from now on; an instance with another one no longer starts.'
  }
} catch (error) {
  console.error(`It could not be done: ${(error as Error).message}`)
  process.exit(2)
}
