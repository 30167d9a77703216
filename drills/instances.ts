// Several instances: two of them serve buyers behind HAProxy on one database. One is killed, and then both are replaced one by one.
// Runs on Linux with Debian's haproxy.
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { SECRET, startService } from '../bench/service.ts'
import { APP, type World } from '../bench/world.ts'
import { settled } from './books.ts'
import { LIMITS, isUp, newTally, say, sellDuring, showProgress, until } from './crowd.ts'
import { quietPort } from '../test/support/quiet-port.ts'
import { debian, forInstances, startHaproxy } from './haproxy.ts'
import { report, resultsOfBooks, resultsOfBuyers } from './results.ts'
import { runDrill } from './run.ts'
import { openShop } from './shop.ts'

const { values } = parseArgs({ options: { rate: { type: 'string', default: '20' } } })
const rate = Number(values.rate)
if (!(rate > 0)) throw new Error('npm run instances -- [--rate=20], the buyers that come in a second')
/** Buyers meet the service as it is for so long between two steps. */
const BETWEEN_MS = 4_000
const DRAIN_SECONDS = 2

debian('haproxy', 'haproxy')
await runDrill(drill)

async function drill(world: World): Promise<boolean> {
  await world.start()
  const database = world.database(APP)
  const [port, one, other] = [await quietPort(), await quietPort(), await quietPort()]
  const env = {
    DATA_DIR: world.dir,
    DATABASE_URL: database.url,
    BASE_URL: `http://127.0.0.1:${port}`,
    SECRET,
    PROCESSORS: 'sandbox',
    DEMO: '0',
    TRUST_PROXY: 'loopback',
    LIMITS,
    DRAIN_SECONDS: String(DRAIN_SECONDS),
  }
  const start = (at: number) => startService({ ...env, PORT: String(at) })
  const running = new Map([[one, await start(one)], [other, await start(other)]]) // oxfmt-ignore
  startHaproxy(world.dir, forInstances(port, [one, other]))
  await until('HAProxy answers', () => isUp(port))
  const shop = await openShop(port)

  const tally = newTally()
  const progress = showProgress(database, tally)
  const repeated = { kill: 0, replacing: 0 }
  const work = (async () => {
    await sleep(BETWEEN_MS)
    await running.get(one)!.kill()
    say('kill -9 of one instance')
    await sleep(BETWEEN_MS)
    running.set(one, await start(one))
    say('it is ready again')
    await sleep(BETWEEN_MS)
    repeated.kill = tally.repeated
    for (const [at, service] of running) {
      await service.stop()
      running.set(at, await start(at))
      say('an instance was replaced')
      await sleep(BETWEEN_MS)
    }
    repeated.replacing = tally.repeated - repeated.kill
  })()
  const sold = await sellDuring(work, shop, tally, rate)
  await settled(database, tally.paid, 120_000)
  await progress.stop()
  const buyers = tally.arrived
  const books = await resultsOfBooks(database, env, { buyers })
  const results = [
    ...resultsOfBuyers(sold, tally, buyers),
    { name: 'requests that were repeated because of kill -9', value: repeated.kill },
    { name: 'requests that were repeated while instances were replaced', value: repeated.replacing, most: 0 },
    ...books.results,
  ]
  return report(results, sold, books.verdict)
}
