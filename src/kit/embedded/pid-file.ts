import fs from 'node:fs'
import path from 'node:path'

/** Names the folder on the server's command line, where it can be read also when PostgreSQL was given the folder in another way. */
export const FOLDER_SETTING = 'embedded.folder'

/** PostgreSQL's main process, as it describes itself in its pid file. */
export interface Postmaster {
  pid: number
  port: number
  socketDir: string
  status: string
}

/** The server that runs on this data now, ready or not, as far as this container's processes go. Changes nothing. */
export function findPostmaster(dataDir: string): Postmaster | undefined {
  const described = readPidFile(dataDir)
  return described && isServer(described.pid, dataDir) ? described : undefined
}

/**
 * Removes a pid file whose number another process has now, as after a restart of a container: PostgreSQL would refuse to start.
 * One whose number is free stays: by it PostgreSQL finds what a killed server's children still hold. Only for the process that
 * holds the folder, and knows that no server answers on it.
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
    // A command line may be read even where root has lost the right to look deeper into what others run.
    const words = fs.readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0')
    return words.includes(`${FOLDER_SETTING}=${dataDir}`) || words.includes(dataDir) || worksIn(pid, dataDir)
  } catch {
    return !fs.existsSync('/proc/self') // not Linux: that a process of this number lives must do
  }
}

/** The same folder can be known by another path: it was moved under the server, or is mounted twice. */
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
