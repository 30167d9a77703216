import { type ChildProcess, fork, spawn } from 'node:child_process'
import { once } from 'node:events'
import fs from 'node:fs'
import net, { type AddressInfo } from 'node:net'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { cpuMs, endChild, runChild, watch } from './children.ts'
import { median } from './rounds.ts'

const MAIN = fileURLToPath(new URL('../src/main.ts', import.meta.url))
const FAKE = fileURLToPath(new URL('./fake-processor.ts', import.meta.url))
const MAIL_SERVER = fileURLToPath(new URL('./mail-server.ts', import.meta.url))
const BARE = fileURLToPath(new URL('./bare.ts', import.meta.url))
/** As in the systemd unit and the image. */
const MEMORY = { MALLOC_MMAP_THRESHOLD_: '131072', MALLOC_TRIM_THRESHOLD_: '131072' }
/** A drill starts services on a machine that is busy with buyers and with other tests. */
const START_TIMEOUT_MS = 300_000
const POLL_MS = 5
const SAMPLE_MS = 20
export const SECRET = 'a secret of the bench that is long enough'
export const WEBHOOK_SECRET = 'whsec_bench'

export interface Service {
  port: number
  /** From the start of the process until it is ready for requests. */
  startMs: number
  residentMb(): Promise<number>
  /** The CPU time that it has taken, in ms. */
  cpuMs(): number
  /** The most that it has while `work` runs. */
  peakMb(work: () => Promise<unknown>): Promise<number>
  stop(): Promise<void>
  /** kill -9: it ends between two of its lines. */
  kill(): Promise<void>
}

export interface FakeProcessor {
  port: number
  /** From now on it notifies the service at this port. */
  notify(port: number): void
  stop(): Promise<void>
}

export interface MailDelays {
  /** For each mail. */
  mailMs: number
  /** Before it, for each of the slow mailboxes. */
  slowMs: number
  slow: readonly string[]
}

export interface MailServer {
  port: number
  stop(): Promise<void>
}

export interface Bare {
  port: number
  /** The time of a password hash by itself: the median of several. */
  hashMs(count: number): Promise<number>
  stop(): Promise<void>
}

/** Starts the service as an operator does: a process of its own, with the log it has by default. `PORT` can name the port. */
export async function startService(env: Record<string, string>, main = MAIN): Promise<Service> {
  const port = Number(env.PORT ?? (await freePort()))
  const began = performance.now()
  const child = watch(
    // a change can be planted in the sources alone
    spawn(process.execPath, [...(env.PLANTED_BUG ? [] : useBuilt(main)), main], {
      // named as by npm, so that it ends with us however we die
      env: {
        PATH: process.env.PATH,
        PORT: String(port),
        SECRET,
        LIMITS: 'off',
        npm_lifecycle_event: 'bench',
        ...MEMORY,
        ...env,
      },
      stdio: ['ignore', 'ignore', 'inherit'],
    }),
  )
  await ready(child, port)
  const startMs = performance.now() - began
  return {
    port,
    startMs,
    residentMb: () => residentMb(child.pid!),
    cpuMs: () => cpuMs(child.pid!),
    peakMb: (work) => peakMb(child.pid!, work),
    stop: () => endChild(child),
    kill: () => endChild(child, 'SIGKILL'),
  }
}

/** The option that runs the programs that the set-up has built, in place of the sources. An earlier release has none. */
function useBuilt(main: string): string[] {
  const file = path.resolve(path.dirname(main), '../scripts/use-built.mjs')
  return fs.existsSync(file) ? [`--import=${pathToFileURL(file).href}`] : []
}

/** The least a route can do: bare.ts, in a process of its own. */
export async function startBare(databaseUrl: string): Promise<Bare> {
  const child = watch(fork(BARE, { env: { ...process.env, DATABASE_URL: databaseUrl } }))
  const [port] = (await once(child, 'message')) as [number]
  return {
    port,
    async hashMs(count) {
      const response = await fetch(`http://127.0.0.1:${port}/hashes/${count}`)
      return median((await response.json()) as number[])
    },
    stop: () => endChild(child),
  }
}

/** A processor that answers in 5 ms: fake-processor.ts, in a process of its own. */
export async function startFakeProcessor(): Promise<FakeProcessor> {
  const child = watch(fork(FAKE, [WEBHOOK_SECRET]))
  const [port] = (await once(child, 'message')) as [number]
  return { port, notify: (servicePort) => void child.send(servicePort), stop: () => endChild(child) }
}

/** A mail server that takes its time: mail-server.ts, in a process of its own. */
export async function startMailServer(
  delays: MailDelays,
  onMail: (mail: { to: string; ms: number }) => void,
): Promise<MailServer> {
  const child = watch(fork(MAIL_SERVER, [JSON.stringify(delays)]))
  const [port] = (await once(child, 'message')) as [number]
  child.on('message', (mail) => onMail(mail as { to: string; ms: number }))
  return { port, stop: () => endChild(child) }
}

async function ready(child: ChildProcess, port: number): Promise<void> {
  for (const end = Date.now() + START_TIMEOUT_MS; Date.now() < end; await sleep(POLL_MS)) {
    if (child.exitCode !== null) throw new Error(`the service has ended with ${child.exitCode}`)
    const answer = await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => undefined)
    await answer?.arrayBuffer()
    if (answer?.status === 200) return
  }
  throw new Error('the service did not start')
}

async function residentMb(pid: number): Promise<number> {
  const status = path.join('/proc', String(pid), 'status')
  const kilobytes = fs.existsSync(status)
    ? /^VmRSS:\s+(\d+)/m.exec(fs.readFileSync(status, 'utf8'))?.[1]
    : await runChild('ps', ['-o', 'rss=', '-p', String(pid)], {})
  return Number(kilobytes) / 1024
}

async function peakMb(pid: number, work: () => Promise<unknown>): Promise<number> {
  let peak = 0
  const sampling = setInterval(
    () =>
      void residentMb(pid).then(
        (now) => (peak = Math.max(peak, now)),
        // the process has ended: the work says so itself
        () => {},
      ),
    SAMPLE_MS,
  )
  try {
    await work()
  } finally {
    clearInterval(sampling)
  }
  return peak
}

async function freePort(): Promise<number> {
  const probe = net.createServer().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const { port } = probe.address() as AddressInfo
  await new Promise((resolve) => probe.close(resolve))
  return port
}
