// A new release comes while buyers buy: two instances of the previous release run behind a balancer on one database, and are replaced
// one after the other. Every buyer must pay exactly once, and have the files and one receipt.
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { SECRET, type Service, startService } from '../bench/service.ts'
import { APP, type World } from '../bench/world.ts'
import { type Balancer, startBalancer } from './balancer.ts'
import { settled } from './books.ts'
import { LIMITS, newTally, say, sellDuring, showProgress } from './crowd.ts'
import { quietPort } from '../test/support/quiet-port.ts'
import { previousRelease } from './previous.ts'
import { report, resultsOfBooks, resultsOfBuyers } from './results.ts'
import { runDrill } from './run.ts'
import { openShop } from './shop.ts'

const USAGE = `npm run rolling-upgrade -- [--rate=20] [--from=COMMIT]
  --rate  how many buyers come in a second, from the first replacement until the last
  --from  the release that is replaced: a tag or a commit`
const RECEIPTS_WITHIN_MS = 300_000
/** How long a public service drains by default. */
const DRAIN_SECONDS = 10

const { values } = parseArgs({
  options: { rate: { type: 'string', default: '20' }, from: { type: 'string' }, help: { type: 'boolean', default: false } },
}) // oxfmt-ignore
const rate = Number(values.rate)
if (values.help || !(rate > 0)) {
  console.log(USAGE)
  process.exit(values.help ? 0 : 2)
}
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'till-previous-'))
process.once('exit', () => fs.rmSync(folder, { recursive: true, force: true }))
await runDrill(drill)

async function drill(world: World): Promise<boolean> {
  const previous = previousRelease(folder, values.from)
  say(
    previous
      ? `from ${previous.name}, whose pages are built`
      : 'there is no history here: this version is replaced by itself',
  )
  await world.start()
  const database = world.database(APP)
  const balancer = await startBalancer()
  const env = {
    BASE_URL: `http://127.0.0.1:${balancer.port}`,
    DATA_DIR: world.dir,
    DATABASE_URL: database.url,
    SECRET,
    PROCESSORS: 'sandbox',
    DEMO: '0',
    TRUST_PROXY: 'loopback',
    LIMITS,
    DRAIN_SECONDS: String(DRAIN_SECONDS),
  }
  const start = async (main?: string) => startService({ ...env, PORT: String(await quietPort()) }, main)
  const before = [await start(previous?.main), await start(previous?.main)]
  balancer.use(before.map(({ port }) => port))
  await balancer.ready()
  const shop = await openShop(balancer.port)

  const tally = newTally()
  const progress = showProgress(database, tally)
  const replacing = replaceAll(balancer, before, start)
  const sold = await sellDuring(replacing, shop, tally, rate)
  const lost = balancer.lost()
  await settled(database, tally.paid, RECEIPTS_WITHIN_MS)
  await progress.stop()
  const buyers = tally.arrived
  const books = await resultsOfBooks(database, env, { buyers })
  balancer.stop()
  const results = [
    ...resultsOfBuyers(sold, tally, buyers),
    // A buyer's page and browser repeat for minutes, which hides a lost request from every other row. A busy machine gives buyers other
    // reasons to repeat one, so the balancer counts.
    { name: 'requests that were lost with an instance', value: lost, most: 0 },
    ...books.results,
  ]
  return report(results, sold, books.verdict)
}

/** Starts each new instance before the old one ends, so that there are always two. */
async function replaceAll(balancer: Balancer, before: Service[], start: () => Promise<Service>): Promise<void> {
  const running = [...before]
  for (const old of before) {
    running.push(await start())
    balancer.use(running.map(({ port }) => port))
    await balancer.ready()
    say('both versions answer')
    await old.stop()
    running.splice(running.indexOf(old), 1)
    balancer.use(running.map(({ port }) => port))
    say('an old instance has ended')
  }
}
