// A launch day: many buyers come at once, some are declined, click twice, or their notification is lost, and the service is killed in
// the middle. All of them must be paid for once, have their files and their receipts, and the books must agree with the bank's.
import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import net from 'node:net'
import os from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { type Result, isMet, tableOf } from '../bench/report.ts'
import { SECRET, type Service, startService } from '../bench/service.ts'
import { APP, type Database, type World, newWorld } from '../bench/world.ts'
import { readCharges, readReceipts, reconcile, settled, standing } from './books.ts'
import { type Bought, type Tally, buy } from './buyer.ts'
import { openShop } from './shop.ts'

const USAGE = `npm run launch-day -- [--buyers=10000] [--seconds=60] [--files-within=90] [--receipts-within=300]
  --buyers           how many come
  --seconds          they come evenly in this time; in its middle the service is killed
  --files-within     each has the file so many seconds after the arrival
  --receipts-within  each receipt is written so many seconds after the payment`
const PROGRESS_MS = 5_000
const MOST_FAILURES_SHOWN = 10
/** The sandbox's bank answers only on this machine, so all of its requests come from one address. Every other limit is the default. */
const LIMITS = 'sandbox=1000000/60,request=1000000/60'

const { values } = parseArgs({
  options: {
    buyers: { type: 'string', default: '10000' },
    seconds: { type: 'string', default: '60' },
    'files-within': { type: 'string', default: '90' },
    'receipts-within': { type: 'string', default: '300' },
    help: { type: 'boolean', default: false },
  },
})
if (values.help) {
  console.log(USAGE)
  process.exit()
}
const [buyers, seconds, filesWithin, receiptsWithin] = (
  ['buyers', 'seconds', 'files-within', 'receipts-within'] as const
).map((name) => Number(values[name])) as [number, number, number, number]
if (!(buyers >= 1 && seconds > 0 && filesWithin > 0 && receiptsWithin > 0)) throw new Error(USAGE)

const began = Date.now()
const world = await newWorld()
let ending: Promise<void> | undefined
const end = () => (ending ??= world.end())
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.once(signal, () => void end().finally(() => process.exit(130)))
}
try {
  process.exitCode = (await drill(world)) ? 0 : 1
} catch (error) {
  // processes that the drill ends fail, which is expected
  if (!ending) console.error(error)
  await end()
  // buyers may still wait for a service that does not come back
  process.exit(1)
}
await end()

/** Returns whether everything holds. */
async function drill(world: World): Promise<boolean> {
  await world.start()
  const database = world.database(APP)
  const port = await quietPort()
  const env = {
    DATA_DIR: world.dir,
    DATABASE_URL: database.url,
    SECRET,
    PROCESSORS: 'sandbox',
    DEMO: '0',
    TRUST_PROXY: 'loopback',
    LIMITS,
    PORT: String(port),
  }
  const service = await startService(env)
  const shop = await openShop(port)
  say(`${buyers} buyers come in ${seconds} s`)
  const tally: Tally = { arrived: 0, paid: 0, withFiles: 0, failed: 0, repeated: 0, answeredAway: 0, declined: 0, clickedTwice: 0, notificationsLost: 0 } // oxfmt-ignore
  const progress = showProgress(database, tally)
  const [{ bought, failures, lastFileMs }, { service: second, awayMs, firstMs }] = await Promise.all([
    sell((n) => buy(shop, n, tally), tally),
    killAndStart(service, env),
  ])
  await settled(database, tally.paid, receiptsWithin * 1000)
  await progress.stop()

  const processorMs = { service: firstMs + second.processorMs(), buyers: ownMs() }
  const books = await resultsOfBooks(database, env)
  const results: Result[] = [
    ...resultsOfBuyers(bought, tally),
    { name: 'seconds from the last arrival to the last file', value: lastFileMs / 1000 },
    ...books.results,
    { name: 'seconds from kill -9 until the service was ready again', value: awayMs / 1000 },
  ]
  for (const failure of failures.slice(0, MOST_FAILURES_SHOWN)) console.log(failure)
  console.log(`${tableOf(results)}\n${books.verdict}`)
  const each = Object.entries(processorMs).map(([name, ms]) => `${name} ${(ms / buyers).toFixed(1)}`)
  const load = os.loadavg().map((one) => one.toFixed(2))
  console.log(
    `ms of processor time for each buyer: ${each.join(', ')}; load ${load.join(' ')} on ${os.availableParallelism()} cores`,
  )
  return results.every(isMet)
}

