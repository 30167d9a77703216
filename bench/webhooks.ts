import { fork } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { newId } from '../src/kit/ids.ts'
import { textSeal } from '../src/kit/sealed-text.ts'
import { newSecret } from '../src/webhooks/signature.ts'
import { endChild, watch } from './children.ts'
import type { Result } from './report.ts'
import { median } from './rounds.ts'
import { type Till, openSandbox, sell } from './sales.ts'
import { SECRET, startService } from './service.ts'
import { type Database, type World, query } from './world.ts'

const RECEIVER = fileURLToPath(new URL('./webhook-receiver.ts', import.meta.url))
const PLANT = fileURLToPath(new URL('../test/simulation/planted-bug.ts', import.meta.url))
const ROUNDS = 5
const BUYERS = 64
const SECONDS = 4
const ENDPOINTS = 10
/** Writing events costs a sale at most a tenth. */
const LEAST_WITH_EVENTS = 0.9
/** Nine endpoints beside one that hangs, of nine beside one that works. The bench shares the machine. */
const LEAST_BESIDE_HANGING = 0.8
const LOST_AFTER_MS = 600_000

const MOVE = {
  file: 'orders/move.ts',
  from: 'returning ${EVENT_OF_ORDER}, o.discount_id is not null as has_discount),\n      ${writtenEvents(sql`select ${EVENT_COLUMNS} from moved`)}',
}
/** The service as it would be without events. */
const WITHOUT_EVENTS = { ...MOVE, to: 'returning o.id as order_id, o.discount_id is not null as has_discount)' }
/** The service as it is, run in the same way. */
const WITH_EVENTS = { ...MOVE, to: MOVE.from }

/** Measures the cost of events for a sale, and the rate of deliveries while one endpoint of ten hangs. */
export async function measureWebhooks(world: World, database: Database, events: number): Promise<Result[]> {
  return [await costOfEvents(world, database), ...(await deliveries(world, database, events))]
}

/** Whole sales with events, of those without, by turns. No seller has an endpoint. */
async function costOfEvents(world: World, database: Database): Promise<Result> {
  const planted = (change: object) =>
    openSandbox(world, database, { NODE_OPTIONS: `--import=${PLANT}`, PLANTED_BUG: JSON.stringify(change) })
  const tills: Record<'with' | 'without', Till> = {
    with: await planted(WITH_EVENTS),
    without: await planted(WITHOUT_EVENTS),
  }
  const rounds: Record<'with' | 'without', { rate: number; workMs: number }>[] = []
  for (let round = 0; round <= ROUNDS; round++) {
    const of = async (till: Till) => {
      const { rate, serviceMs, databaseMs } = await sell(world, till, BUYERS, { seconds: SECONDS })
      return { rate, workMs: serviceMs + databaseMs }
    }
    const measured = { with: await of(tills.with), without: await of(tills.without) }
    // the first one warms up
    if (round > 0) rounds.push(measured)
  }
  await Promise.all(Object.values(tills).map(({ service }) => service.stop()))
  return {
    name: `webhooks: sales with ${BUYERS} buyers with events, of those without`,
    value: median(rounds.map((one) => one.with.rate / one.without.rate)),
    least: LEAST_WITH_EVENTS,
    parts: {
      'a second': median(rounds.map((one) => one.with.rate)),
      'CPU ms with': median(rounds.map((one) => one.with.workMs)),
      'CPU ms without': median(rounds.map((one) => one.without.workMs)),
    },
  }
}

/** A number of events for ten endpoints that work, for one that works, and for ten of which one hangs. */
async function deliveries(world: World, database: Database, events: number): Promise<Result[]> {
  const receiver = watch(fork(RECEIVER))
  const [port] = (await once(receiver, 'message')) as [number]
  const service = await startService({ DATA_DIR: world.dir, DATABASE_URL: database.url, PROCESSORS: 'none' })
  const rateTo = async (paths: string[], wanted: number) => {
    const before = service.cpuMs()
    const began = performance.now()
    await addEvents(database, paths.map((path) => `http://127.0.0.1:${port}${path}`), events) // oxfmt-ignore
    await delivered(database, wanted)
    const seconds = (performance.now() - began) / 1000
    return { rate: wanted / seconds, serviceMs: (service.cpuMs() - before) / wanted }
  }
  const all = Array.from({ length: ENDPOINTS }, () => '/')
  await rateTo(all, events * ENDPOINTS)
  const [one, ten] = [await rateTo(['/'], events), await rateTo(all, events * ENDPOINTS)]
  const hanging = await rateTo([...all.slice(1), '/hang'], events * (ENDPOINTS - 1))
  await service.stop()
  await endChild(receiver)
  const name = `${events} events`
  return [
    { name: `webhooks: deliveries a second of ${name} to one endpoint`, value: one.rate, parts: { 'service ms': one.serviceMs } }, // oxfmt-ignore
    { name: `webhooks: deliveries a second of ${name} to ten endpoints`, value: ten.rate, parts: { 'service ms': ten.serviceMs } }, // oxfmt-ignore
    {
      name: `webhooks: deliveries a second of ${name} to nine endpoints while a tenth hangs, of those to ten`,
      value: hanging.rate / ten.rate,
      least: LEAST_BESIDE_HANGING,
      parts: { 'a second': hanging.rate },
    },
  ]
}

/** Endpoints of a new seller, and events that are due at once. */
async function addEvents(database: Database, urls: readonly string[], count: number): Promise<void> {
  const seal = textSeal([SECRET], 'webhook secrets')
  const [sellerId, endpoints] = [newId('sel'), urls.map(() => newId('we'))]
  await query(database, `update webhook_endpoints set removed_at = now() where removed_at is null`)
  await query(database, 'delete from webhook_deliveries')
  await query(database, `insert into sellers (id, name, email) values ($1, 'Bench', $1 || '@example.com')`, [sellerId])
  await query(
    database,
    `insert into webhook_endpoints (id, seller_id, url, events, secret)
     select id, $1, url, '{*}', secret from unnest($2::text[], $3::text[], $4::bytea[]) as e(id, url, secret)`,
    [sellerId, endpoints, urls, urls.map(() => seal.seal(newSecret()))],
  )
  const data = { message: 'x'.repeat(600) }
  await query(
    database,
    `with made as (
       insert into events (id, seller_id, type, data) select id, $1, 'endpoint.test', $3 from unnest($2::text[]) as id returning id)
     insert into webhook_deliveries (endpoint_id, event_id) select e.id, made.id from made, unnest($4::text[]) as e(id)`,
    [sellerId, Array.from({ length: count }, () => newId('evt')), JSON.stringify(data), endpoints],
  )
}

async function delivered(database: Database, count: number): Promise<void> {
  const ask = `select count(*)::int as count from webhook_deliveries where state = 'delivered'`
  for (const end = Date.now() + LOST_AFTER_MS; ; await sleep(100)) {
    const [row] = await query<{ count: number }>(database, ask)
    if (row!.count >= count) return
    if (Date.now() > end) throw new Error(`${count - row!.count} deliveries did not arrive`)
  }
}
