import type pg from 'pg'
import { fileURLToPath } from 'node:url'
import { warnOfLostBackup } from '../backup/lost.ts'
import { type DemoProduct, ensureDemo } from '../checkout/demo.ts'
import { type Config, warningsOf } from '../config.ts'
import { CannotStart } from '../kit/cannot-start.ts'
import { type Db, sharesServerProcesses } from '../kit/database.ts'
import { Refusal } from '../kit/errors.ts'
import { openInstallation } from '../kit/installation.ts'
import type { Log } from '../kit/log.ts'
import { migrate } from '../kit/migrate.ts'
import { refuseOtherMode } from '../payments/mode.ts'
import { refuseForgottenPayer } from '../payouts/accounts/forgotten.ts'
import type { Storage } from '../kit/storage/storage.ts'

const SCHEMA = fileURLToPath(new URL('../../schema', import.meta.url))

const SHARED =
  'DATABASE_URL: a pooler gives each transaction another connection, but Till keeps statements and locks on its own: ' +
  'set pool_mode = session in PgBouncer, or name the server itself.'

/**
 * Migrates the database, opens the storage, checks that the payments are of the same kind as before and that PAYOUTS was not forgotten, and
 * makes the demo's products where the settings ask for a demo. The statements of `db` may take longer than those of requests.
 */
export async function prepare(
  db: Db,
  database: pg.PoolConfig,
  config: Config,
  log: Log,
): Promise<{ storage: Storage; demo: DemoProduct[]; isBackupLost: boolean }> {
  for (const warning of warningsOf(config)) log.warn(warning)
  if (config.databaseUrl && (await sharesServerProcesses(database))) throw new CannotStart(SHARED)
  await migrate(db, SCHEMA, log)
  const storage = await openInstallation(db, config, log)
  await refuseOtherMode(db, config)
  await refuseForgottenPayer(db, config.payouts)
  const isBackupLost = await warnOfLostBackup(db, config, log)
  const demo = config.demo ? await makeDemo(db, storage, log) : []
  return { storage, demo, isBackupLost }
}

/** The service starts without the demo where the disk has no room for its files: the sales of a shop matter more. */
async function makeDemo(db: Db, storage: Storage, log: Log): Promise<DemoProduct[]> {
  try {
    return await ensureDemo(db, storage, '/demo-cover.png')
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    log.warn({ problem: error.message }, 'there is no demo')
    return []
  }
}
