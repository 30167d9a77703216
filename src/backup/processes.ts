import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'

/** A backup that runs longer is ended: the files of a large shop have their turn each minute too. */
export const LONGEST_MS = 6 * 3_600_000
/** A drill reads all files of a shop. One that hangs must not keep the later ones from beginning. */
const LONGEST_DRILL_MS = 24 * 3_600_000

export interface Processes {
  /** Runs scripts/NAME.ts beside the service. Returns its exit status, and the last line of its errors or else of its output. */
  run(name: 'backup' | 'drill', ...args: string[]): Promise<{ status: number | null; lastLine: string }>
  /** Ends all programs that run. Their runs do not count, and the jobs are done again after the next start. */
  stop(): void
}

/**
 * Long work on a backup runs in processes of its own: the service gets its memory back when they end, and buyers do not wait for the
 * packing of a database. They read the same settings from the environment.
 */
export function ownProcesses(longestMs = LONGEST_MS): Processes {
  const stopping = new AbortController()
  return {
    async run(name, ...args) {
      const script = fileURLToPath(new URL(`../../scripts/${name}.ts`, import.meta.url))
      const child = spawn(process.execPath, [...process.execArgv, script, ...args], {
        stdio: ['ignore', 'pipe', 'pipe'],
        signal: stopping.signal,
        timeout: name === 'backup' ? longestMs : LONGEST_DRILL_MS,
      })
      const [out, problem, [status]] = await Promise.all([
        text(child.stdout),
        text(child.stderr),
        once(child, 'close') as Promise<[number | null]>,
      ])
      const lastLine = (problem.trim() || out.trim()).split('\n').at(-1)!
      return { status, lastLine: status === null ? 'The process was killed.' : lastLine }
    },
    stop: () => stopping.abort(),
  }
} // oxfmt-ignore
