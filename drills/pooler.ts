// A pooler in front of the database: Till sells through PgBouncer with pool_mode = session, and refuses pool_mode = transaction in one
// line. Runs as root on Linux with Debian's pgbouncer.
import { spawn } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { endChild, watch } from '../bench/children.ts'
import { SECRET, startService } from '../bench/service.ts'
import { APP, type Database, type World, query } from '../bench/world.ts'
import { settled } from './books.ts'
import { LIMITS, newTally, say, sell, until } from './crowd.ts'
import { quietPort } from '../test/support/quiet-port.ts'
import { debian } from './haproxy.ts'
import { report, resultsOfBooks, resultsOfBuyers } from './results.ts'
import { runDrill } from './run.ts'
import { openShop } from './shop.ts'

const { values } = parseArgs({ options: { buyers: { type: 'string', default: '200' } } })
const buyers = Number(values.buyers)
if (!(buyers > 0)) throw new Error('npm run pooler -- [--buyers=200]')
const RATE = 10

debian('pgbouncer', 'pgbouncer')
await runDrill(drill)

async function drill(world: World): Promise<boolean> {
  await world.start()
  const database = world.database(APP)
  const [entry, port] = [await quietPort(), await quietPort()]
  const url = `postgres://app:any@127.0.0.1:${entry}/app`
  const env = { DATA_DIR: world.dir, SECRET, PROCESSORS: 'sandbox', DEMO: '0', TRUST_PROXY: 'loopback', LIMITS }
  const start = () => startService({ ...env, DATABASE_URL: url, PORT: String(port) })

  const shared = await startPooler(world.dir, database, entry, 'transaction')
  const refused = await start().then(() => 'it started', (error: Error) => error.message) // oxfmt-ignore
  say(`with pool_mode = transaction: ${refused}`)
  await endChild(shared)

  await startPooler(world.dir, database, entry, 'session')
  await start()
  const shop = await openShop(port)
  const tally = newTally()
  const sold = await sell(shop, tally, { buyers, seconds: buyers / RATE })
  await settled(database, tally.paid, 120_000)
  const books = await resultsOfBooks(database, { ...env, DATABASE_URL: database.url }, { buyers })
  const results = [
    {
      name: 'a start with pool_mode = transaction is refused',
      value: refused.includes('ended with 1') ? 1 : 0,
      least: 1,
    },
    ...resultsOfBuyers(sold, tally, buyers),
    ...books.results,
  ]
  return report(results, sold, books.verdict)
}

async function startPooler(folder: string, database: Database, port: number, mode: string) {
  const file = path.join(folder, 'pgbouncer.ini')
  const settings = {
    listen_addr: '127.0.0.1',
    listen_port: port,
    unix_socket_dir: '',
    auth_type: 'any',
    pool_mode: mode,
    default_pool_size: 40,
    // PgBouncer 1.18 knows none of these; docs/scale.md says what to do instead
    ignore_startup_parameters: 'options,statement_timeout,idle_in_transaction_session_timeout',
  }
  const { host, user, password } = database
  const lines = Object.entries(settings).map(([name, value]) => `${name} = ${value}`)
  fs.writeFileSync(file, `[databases]\napp = host=${host} port=${database.port} dbname=app user=${user} password=${password}\n[pgbouncer]\n${lines.join('\n')}\n`, { mode: 0o644 }) // oxfmt-ignore
  const pooler = watch(spawn('pgbouncer', ['-q', '-u', 'postgres', file], { stdio: ['ignore', 'ignore', 'ignore'] }))
  const url = `postgres://app:any@127.0.0.1:${port}/app`
  await until('PgBouncer answers', async () => (await query({ ...database, url }, 'select 1')).length === 1)
  return pooler
}
