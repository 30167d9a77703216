import assert from 'node:assert/strict'
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import fs from 'node:fs'
import http from 'node:http'
import net from 'node:net'
import os from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { findEmbedded } from '../../src/kit/embedded.ts'
import { findPostmaster } from '../../src/kit/embedded/pid-file.ts'
import { type Ends, SECRET } from './shop.ts'
import { atEnd } from './ends.ts'

// The service as it really runs: a process of its own, which can be killed.

const MAIN = fileURLToPath(new URL('../../src/main.ts', import.meta.url))
const USE_BUILT = `--import=${new URL('../../scripts/use-built.mjs', import.meta.url).href}`
const START_TIMEOUT_MS = 300_000
/** Longer than any limit of the service's own: a call that takes longer hangs. */
const HANGS_AFTER_MS = 120_000

export interface Reply {
  status: number
  headers: http.IncomingHttpHeaders
  body: any
}

export type Service = Awaited<ReturnType<typeof startService>>

/** The environment of any machine, with the compile cache and the built programs, and without our settings. */
export function bareEnvironment(): Record<string, string> {
  const { PATH = '', HOME = '', TMPDIR = '', NODE_COMPILE_CACHE = '' } = process.env
  return {
    PATH,
    HOME,
    ...(TMPDIR && { TMPDIR }),
    ...(NODE_COMPILE_CACHE && { NODE_COMPILE_CACHE }),
    NODE_OPTIONS: USE_BUILT,
  }
}

/** Starts src/main.ts on `dataDir`, and waits until it says that it is ready. Killed with the test. */
export async function startService(t: Ends, dataDir: string, env: Record<string, string> = {}) {
  const child = spawn(process.execPath, [MAIN], {
    env: {
      ...bareEnvironment(),
      DATA_DIR: dataDir,
      PORT: '0',
      SECRET,
      LIMITS: 'off',
      LOG_LEVEL: 'warn',
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  atEnd(t, () => kill(child))
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += String(chunk)))
  const [url, productId] = await new Promise<[string, string]>((resolve, reject) => {
    const fail = (why: string) => {
      clearTimeout(timer)
      reject(new Error(`the service ${why}:\n${output}`))
    }
    const timer = setTimeout(fail, START_TIMEOUT_MS, 'did not start in time')
    child.once('exit', (code, signal) => fail(`ended with ${code ?? signal}`))
    child.stdout.on('data', () => {
      const product = /(http:\/\/\S+)\/pay\/\?product=(prod_\w+)/.exec(output)
      if (!product || !output.includes('/api/docs')) return
      clearTimeout(timer)
      resolve([product[1]!, product[2]!])
    })
  })

  const call = (method: string, address: string, body?: unknown, options?: RequestOptions) =>
    request(method, url + address, body, options)
  return {
    url,
    /** The demo product, in rupees. */
    productId,
    child,
    call,
    output: () => output,
    kill: () => kill(child),

    checkout: (idempotencyKey?: string, options: RequestOptions = {}) =>
      call(
        'POST',
        '/api/checkout',
        { productId, email: 'bob@example.com' },
        {
          ...options,
          headers: { ...(idempotencyKey && { 'idempotency-key': idempotencyKey }) },
        },
      ),
    confirm: (clientSecret: string, scenario = 'success') =>
      call('POST', '/api/sandbox/confirm', { clientSecret, rail: 'card', scenario }),
    status: (orderId: string, sync = false) =>
      call('GET', `/api/checkout/${orderId}/status?email=bob@example.com${sync ? '&sync=1' : ''}`),
    /** The subjects of the mails about an order. */
    async mails(orderId: string): Promise<string[]> {
      const { body } = await call('GET', '/api/outbox?to=bob@example.com')
      return body
        .filter(({ text }: { text: string }) => text.includes(orderId))
        .map(({ subject }: { subject: string }) => subject)
    },
  }
}

interface RequestOptions {
  headers?: Record<string, string>
  agent?: http.Agent
  /** Called when all of it is with the machine, on its way. */
  onSent?: () => void
}

/** One request over a connection of its own, unless an agent keeps some. Rejects when the connection fails. */
export function request(
  method: string,
  url: string,
  body?: unknown,
  { headers = {}, agent, onSent = () => {} }: RequestOptions = {},
): Promise<Reply> {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  return new Promise((resolve, reject) => {
    const sent = http.request(
      url,
      {
        method,
        agent: agent ?? false,
        headers: { ...(text !== undefined && { 'content-type': 'application/json' }), ...headers },
        signal: AbortSignal.timeout(HANGS_AFTER_MS),
      },
      (response) => {
        let answer = ''
        response.setEncoding('utf8').on('data', (chunk) => (answer += chunk))
        response.once('error', reject)
        response.once('end', () => {
          const isJson = /json/.test(response.headers['content-type'] ?? '')
          resolve({
            status: response.statusCode!,
            headers: response.headers,
            body: isJson ? JSON.parse(answer) : answer,
          })
        })
      },
    )
    sent.once('error', reject)
    sent.once('finish', onSent)
    sent.end(text)
  })
}

/** kill -9, and gone. */
async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  child.kill('SIGKILL')
  await once(child, 'exit')
}