/** Lets the buyers come evenly, and waits for the last. */
async function sell(buyOne: (n: number) => Promise<Bought>, tally: Tally) {
  const bought: Bought[] = []
  const failures: string[] = []
  const first = performance.now()
  let lastArrival = first
  await Promise.all(
    Array.from({ length: buyers }, async (_, n) => {
      await sleep((n / buyers) * seconds * 1000)
      lastArrival = performance.now()
      try {
        bought.push(await buyOne(n))
      } catch (error) {
        tally.failed++
        failures.push(`buyer ${n}: ${(error as Error).message}`)
      }
    }),
  )
  return { bought, failures, lastFileMs: performance.now() - lastArrival }
}

/** Kills the service in the middle, and starts it again at once, as a supervisor does. */
async function killAndStart(service: Service, env: Record<string, string>) {
  await sleep(seconds * 500)
  const firstMs = service.processorMs()
  const killedAt = performance.now()
  await service.kill()
  say('kill -9')
  const second = await startService(env)
  const awayMs = performance.now() - killedAt
  say('the service is ready again')
  return { service: second, awayMs, firstMs }
}

function resultsOfBuyers(bought: readonly Bought[], tally: Tally): Result[] {
  const [links, files] = (['linksMs', 'fileMs'] as const).map((name) =>
    bought.map((one) => one[name] / 1000).sort((a, b) => a - b),
  ) as [number[], number[]]
  const { repeated, answeredAway, declined, clickedTwice, notificationsLost } = tally
  return [
    {
      name: 'buyers who have paid',
      value: tally.paid,
      least: buyers,
      parts: { declined, 'clicked twice': clickedTwice, 'notifications lost': notificationsLost, 'requests repeated': repeated, 'of them after 408 or 503': answeredAway },
    },
    { name: 'buyers who have their file, with the right bytes', value: tally.withFiles, least: buyers },
    { name: 'seconds from the arrival to the file, at the most', value: at(files, 1), most: filesWithin, parts: shares(files) },
    { name: 'seconds from "pay" to the links, at the most', value: at(links, 1), parts: shares(links) },
  ] // oxfmt-ignore
}

async function resultsOfBooks(
  database: Database,
  env: Record<string, string>,
): Promise<{ results: Result[]; verdict: string }> {
  const { orders, paid } = await standing(database)
  const { notOne, waits } = await readReceipts(database)
  const { tooMuch, duplicates } = await readCharges(database)
  const { status, verdict } = await reconcile(env)
  return {
    verdict,
    results: [
      { name: 'orders that are not paid, or are a second one of a buyer', value: Math.abs(orders - buyers) + orders - paid, most: 0 },
      { name: 'orders that were charged more than once', value: tooMuch, most: 0, parts: { 'second payments': duplicates } },
      { name: 'paid orders without exactly one receipt', value: notOne, most: 0 },
      { name: 'seconds from the payment to the receipt, at the most', value: at(waits, 1), most: receiptsWithin, parts: shares(waits) },
      { name: 'npm run reconcile ends with', value: status, most: 0 },
    ], // oxfmt-ignore
  }
}

function at(sorted: readonly number[], share: number): number {
  return sorted[Math.min(Math.floor(sorted.length * share), sorted.length - 1)] ?? Number.NaN
}

function shares(sorted: readonly number[]): Record<string, number> {
  return { p50: at(sorted, 0.5), p95: at(sorted, 0.95), p99: at(sorted, 0.99) }
}

/** The processor time of this process, which is that of the buyers. */
function ownMs(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}

/** Shows how far the buyers are, every few seconds and at the end. The next line waits for a slow count. */
function showProgress(database: Database, tally: Tally): { stop(): Promise<void> } {
  const stopping = new AbortController()
  const show = async () => {
    const { arrived, paid, withFiles, failed, repeated } = tally
    const { receipts } = await standing(database)
    say(`arrived ${arrived}, paid ${paid}, with files ${withFiles}, failed ${failed}, receipts ${receipts}, repeated requests ${repeated}`) // oxfmt-ignore
  }
  const shown = (async () => {
    while (!stopping.signal.aborted) {
      await sleep(PROGRESS_MS, undefined, { signal: stopping.signal }).catch(() => {})
      // a count that fails is shown the next time
      await show().catch(() => {})
    }
  })()
  return {
    stop() {
      stopping.abort()
      return shown
    },
  }
}

function say(what: string): void {
  console.error(`${((Date.now() - began) / 1000).toFixed(0).padStart(4)} s  ${what}`)
}

/**
 * A free port below those that systems give to outgoing connections. While the service is away, a buyer's connection could otherwise
 * be given its port, and then even connects to itself.
 */
async function quietPort(): Promise<number> {
  for (;;) {
    const port = randomInt(20_000, 30_000)
    const probe = net.createServer()
    const isFree = await once(probe.listen(port, '127.0.0.1'), 'listening').then(
      () => true,
      () => false,
    )
    if (!isFree) continue
    probe.close()
    await once(probe, 'close')
    return port
  }
}
