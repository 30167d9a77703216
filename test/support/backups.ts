import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import fs from 'node:fs'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { findRunning } from '../../src/kit/embedded.ts'
import { bareEnvironment, type Service } from './service.ts'
import { eventually } from './shop.ts'

export const BACKUP_KEY = 'a key of the backups that is long enough'

export interface Ran {
  status: number | null
  out: string
  err: string
}

/** Runs one of our commands to its end. */
export async function runScript(name: string, env: Record<string, string>, args: string[] = []): Promise<Ran> {
  const file = fileURLToPath(new URL(`../../scripts/${name}.ts`, import.meta.url))
  const child = spawn(process.execPath, [file, ...args], {
    env: { ...bareEnvironment(), LOG_LEVEL: 'warn', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const texts = { out: '', err: '' }
  child.stdout.on('data', (chunk) => (texts.out += String(chunk)))
  child.stderr.on('data', (chunk) => (texts.err += String(chunk)))
  const [status] = await once(child, 'close')
  return { status, ...texts }
}

/** A service makes its first backup by itself, and only one is made at a time. A machine that stood still ends a connection that was being made. */
export const CAN_TRY_AGAIN = /another backup is under way|connection timeout/

/** Makes a backup, when the one that is under way has ended. */
export async function backUp(env: Record<string, string>): Promise<string> {
  for (;;) {
    const { status, out, err } = await runScript('backup', env)
    if (status === 0) return out
    assert.match(err, CAN_TRY_AGAIN, out + err)
  }
}

/** A paid order with the path of its download link. */
export async function buy(service: Service): Promise<{ orderId: string; link: string }> {
  const { body } = await service.checkout()
  assert.equal((await service.confirm(body.clientSecret)).status, 200)
  // on a busy machine one sync can take longer than a status request waits for it
  const { body: status } = await eventually(
    () => service.status(body.orderId, true),
    (answer) => answer.body.paid,
  )
  const { pathname, search } = new URL(status.downloads[0].url)
  return { orderId: body.orderId, link: pathname + search }
}

/** Waits until everything until now is in the backup. A service that ends waits for its last part only for some seconds. */
export async function sendAll(dataDir: string, place: string): Promise<void> {
  const client = new pg.Client({ connectionString: findRunning(path.join(dataDir, 'postgres'))!.superuserUrl })
  await client.connect()
  // without a change in it a segment is not switched
  await client.query(`select pg_logical_emit_message(false, 'test', 'something')`)
  const { rows } = await client.query('select pg_walfile_name(pg_switch_wal()) as name')
  await client.end()
  const sent = () => fs.readdirSync(path.join(place, 'wal'), { recursive: true, encoding: 'utf8' })
  while (!sent().some((name) => path.basename(name) === rows[0].name)) await sleep(50)
}

export async function end(service: Service): Promise<void> {
  const ended = once(service.child, 'exit')
  service.child.kill('SIGTERM')
  await ended
}
