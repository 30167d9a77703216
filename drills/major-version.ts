// The next major version of PostgreSQL: a service sells with the version before, the database is upgraded, and the service sells on.
import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { SECRET, startService } from '../bench/service.ts'
import type { Database, World } from '../bench/world.ts'
import { fetchPrograms } from '../scripts/upgrade-database/programs.ts'
import { findEmbedded, startEmbedded } from '../src/kit/embedded.ts'
import { settled, standing } from './books.ts'
import { LIMITS, newTally, say, sell } from './crowd.ts'
import { quietPort } from '../test/support/quiet-port.ts'
import { report, resultsOfBooks, resultsOfBuyers } from './results.ts'
import { runDrill } from './run.ts'
import { openShop } from './shop.ts'

const COMMAND = fileURLToPath(new URL('../scripts/upgrade-database.ts', import.meta.url))
const { values } = parseArgs({
  options: { buyers: { type: 'string', default: '200' }, from: { type: 'string', default: '17' } },
})
const [buyers, from] = [Number(values.buyers), values.from]
if (!(buyers > 0)) throw new Error('npm run major-version -- [--buyers=200] [--from=17]')
await runDrill(drill)

async function drill(world: World): Promise<boolean> {
  const dir = path.join(world.dir, 'postgres')
  const old = await startEmbedded({ dir, name: 'till', programs: await fetchPrograms(from, world.dir) })
  const own = { DATA_DIR: world.dir, SECRET, PROCESSORS: 'sandbox', DEMO: '0', TRUST_PROXY: 'loopback', LIMITS }
  const port = await quietPort()
  const tally = newTally()
  const databaseAt = (url: string): Database => ({ ...old, name: 'app', url })

  const before = await startService({ ...own, DATABASE_URL: old.url, PORT: String(port) })
  const shop = await openShop(port)
  const first = await sell(shop, tally, { buyers, seconds: buyers / 20 })
  await settled(databaseAt(old.url), buyers, 120_000)
  await before.stop()
  await old.stop()
  say(`${buyers} orders with PostgreSQL ${from}`)

  const refused = await startService({ ...own, PORT: String(port) }).then(() => 'it started', (error: Error) => error.message) // oxfmt-ignore
  say(`a start on these data: ${refused}`)
  const began = performance.now()
  const { status } = spawnSync(process.execPath, [COMMAND], { env: { PATH: process.env.PATH, HOME: process.env.HOME, ...own }, stdio: 'inherit' }) // oxfmt-ignore
  say(`the command took ${((performance.now() - began) / 1000).toFixed(1)} s`)

  await startService({ ...own, PORT: String(port) })
  const database = databaseAt(findEmbedded(dir)!)
  const { paid } = await standing(database)
  const second = await sell(shop, tally, { buyers, seconds: buyers / 20, first: buyers })
  await settled(database, 2 * buyers, 120_000)
  const both = {
    ...second,
    bought: [...first.bought, ...second.bought],
    failures: [...first.failures, ...second.failures],
  }
  const books = await resultsOfBooks(database, { ...own, DATABASE_URL: database.url }, { buyers: 2 * buyers })
  const results = [
    { name: 'a start before the upgrade is refused', value: refused.includes('ended with 1') ? 1 : 0, least: 1 },
    { name: 'npm run upgrade-database ends with', value: status ?? -1, most: 0 },
    { name: 'paid orders after it', value: paid, least: buyers },
    {
      name: `folders of PostgreSQL ${from} that are kept`,
      value: fs.existsSync(path.join(dir, `data-${from}`)) ? 1 : 0,
      least: 1,
    },
    ...resultsOfBuyers(both, tally, 2 * buyers),
    ...books.results,
  ]
  return report(results, both, books.verdict)
}
