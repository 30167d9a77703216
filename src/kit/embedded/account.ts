import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import { CannotStart } from '../cannot-start.ts'
import { findPostmaster } from './pid-file.ts'

/** The account that PostgreSQL runs under. Empty: our own. */
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

/** The shell of a system account, with which no person can work. */
const NO_SHELL = /\/(?:nologin|false)$/

/**
 * The account under which root runs PostgreSQL, because PostgreSQL refuses to run as root: one of `accountsFor`, or a new system
 * account. Never the account `nobody`, which other services of the machine share.
 */
export function accountFor(dataDir: string, name: string, log: (line: string) => void): Account {
  const known = accountsFor(name, readAccounts())
  const owner = fs.statSync(dataDir, { throwIfNoEntry: false })
  // The owner's number alone proves nothing: after a move to another machine it can belong to another service. But a server that an
  // older version left running on the data keeps its account until it ends.
  const isRunning = owner && owner.uid !== 0 && findPostmaster(dataDir) !== undefined
  if (owner && (isRunning || known.some(({ uid }) => uid === owner.uid))) return { uid: owner.uid, gid: owner.gid }
  return known[0] ?? makeAccount(name, log)
}

/**
 * The accounts of `passwd` that may own the data, in order of preference: `name`, `postgres`, `name`-postgres. It skips the account
 * of a person, who could otherwise read every buyer's data. `postgres` has a shell on some systems but is no person.
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
  const made = accountNamed(name, readAccounts()) // another start can have made it at the same moment
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