/** A folder for a service and its embedded PostgreSQL. */
export function serviceFolder(t: Ends): string {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'till-service-'))
  atEnd(t, () => fs.rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 }))
  return folder
}

/** The folder of a service's embedded PostgreSQL, and its process. */
export function embeddedOf(dataDir: string): { pid: number; url: string } {
  const dir = path.join(dataDir, 'postgres')
  const [postmaster, url] = [findPostmaster(path.join(dir, 'data')), findEmbedded(dir)]
  assert(postmaster && url, 'its PostgreSQL does not run')
  return { pid: postmaster.pid, url }
}

/** Kills the embedded PostgreSQL of that folder, if it runs just now. */
export function killEmbedded(dataDir: string): void {
  const postmaster = findPostmaster(path.join(dataDir, 'postgres', 'data'))
  if (postmaster) process.kill(postmaster.pid, 'SIGKILL')
}

/** A process and all its children. */
export function familyOf(pid: number): number[] {
  const parents = fs.existsSync('/proc/self/stat') ? parentsInProc() : parentsByPs()
  return [pid, ...parents.filter(([, parent]) => parent === pid).map(([child]) => child)]
}

/** Every process with its parent, as Linux says it: a minimal one has no ps. */
function parentsInProc(): [number, number][] {
  const pids = fs.readdirSync('/proc').filter((name) => /^\d+$/.test(name))
  return pids.flatMap((name): [number, number][] => {
    try {
      const stat = fs.readFileSync(`/proc/${name}/stat`, 'utf8')
      return [[Number(name), Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1])]]
    } catch {
      return [] // it has ended meanwhile
    }
  })
}

function parentsByPs(): [number, number][] {
  const { stdout } = spawnSync('ps', ['-A', '-o', 'pid=,ppid='], { encoding: 'utf8' })
  return stdout.split('\n').map((line) => line.trim().split(/\s+/).map(Number) as [number, number])
}

/** A commit, as a client sends it (https://www.postgresql.org/docs/current/protocol-message-formats.html). */
const COMMIT = Buffer.from('Q\0\0\0\x0bcommit\0')

/** A proxy before a database. Its connections can be cut and mended, stall, or begin slowly. */
export async function startDatabaseProxy(t: Ends, databaseUrl: string) {
  const socketFolder = /@([^/:]*%2F[^/:]*)/i.exec(databaseUrl)?.[1]
  const url = new URL(socketFolder ? databaseUrl.replace(socketFolder, 'socket.invalid') : databaseUrl)
  const port = Number(url.port || 5432)
  const target = socketFolder
    ? { path: `${decodeURIComponent(socketFolder)}/.s.PGSQL.${port}` }
    : { host: url.hostname.replace(/^\[|\]$/g, ''), port }
  const ends = new Set<net.Socket>()
  let stalled = false
  let beginMs = 0
  let stop: { commits: number; isDone: boolean; server?: net.Socket; reached: () => void } | undefined
  /** Whether these bytes go on. */
  const passes = (bytes: Buffer, from: net.Socket, far: net.Socket): boolean => {
    if (!stop) return true
    if (stop.server) {
      if (from === stop.server) stop.reached()
      return from !== stop.server
    }
    if (from === far || !bytes.equals(COMMIT) || --stop.commits > 0) return true
    stop.server = far
    if (!stop.isDone) stop.reached()
    return stop.isDone
  }
  const server = net.createServer((near) => {
    const far = net.connect(target as net.NetConnectOpts)
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      ends.add(from)
      from.on('data', (bytes) => passes(bytes, from, far) && to.write(bytes))
      if (stalled || beginMs > 0) from.pause()
      if (beginMs > 0) setTimeout(() => from.resume(), beginMs).unref()
      from.on('error', () => {})
      from.once('close', () => {
        ends.delete(from)
        to.destroy()
      })
    }
  })
  const listen = (at: number) => once(server.listen(at, '127.0.0.1'), 'listening')
  await listen(0)
  const at = (server.address() as net.AddressInfo).port
  const cut = async () => {
    const closed = new Promise((resolve) => server.close(resolve))
    for (const end of ends) end.destroy()
    await closed
  }
  atEnd(t, () => (server.listening ? cut() : undefined))
  url.host = `127.0.0.1:${at}`
  return {
    url: url.href,
    cut,
    mend: () => listen(at),
    /**
     * Stops the nth commit from now on, and resolves then. The server does not get what a client has sent. With `isDone` the server has
     * committed, and the client does not get the answer.
     */
    stopCommit: (nth: number, isDone: boolean) =>
      new Promise<void>((resolve) => {
        stop = { commits: nth, isDone, reached: resolve }
      }),
    /** From now on nothing passes through a new connection for this long. */
    beginAfter: (ms: number) => void (beginMs = ms),
    /** Nothing is stopped any more. */
    pass: () => void (stop = undefined),
    /** From now on nothing passes, and neither side learns it. */
    stall() {
      stalled = true
      for (const end of ends) end.pause()
    },
    flow() {
      stalled = false
      for (const end of ends) end.resume()
    },
  }
}
