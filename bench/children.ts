import { type ChildProcess, spawn } from 'node:child_process'
import fs from 'node:fs'

const children = new Set<ChildProcess>()

/** Remembers a child until it has ended, so that it ends with us. */
export function watch<Child extends ChildProcess>(child: Child): Child {
  children.add(child)
  child.once('close', () => children.delete(child))
  return child
}

/** Asks a child to end, and returns when it has. */
export async function endChild(child: ChildProcess, signal: 'SIGTERM' | 'SIGKILL' = 'SIGTERM'): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = new Promise((resolve) => child.once('close', resolve))
  child.kill(signal)
  await ended
}

export const endChildren = async (): Promise<void> =>
  void (await Promise.all(Array.from(children, (child) => endChild(child))))

/** Runs a program to its end and returns its output. */
export async function runChild(program: string, args: string[], env: Record<string, string>): Promise<string> {
  const child = watch(spawn(program, args, { env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'] }))
  const printed: string[] = []
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text) => printed.push(text))
  const code = await new Promise((resolve, reject) => child.once('error', reject).once('close', resolve))
  if (code !== 0) throw new Error(`${program} failed:\n${printed.join('')}`)
  return printed.join('')
}

/** Linux counts CPU time in these. */
const MS_A_TICK = 10

/** The CPU time of a process and of its children that have ended, in ms. NaN where the system does not tell, or it has ended. */
export function cpuMs(pid: number): number {
  const status = readIfThere(`/proc/${pid}/stat`)
  // the second field is the program's name, which can hold spaces
  const fields = status?.replace(/^.*\) /s, '').split(' ')
  if (!fields) return Number.NaN
  return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0) * MS_A_TICK
}

/** The same for a process with all its children. */
export function cpuMsOfTree(pid: number): number {
  const children = readIfThere(`/proc/${pid}/task/${pid}/children`)?.split(' ').filter(Boolean)
  if (!children) return Number.NaN
  // the time of a child that ends meanwhile is in the parent's
  return children.reduce((sum, child) => sum + (cpuMs(Number(child)) || 0), cpuMs(pid))
}

/** A process can end between two looks at it, and even between opening and reading its file. */
function readIfThere(file: string): string | undefined {
  try {
    return fs.readFileSync(file, 'latin1')
  } catch {
    return undefined
  }
}
