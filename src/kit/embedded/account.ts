import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import { CannotStart } from '../cannot-start.ts'
import { findPostmaster } from './pid-file.ts'

/** Whose rights PostgreSQL runs with; empty for our own. */
export interface Account {
  uid?: number
  gid?: number
}

const NEW_ACCOUNT = [
  '--system',
  '--user-group',
  '--no-create-home',
  '--home-dir',
  '/nonexistent',
  '--shell',
  '/bin/false',
]

/** Ends at once, so no person works by it. */
const NO_SHELL = /\/(?:nologin|false)$/

/**
 * The account under which root runs PostgreSQL, which refuses to run as root: see `accountsFor`, and otherwise a system account
 * that is made here. Never `nobody`, whose rights other services of the machine share.
 */
export function accountFor(dataDir: string, name: string, log: (line: string) => void): Account {
  const known = accountsFor(name, readAccounts())
  const owner = fs.statSync(dataDir, { throwIfNoEntry: false })
  // A number alone proves nothing: on the machine to which data were moved it may be another service's. But a server that runs
  // on the data, left behind by an older version, keeps its account until it ends.
  const isRunning = owner && owner.uid !== 0 && findPostmaster(dataDir) !== undefined
  if (owner && (isRunning || known.some(({ uid }) => uid === owner.uid))) return { uid: owner.uid, gid: owner.gid }
  return known[0] ?? makeAccount(name, log)
}

/**
 * The accounts of `passwd` that may hold the data, the first choice first: one named `name`, `postgres`, one named `name`-postgres.
 * A person of that name, who would read every buyer's data, is passed over. `postgres` has a shell on some systems, and is no person.
 */
export const accountsFor = (name: string, passwd: string): Account[] =>
  [name, 'postgres', besides(name)].flatMap((one) => accountNamed(one, passwd) ?? [])

const besides = (name: string) => `${name}-postgres`
const isTaken = (name: string, passwd: string) => new RegExp(`^${name}:`, 'm').test(passwd)

function makeAccount(wanted: string, log: (line: string) => void): Account {
  const name = isTaken(wanted, readAccounts()) ? besides(wanted) : wanted
  const { error, stderr } = spawnSync('useradd', [...NEW_ACCOUNT, name], {
    encoding: 'utf8',
    env: { PATH: '/usr/sbin:/sbin:/usr/bin:/bin', LC_ALL: 'C' },
  })
  const made = accountNamed(name, readAccounts()) // perhaps by another start at the same moment
  if (!made) {
    throw new CannotStart(
      `PostgreSQL refuses to run as root, and the system account "${name}" could not be made for it ` +
        `(${error?.message ?? stderr.trim()}): run "useradd ${NEW_ACCOUNT.join(' ')} ${name}", or start as an ordinary user.`,
    )
  }
  log(`made the system account "${name}", under which root runs PostgreSQL`)
  return made
}

const readAccounts = () => fs.readFileSync('/etc/passwd', 'utf8')

function accountNamed(name: string, passwd: string): Account | undefined {
  const [, uid, gid, shell = ''] =
    new RegExp(`^${name}:[^:\\n]*:(\\d+):(\\d+):[^:\\n]*:[^:\\n]*:(.*)$`, 'm').exec(passwd) ?? []
  if (!uid || !gid || Number(uid) === 0) return undefined
  return name === 'postgres' || NO_SHELL.test(shell.trim()) ? { uid: Number(uid), gid: Number(gid) } : undefined
}
