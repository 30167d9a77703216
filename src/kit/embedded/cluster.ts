import { randomBytes } from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'
import { CannotStart } from '../cannot-start.ts'
import { isAlive } from './pid-file.ts'
import { giveTo, insideFolder, type Place, runProgram } from './place.ts'

/** The service's role and database. The role is no superuser: it may change only its own objects. */
export const ROLE = 'app'
export const DATABASE = 'app'
const PASSWORD_FILE = 'app-password'
/** Tells the operator what to do when the database is missing. */
export const WHERE_ELSE =
  'If the database is on a server, set DATABASE_URL, which is perhaps missing from the environment; else put the folder back from its former machine or from a backup'
/** Used only for backups, and to migrate the data to another major version. */
export const SUPERUSER = 'postgres'
export const SUPERUSER_PASSWORD_FILE = 'superuser-password'

/** PostgreSQL's own id of a cluster, the first field of its control file (ControlFileData in pg_control.h). */
export const clusterId = (dataDir: string): string =>
  fs
    .readFileSync(path.join(dataDir, 'global', 'pg_control'))
    .readBigUInt64LE(0)
    .toString()

/** Takes ownership of existing data, or refuses with the account that owns it. */
export function claimData({ home, dataDir, account }: Place): void {
  const { uid: owner, mode } = fs.statSync(dataDir, { throwIfNoEntry: false }) ?? {}
  const user = account.uid ?? process.getuid?.()
  if (owner === undefined || mode === undefined || user === undefined) return
  if (owner === user) {
    // a copy by `cp -r` is open to other accounts, and PostgreSQL refuses it
    if ((mode & 0o027) !== 0) fs.chmodSync(dataDir, 0o700)
    return
  }
  if (account.uid === undefined) {
    throw new CannotStart(
      `${dataDir} belongs to another account (uid ${owner}), probably from an earlier start as root: ` +
        `run "chown -R ${user} ${home}" as root.`,
    )
  }
  // Root has copied or restored the data. The folder itself comes last: if this start is killed before that, the next one repeats it.
  for (const file of [...fs.readdirSync(dataDir, { recursive: true, encoding: 'utf8' }), '.']) {
    giveTo(account, path.join(dataDir, file))
  }
  fs.chmodSync(dataDir, 0o700)
}

/**
 * Refuses a folder whose database is missing. A new empty database would look like a service that has lost everything, and a copy
 * of it would look like a backup.
 */
export function checkPresence({ home, dataDir }: Pick<Place, 'home' | 'dataDir'>, mayMake: boolean): void {
  if (isCluster(dataDir)) return
  const elsewhere = earlierPlace(home)
  if (elsewhere && isCluster(path.join(elsewhere, 'data'))) {
    if (mayMake) return // the start copies it
    throw new CannotStart(`The database of ${home} lies in ${elsewhere}: start the service once, which copies it here.`)
  }
  const found = fs.readdirSync(home)
  const remains = elsewhere ? `it was in ${elsewhere}` : found.includes('postgres.log') && 'there was one here before'
  const damaged = found.includes('data') && fs.readdirSync(dataDir).length > 0 && 'its folder holds something else'
  if (mayMake && !remains && !damaged) return
  throw new CannotStart(
    `There is no database in ${dataDir}${remains || damaged ? ` (${remains || damaged})` : ''}. ` +
      `${WHERE_ELSE}${mayMake ? `, or remove ${home} to begin with an empty one` : ''}.`,
  )
}

/**
 * Makes the cluster unless there is one. It is made in a temporary folder and renamed when it is complete with its passwords. So a
 * start that is killed half-way leaves nothing that the next start could take for a database.
 */
