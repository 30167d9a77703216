import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import fs from 'node:fs'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { settingsOrExit } from '../own-database.ts'
import { Failure, show } from './command.ts'

const LOOK_MS = 200
/** Enough for the 20 seconds that a close can take after DRAIN_SECONDS. */
const CLOSE_WITHIN_S = 30
/** The service can have a longer DRAIN_SECONDS than this command sees. */
const STOP_WITHIN_S = 90
const LOG = path.join('.upgrade', 'start.log')

export interface Runner {
  isRunning(): Promise<boolean>
  /** Refuses when the service runs and no command that stops it was given. */
  refuseRunning(): Promise<void>
  stop(): Promise<void>
  /** Starts the release that is here. Returns why it is not ready in time, or undefined when it is. */
  start(readyWithinMs: number): Promise<string | undefined>
  /** The last step: returns the advice for the operator. */
  leave(): Promise<string>
}

interface How {
  service?: string | undefined
  stop?: string | undefined
  start?: string | undefined
  url?: string | undefined
}

/** Stops and starts the service the way the operator named, or else runs it as a child while it is tried. */
export async function openRunner({ service, stop, start, url: given }: How): Promise<Runner> {
  const settings = settingsOrExit(2)
  const url = given ?? ownUrl(settings)
  const stopWithinMs = Math.max(STOP_WITHIN_S, settings.drainSeconds + CLOSE_WITHIN_S) * 1000
  const answers = (at: string) => fetch(new URL(at, url)).then(({ status }) => status, () => undefined) // oxfmt-ignore
  const commands = service
    ? { stop: `systemctl stop '${service}'`, start: `systemctl start '${service}'` }
    : stop && start
      ? { stop, start }
      : undefined
  const run = (command: string) => {
    if (!show(command, [], { shell: true })) throw new Failure(`"${command}" failed, see above.`)
  }
  let child: ChildProcess | undefined
  const endChild = async () => {
    if (!child || child.exitCode !== null || child.signalCode !== null) return
    const ended = once(child, 'exit')
    child.kill('SIGTERM')
    await ended
  }
  const untilReady = async (readyWithinMs: number): Promise<string | undefined> => {
    for (const end = performance.now() + readyWithinMs; performance.now() < end; await sleep(LOOK_MS)) {
      if ((await answers('/readyz')) === 200) return undefined
      if (child && child.exitCode !== null) return `It has ended with status ${child.exitCode}: ${lastWords()}`
    }
    return `/readyz at ${url} was not up in ${readyWithinMs / 1000} s${child ? `: ${lastWords()}` : '.'}`
  }
  const isRunning = async () => (await answers('/healthz')) !== undefined
  return {
    isRunning,
    async refuseRunning() {
      if (commands || !(await isRunning())) return
      throw new Failure(
        `The service is running at ${url}: stop it first, or say what runs it (--service, or --stop and --start).`,
      )
    },
    async stop() {
      if (commands) run(commands.stop)
      else await endChild()
      for (const end = performance.now() + stopWithinMs; await isRunning(); await sleep(LOOK_MS))
        if (performance.now() > end) throw new Failure(`The service still answers at ${url} after it was stopped.`)
    },
    async start(readyWithinMs) {
      if (commands) {
        if (!show(commands.start, [], { shell: true })) return `"${commands.start}" failed, see above.`
      } else child = startChild()
      return untilReady(readyWithinMs)
    },
    async leave() {
      await endChild()
      return commands ? '' : 'It was started for a moment, and is stopped again: start it as before.'
    },
  }
}

function ownUrl({ port, host }: ReturnType<typeof settingsOrExit>): string {
  const own = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host
  return `http://${own.includes(':') ? `[${own}]` : own}:${port}`
}

function startChild(): ChildProcess {
  const log = fs.openSync(LOG, 'w', 0o600)
  const own = path.resolve('node_modules', '.bin', 'node')
  const node = fs.existsSync(own) ? own : process.execPath
  const child = spawn(node, ['--import=./scripts/use-built.mjs', path.join('src', 'main.ts')], {
    stdio: ['ignore', log, log],
  })
  fs.closeSync(log)
  child.on('error', () => {})
  return child
}

const lastWords = (): string => fs.readFileSync(LOG, 'utf8').trim().split('\n').at(-1)?.slice(0, 300) || `see ${LOG}`
