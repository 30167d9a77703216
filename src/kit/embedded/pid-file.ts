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

/** The server that runs on this data now, ready or not. */
export function findPostmaster(dataDir: string): Postmaster | undefined {
  const file = path.join(dataDir, 'postmaster.pid')
  let lines: string[]
  try {
    lines = fs.readFileSync(file, 'utf8').split('\n')
  } catch {
    return undefined
  }
  const [pid = '', , , port = '', socketDir = '', , , status = ''] = lines.map((line) => line.trim())
  if (!Number(pid) || !isAlive(Number(pid))) return undefined // PostgreSQL itself sees that such a file means nothing
  if (isServer(Number(pid), dataDir)) {
    return { pid: Number(pid), port: Number(port), socketDir: socketDir && path.resolve(dataDir, socketDir), status }
  }
  // Another process has that number now, as after a restart of a container, and PostgreSQL would refuse to start.
  fs.rmSync(file, { force: true })
  return undefined
}

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
