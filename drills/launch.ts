// A launch day: many buyers come at once, some are declined, click twice, or their notification is lost, and the service is killed in
// the middle. All of them must pay exactly once, and have their files and their receipts, and the books must agree with the bank's.
import os from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { SECRET, type Service, startService } from '../bench/service.ts'
import { APP, type World } from '../bench/world.ts'
import { settled } from './books.ts'
import { LIMITS, newTally, say, sell, showProgress } from './crowd.ts'
import { quietPort } from '../test/support/quiet-port.ts'
import { report, resultsOfBooks, resultsOfBuyers } from './results.ts'
import { runDrill } from './run.ts'
import { openShop } from './shop.ts'

const USAGE = `npm run launch-day -- [--buyers=10000] [--seconds=60] [--files-within=90] [--receipts-within=300]
  --buyers           how many come
  --seconds          they come evenly in this time; in its middle the service is killed
  --files-within     each has the file so many seconds after the arrival
  --receipts-within  each receipt is written so many seconds after the payment`

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

await runDrill(drill)

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
  const tally = newTally()
  const progress = showProgress(database, tally)
  const [sold, { service: second, awayMs, firstMs }] = await Promise.all([
    sell(shop, tally, { buyers, seconds }),
    killAndStart(service, env),
  ])
  await settled(database, tally.paid, receiptsWithin * 1000)
  await progress.stop()

  const cpuMs = { service: firstMs + second.cpuMs(), database: world.databaseMs(), buyers: ownMs() }
  const books = await resultsOfBooks(database, env, { buyers, receiptsWithin })
  const results = [
    ...resultsOfBuyers(sold, tally, buyers, filesWithin),
    { name: 'seconds from the last arrival to the last file', value: sold.lastFileMs / 1000 },
    ...books.results,
    { name: 'seconds from kill -9 until the service was ready again', value: awayMs / 1000 },
  ]
  const holds = report(results, sold, books.verdict)
  const each = Object.entries(cpuMs).map(([name, ms]) => `${name} ${(ms / buyers).toFixed(1)}`)
  const load = os.loadavg().map((one) => one.toFixed(2))
  console.log(
    `ms of CPU time for each buyer: ${each.join(', ')}; load ${load.join(' ')} on ${os.availableParallelism()} cores`,
  )
  return holds
}

/** Kills the service in the middle, and starts it again at once, as a supervisor does. */
async function killAndStart(service: Service, env: Record<string, string>) {
  await sleep(seconds * 500)
  const firstMs = service.cpuMs()
  const killedAt = performance.now()
  await service.kill()
  say('kill -9')
  const second = await startService(env)
  const awayMs = performance.now() - killedAt
  say('the service is ready again')
  return { service: second, awayMs, firstMs }
}

/** The CPU time of this process, which is that of the buyers. */
function ownMs(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}
