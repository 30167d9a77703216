import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { type EmbeddedPostgres, startEmbedded } from '../../src/kit/embedded.ts'
import { isAlive } from '../../src/kit/embedded/pid-file.ts'

/** Test files run beside each other, each with services that have pools of their own. */
const CONNECTIONS = 300
const PREFIX = `till-cluster-${pidNamespace()}`

let postgres: EmbeddedPostgres | undefined
let folder = ''

/**
 * One server for the whole run, in TEST_DATABASE_URL, which every test file inherits; or the one that is named there.
 * `node --test --test-global-setup=test/support/global.ts` takes it too.
 */
export async function globalSetup(): Promise<void> {
  if (process.env.TEST_DATABASE_URL) return
  removeLeftovers()
  folder = fs.mkdtempSync(path.join(os.tmpdir(), `${PREFIX}${process.pid}-`))
  postgres = await startEmbedded({ dir: folder, name: 'till', fast: true, maxConnections: CONNECTIONS })
  process.env.TEST_DATABASE_URL = postgres.url
}

export async function globalTeardown(): Promise<void> {
  await postgres?.stop()
  if (folder) fs.rmSync(folder, { recursive: true, force: true })
}

/**
 * The server of a run that was killed ends by itself, but some 60 MB in the temporary folder stay. Containers can share that folder
 * and do not see each other's processes, so a run removes only folders that its own namespace of processes has left.
 */
function removeLeftovers(): void {
  for (const name of fs.readdirSync(os.tmpdir())) {
    const pid = Number(new RegExp(`^${PREFIX}(\\d+)-`).exec(name)?.[1])
    if (pid && !isAlive(pid)) fs.rmSync(path.join(os.tmpdir(), name), { recursive: true, force: true })
  }
}

/** `ns`, the number of this namespace of processes and a hyphen; empty where the system has none. */
function pidNamespace(): string {
  try {
    return `ns${/\d+/.exec(fs.readlinkSync('/proc/self/ns/pid'))?.[0] ?? ''}-`
  } catch {
    return ''
  }
}
