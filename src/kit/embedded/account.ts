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

/**
 * The account under which root runs PostgreSQL, which refuses to run as root: one named `name`, or `postgres`, and otherwise a
 * system account `name` that is made here. Never `nobody`, whose rights other services of the machine share.
 */
export function accountFor(dataDir: string, name: string, log: (line: string) => void): Account {
  const known = [name, 'postgres'].flatMap((one) => accountNamed(one) ?? [])
  const owner = fs.statSync(dataDir, { throwIfNoEntry: false })
  // A number alone proves nothing: on the machine to which data were moved it may be another service's. But a server that runs
  // on the data, left behind by an older version, keeps its account until it ends.
  const isRunning = owner && owner.uid !== 0 && findPostmaster(dataDir) !== undefined
  if (owner && (isRunning || known.some(({ uid }) => uid === owner.uid))) return { uid: owner.uid, gid: owner.gid }
  return known[0] ?? makeAccount(name, log)
}

function makeAccount(name: string, log: (line: string) => void): Account {
  const { error, stderr } = spawnSync('useradd', [...NEW_ACCOUNT, name], {
    encoding: 'utf8',
    env: { PATH: '/usr/sbin:/sbin:/usr/bin:/bin', LC_ALL: 'C' },
  })
  const made = accountNamed(name) // perhaps by another start at the same moment
  if (!made) {
    throw new CannotStart(
      `PostgreSQL refuses to run as root, and the system account "${name}" could not be made for it ` +
        `(${error?.message ?? stderr.trim()}): run "useradd ${NEW_ACCOUNT.join(' ')} ${name}", or start as an ordinary user.`,
    )
  }
  log(`made the system account "${name}", under which root runs PostgreSQL`)
  return made
}

function accountNamed(name: string): Account | undefined {
  const accounts = fs.readFileSync('/etc/passwd', 'utf8')
  const [, uid, gid] = new RegExp(`^${name}:[^:]*:(\\d+):(\\d+):`, 'm').exec(accounts) ?? []
  return uid && gid && Number(uid) !== 0 ? { uid: Number(uid), gid: Number(gid) } : undefined
}
