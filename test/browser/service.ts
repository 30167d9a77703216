import { execFile, spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { findPostmaster } from '../../src/kit/embedded/pid-file.ts'

const ROOT = path.resolve(import.meta.dirname, '../..')
/** The first start makes a database cluster. */
const READY_MS = 300_000
const CLOSE_MS = 20_000
/** Names a data folder that a service has left. The services of the tests begin with copies of it. */
const LEFT_DATA = 'LEFT_DATA_DIR'

export interface Service {
  url: string
  /** The payment page of the demo's product in rupees, which all rails can pay. */
  demoUrl: string
  outboxUrl: string
  /** The folder that also holds its database. */
  dataDir: string
  /** Ends the process. The data stay until `stop`. */
  end: () => Promise<void>
  stop: () => Promise<void>
}

/**
 * The first start of a service makes a database cluster, all tables and the demo, which takes more than twice the CPU time of a
 * later start. So one service starts and ends here, and the others begin with a copy of the data that it left.
 */
export async function makeLeftData(): Promise<() => Promise<void>> {
  const { dataDir, end, stop } = await startService()
  await end()
  // A copy of a database that still runs would be unusable. On a very busy machine it can run on after the service was killed.
  if (!findPostmaster(path.join(dataDir, 'postgres', 'data'))) process.env[LEFT_DATA] = dataDir
  return async () => {
    delete process.env[LEFT_DATA]
    await stop()
  }
}

/** The real service in a process of its own, with its own data folder and a free port. */
export async function startService(env: Record<string, string> = {}): Promise<Service> {
  const dataDir = await newDataDir()
  const child = spawn(process.execPath, ['--import=./scripts/use-built.mjs', 'src/main.ts'], {
    cwd: ROOT,
    // No environment variable of the person who runs the tests may reach the service: an SMTP_URL would send mails.
    env: {
      PATH: process.env.PATH,
      HOME: process.env.HOME,
      TMPDIR: process.env.TMPDIR,
      NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
      PORT: '0',
      HOST: '127.0.0.1',
      DATA_DIR: dataDir,
      LOG_LEVEL: 'warn',
      LIMITS: 'off',
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  let said = ''
  const ready = new Promise<void>((resolve, reject) => {
    const late = setTimeout(
      () => reject(new Error(`the service is not ready after ${READY_MS} ms:\n${said}`)),
      READY_MS,
    )
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        said += text
        if (/the API\s+http\S+\n/.test(said)) resolve(clearTimeout(late))
      })
    }
    void exited.then(() => reject(new Error(`the service ended:\n${said}`)))
  })
  const end = async () => {
    child.kill('SIGTERM')
    const force = setTimeout(() => child.kill('SIGKILL'), CLOSE_MS)
    await exited
    clearTimeout(force)
  }
  const stop = async () => {
    await end()
    await rm(dataDir, { recursive: true, force: true })
  }
  await ready.catch(async (error: unknown) => {
    await stop()
    throw error
  })
  const address = (what: string) => new RegExp(`${what}\\s+(http\\S+)`).exec(said)?.[1] ?? ''
  return {
    url: address('home').replace(/\/$/, ''),
    demoUrl: address('buy the demo'),
    outboxUrl: address('mails sent'),
    dataDir,
    end,
    stop,
  }
}

async function newDataDir(): Promise<string> {
  const dataDir = await mkdtemp(path.join(os.tmpdir(), 'till-pages-'))
  const left = process.env[LEFT_DATA]
  // root's database belongs to an account of its own, and only `cp` copies owners; Windows has neither
  if (left && process.platform !== 'win32') await promisify(execFile)('cp', ['-a', `${left}/.`, dataDir])
  return dataDir
}
