import { type ChildProcess, spawn } from 'node:child_process'
import { on } from 'node:events'
import fs from 'node:fs'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { findEmbedded } from '../src/kit/embedded.ts'
import { endChild, runChild, watch } from './children.ts'
import { fillOrders, openShop, products } from './fill.ts'
import { cycle, load, wire } from './load.ts'
import type { Result } from './report.ts'
import { WARM_UP_SECONDS, byTurns, medianOf, medians } from './rounds.ts'
import { SECRET, type Service, startService } from './service.ts'
import type { Database, World } from './world.ts'

const SECONDS = 3
const CONNECTIONS = 32
const REQUESTS = 1000
/** For a million orders. */
const MAX_RESTORE_SECONDS = 180
const KEY = 'a key of the bench that is long enough'

const REQUEST = Array.from({ length: REQUESTS }, (_, n) =>
  wire(
    'POST',
    '/api/checkout',
    JSON.stringify({ productId: products[n % products.length], email: `buyer${n}@example.com` }),
  ),
)

/** The cost of a backup to the checkouts of a service with its own database, and the time of a restore. */
export async function measureBackup({ dir }: World, orders: number, say: (what: string) => void): Promise<Result[]> {
  const [plainDir, savedDir, restoredDir, place] = ['plain', 'saved', 'restored', 'place'].map((name) => {
    const folder = path.join(dir, `backup-${name}`)
    fs.mkdirSync(folder)
    fs.chmodSync(folder, 0o711)
    return folder
  }) as [string, string, string, string]
  const backup = { BACKUP_URL: `file:${place}`, BACKUP_KEY: KEY, SECRET, DATA_DIR: savedDir }
  const env = { PROCESSORS: 'none', DEMO: '0' }
  const plain = await startService({ DATA_DIR: plainDir, ...env })
  const saved = await startService({ ...backup, ...env })
  say(`${orders} orders for each of two services`)
  for (const folder of [plainDir, savedDir]) {
    await openShop(databaseIn(folder))
    await fillOrders(databaseIn(folder), 0, orders)
  }

  // the service makes one by itself after its first start; afterwards all of the fill's log is sent
  while (!(await npmBackup(backup))) await sleep(500)

  const rate = async ({ port }: Service, seconds = SECONDS) =>
    (await load({ port, connections: CONNECTIONS, seconds, next: cycle(REQUEST), status: 201 })).rate
  for (const service of [plain, saved]) await rate(service, WARM_UP_SECONDS)
  const rounds = await byTurns({
    plain: () => rate(plain),
    archiving: () => rate(saved),
    async 'copying too'() {
      const copying = await beginCopy(backup)
      const found = await rate(saved)
      // it takes a minute, and a copy that is cut off counts for nothing
      if (copying.exitCode) throw new Error('the copy that was measured has failed')
      await endChild(copying)
      return found
    },
  })
  await plain.stop()

  say(`a restore of ${orders} orders`)
  await npmBackup(backup)
  await saved.stop()
  const began = performance.now()
  await runChild(process.execPath, [scriptOf('restore')], { ...backup, DATA_DIR: restoredDir })
  const seconds = (performance.now() - began) / 1000
  return [
    {
      name: 'backup: checkouts of a service that archives, of those without',
      value: medianOf(rounds, (round) => round.archiving! / round.plain!),
      least: 0.9,
      parts: medians(rounds),
    },
    {
      name: 'backup: the same while the database is copied',
      value: medianOf(rounds, (round) => round['copying too']! / round.plain!),
      least: 0.9,
    },
    {
      name: `backup: restore of ${orders.toLocaleString('en')} orders, seconds`,
      value: seconds,
      most: MAX_RESTORE_SECONDS,
    },
  ]
}

const scriptOf = (name: string) => fileURLToPath(new URL(`../scripts/${name}.ts`, import.meta.url))

/** A copy as the service makes it each day. Returns when the program has started and copies the database. */
async function beginCopy(env: Record<string, string>): Promise<ChildProcess> {
  const args = [scriptOf('backup'), '--by-service']
  const all = { ...process.env, ...env }
  const child = watch(spawn(process.execPath, args, { env: all, stdio: ['ignore', 'pipe', 'inherit'] }))
  let printed = ''
  for await (const [text] of on(child.stdout.setEncoding('utf8'), 'data', { close: ['end'] })) {
    printed += text
    if (printed.includes('the database')) break
  }
  if (child.exitCode !== null) throw new Error(`there was no copy to measure:\n${printed}`)
  child.stdout.resume()
  return child
}

/** False: another one is under way, and only one is made at a time. */
const npmBackup = (env: Record<string, string>): Promise<boolean> =>
  runChild(process.execPath, [scriptOf('backup')], env).then(
    () => true,
    (error: Error) => {
      if (!error.message.includes('another backup is under way')) throw error
      return false
    },
  )

function databaseIn(folder: string): Database {
  const url = findEmbedded(path.join(folder, 'postgres'))!
  return { name: 'app', host: '', port: 0, user: '', password: '', url }
}