export function makeCluster(place: Place, { durable }: { durable: boolean }): void {
  const { home, dataDir, account } = place
  if (isCluster(dataDir)) return
  removeUnfinished(home)
  const fresh = path.join(home, `new-${process.pid}`)
  const inFresh = path.join(fresh, 'data')
  for (const folder of [fresh, inFresh]) {
    fs.mkdirSync(folder, { mode: 0o700 })
    giveTo(account, folder)
  }
  const superuserPassword = writePassword(place, path.join(fresh, SUPERUSER_PASSWORD_FILE))
  const passwordFile = insideFolder(place, inFresh).reach(superuserPassword)
  const who = [`--username=${SUPERUSER}`, `--pwfile=${passwordFile}`, '--auth=scram-sha-256']
  // PostgreSQL's own locale, so that an update of the system's libraries never changes the sort order of an index
  const locale = ['--encoding=UTF8', '--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8']
  const sync = durable ? [] : ['--no-sync']
  runProgram(place, 'initdb', inFresh, (folder) => ['-D', folder, ...who, ...locale, '--no-instructions', ...sync])
  const password = writePassword(place, path.join(inFresh, PASSWORD_FILE))
  fs.renameSync(superuserPassword, path.join(inFresh, SUPERUSER_PASSWORD_FILE))
  const sql = [
    `create role ${ROLE} login createdb password '${fs.readFileSync(password, 'utf8').trim()}'`,
    `create database ${DATABASE} owner ${ROLE}`,
  ]
  // In single-user mode no client can connect before the role exists. It reads one statement a line. More iterations would slow down
  // the guessing of a weak password; this one is random, and they would take a third of each connection's time.
  const settings = ['-c', 'log_min_messages=fatal', '-c', 'scram_iterations=1', ...(durable ? [] : ['-F'])]
  const alone = (folder: string) => ['--single', '-D', folder, ...settings, SUPERUSER]
  runProgram(place, 'postgres', inFresh, alone, `${sql.join('\n')}\n`)
  try {
    fs.renameSync(inFresh, dataDir)
  } catch (error) {
    if (!isCluster(dataDir)) throw error // otherwise another start was first, and we use its cluster
  }
  fs.rmSync(fresh, { recursive: true })
}

/** Refuses data of another major version, and names the way out. PostgreSQL itself would only end. */
export function checkVersion({ dataDir, version }: Place): void {
  const made = fs.readFileSync(path.join(dataDir, 'PG_VERSION'), 'utf8').trim()
  const ours = version.split('.')[0]!
  if (made === ours) return
  const way =
    Number(made) < Number(ours) ? 'run "npm run upgrade-database"' : 'start the newer release that has made it'
  throw new CannotStart(`${dataDir} was made by PostgreSQL ${made}, and this release runs ${ours}: ${way}.`)
}

/** Where the database of `home` lay under an earlier version, which put that of root's closed folder behind this link. */
export function earlierPlace(home: string): string | undefined {
  const link = path.join(home, 'elsewhere')
  return fs.lstatSync(link, { throwIfNoEntry: false }) && fs.readlinkSync(link)
}

export function readPassword(dataDir: string): string {
  return fs.readFileSync(path.join(dataDir, PASSWORD_FILE), 'utf8').trim()
}

export function readSuperuserPassword(dataDir: string): string {
  return fs.readFileSync(path.join(dataDir, SUPERUSER_PASSWORD_FILE), 'utf8').trim()
}

export const isCluster = (dataDir: string) => fs.existsSync(path.join(dataDir, 'PG_VERSION'))

function writePassword({ account }: Place, file: string): string {
  fs.writeFileSync(file, `${randomBytes(24).toString('base64url')}\n`, { mode: 0o600, flush: true })
  giveTo(account, file)
  return file
}

/** Removes the files that killed starts left behind while they made a cluster. */
function removeUnfinished(home: string): void {
  for (const name of fs.readdirSync(home)) {
    const pid = Number(/^new-(\d+)$/.exec(name)?.[1])
    if (pid && (pid === process.pid || !isAlive(pid)))
      fs.rmSync(path.join(home, name), { recursive: true, force: true })
  }
}
