import fs from 'node:fs'
import path from 'node:path'

/** This setting puts the folder on the server's command line, where we can read it however PostgreSQL received the folder. */
export const FOLDER_SETTING = 'embedded.folder'

/** PostgreSQL's main process, as it describes itself in its pid file. */
export interface Postmaster {
  pid: number
  port: number
  socketDir: string
  status: string
}

/** The server that runs on this data now, ready or not. It sees only the processes of this container and changes nothing. */
export function findPostmaster(dataDir: string): Postmaster | undefined {
  const described = readPidFile(dataDir)
  return described && isServer(described.pid, dataDir) ? described : undefined
}

/**
 * Removes a pid file whose number now belongs to another process, as after a restart of a container, because PostgreSQL would refuse
 * to start. It keeps a file whose number is free, because PostgreSQL uses it to find the shared memory that the children of a
 * killed server still hold. Call it only while holding the folder, and when no server answers on it.
 */
export function removeForeignPidFile(dataDir: string): void {
  const { pid } = readPidFile(dataDir) ?? {}
  if (pid && isAlive(pid) && !isServer(pid, dataDir)) fs.rmSync(pidFile(dataDir), { force: true })
}

function readPidFile(dataDir: string): Postmaster | undefined {
  let lines: string[]
  try {
    lines = fs.readFileSync(pidFile(dataDir), 'utf8').split('\n')
  } catch {
    return undefined
  }
  const [pid = '', , , port = '', socketDir = '', , , status = ''] = lines.map((line) => line.trim())
  if (!Number(pid)) return undefined
  return { pid: Number(pid), port: Number(port), socketDir: socketDir && path.resolve(dataDir, socketDir), status }
}

const pidFile = (dataDir: string) => path.join(dataDir, 'postmaster.pid')

/** Whether that process is the server of this data. */
export function isServer(pid: number, dataDir: string): boolean {
  if (!isAlive(pid)) return false
  try {
    // root may read a command line even in a container where it may not inspect other accounts' processes further
    const words = fs.readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0')
    return words.includes(`${FOLDER_SETTING}=${dataDir}`) || words.includes(dataDir) || worksIn(pid, dataDir)
  } catch {
    return !fs.existsSync('/proc/self') // outside Linux, a running process of this number is all we can check
  }
}

/** Compares folders by inode, because the same folder can have another path: it was moved, or is mounted twice. */
function worksIn(pid: number, dataDir: string): boolean {
  try {
    const [its, ours] = [fs.statSync(`/proc/${pid}/cwd`), fs.statSync(dataDir)]
    return its.ino === ours.ino && its.dev === ours.dev
  } catch {
    return false
  }
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
