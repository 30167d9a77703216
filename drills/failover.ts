// The primary of a PostgreSQL cluster is lost while buyers buy: three nodes with Patroni and a synchronous standby, behind HAProxy. No
// order that was acknowledged may be lost, buyers may only see 503 with Retry-After, and Till is not restarted.
// Runs as root on Linux with Debian's postgresql, patroni, etcd-server and haproxy.
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { SECRET, startService } from '../bench/service.ts'
import { type Database, type World, query } from '../bench/world.ts'
import { settled } from './books.ts'
import { LIMITS, isUp, newTally, say, sellDuring, showProgress, until } from './crowd.ts'
import { quietPort } from '../test/support/quiet-port.ts'
import { forPrimary, startHaproxy } from './haproxy.ts'
import { startCluster } from './patroni.ts'
import { report, resultsOfBooks, resultsOfBuyers } from './results.ts'
import { runDrill } from './run.ts'
import { openShop } from './shop.ts'

const { values } = parseArgs({ options: { rate: { type: 'string', default: '10' } } })
const rate = Number(values.rate)
if (!(rate > 0)) throw new Error('npm run failover -- [--rate=10], the buyers that come in a second')
const BEFORE_MS = 10_000
const AFTER_MS = 10_000

await runDrill(drill)

async function drill(world: World): Promise<boolean> {
  const cluster = await startCluster(world.dir)
  process.once('exit', () => cluster.end())
  await cluster.whole(2)
  say('three nodes, one of them a synchronous standby')
  const entry = await quietPort()
  startHaproxy(world.dir, forPrimary(entry, cluster.nodes))
  const url = `postgres://postgres:${encodeURIComponent(cluster.password)}@127.0.0.1:${entry}/postgres`
  const database: Database = {
    name: 'postgres',
    host: '127.0.0.1',
    port: entry,
    user: 'postgres',
    password: cluster.password,
    url,
  }
  await until('the primary answers', async () => (await query(database, 'select 1')).length === 1)

  const port = await quietPort()
  const env = {
    DATA_DIR: world.dir,
    DATABASE_URL: url,
    SECRET,
    PROCESSORS: 'sandbox',
    DEMO: '0',
    TRUST_PROXY: 'loopback',
    LIMITS,
  }
  await startService({ ...env, PORT: String(port) })
  const shop = await openShop(port)
  const tally = newTally()
  const progress = showProgress(database, tally)
  let awayMs = Number.NaN
  const work = (async () => {
    await sleep(BEFORE_MS)
    const lost = (await cluster.primary())!
    const killedAt = performance.now()
    lost.kill()
    say(`kill -9 of the primary, ${lost.name}`)
    await until('/readyz fails', async () => !(await isUp(port)))
    say('/readyz has noticed')
    await until('/readyz is up', () => isUp(port))
    awayMs = performance.now() - killedAt
    say('the service is ready again')
    lost.start()
    await cluster.whole(2)
    say(`${lost.name} is a standby now`)
    await sleep(AFTER_MS)
  })()
  const sold = await sellDuring(work, shop, tally, rate)
  await settled(database, tally.paid, 120_000)
  await progress.stop()
  const buyers = tally.arrived
  const books = await resultsOfBooks(database, env, { buyers })
  const results = [
    ...resultsOfBuyers(sold, tally, buyers),
    { name: 'requests that failed otherwise than by 503 with Retry-After', value: tally.repeated - tally.answeredAway + tally.withoutRetryAfter, most: 0 },
    { name: 'seconds from kill -9 until the service was ready again', value: awayMs / 1000 },
    ...books.results,
  ] // oxfmt-ignore
  return report(results, sold, books.verdict)
}
