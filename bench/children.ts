import { type ChildProcess, spawn } from 'node:child_process'

const children = new Set<ChildProcess>()

/** Remembers a child until it has ended, so that it ends with us. */
export function watch<Child extends ChildProcess>(child: Child): Child {
  children.add(child)
  child.once('close', () => children.delete(child))
  return child
}

/** Asks a child to end, and returns when it has. */
export async function endChild(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = new Promise((resolve) => child.once('close', resolve))
  child.kill('SIGTERM')
  await ended
}

export const endChildren = async (): Promise<void> => void (await Promise.all(Array.from(children, endChild)))

/** Runs a program to its end and returns its output. */
export async function runChild(program: string, args: string[], env: Record<string, string>): Promise<string> {
  const child = watch(spawn(program, args, { env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'] }))
  const printed: string[] = []
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text) => printed.push(text))
  const code = await new Promise((resolve, reject) => child.once('error', reject).once('close', resolve))
  if (code !== 0) throw new Error(`${program} failed:\n${printed.join('')}`)
  return printed.join('')
}
