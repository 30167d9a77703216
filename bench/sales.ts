import { setTimeout as sleep } from 'node:timers/promises'
import { type Client, openClient } from './client.ts'
import { wire } from './load.ts'
import { MAKE_ORDER, orderId } from './sql.ts'
import { productId, products } from './fill.ts'
import type { Result } from './report.ts'
import { median } from './rounds.ts'
import { type FakeProcessor, type Service, startFakeProcessor, startService } from './service.ts'
import { statementsPerSecond } from './statements.ts'
import { APP, type Database, type World, query } from './world.ts'
import { fakeSettings } from './processor.ts'

const BUYERS = [1, 16, 64, 256]
const COUNTED_BUYERS = 64
const ROUNDS = 3
const SECONDS = 5
const WARM_UP_SECONDS = 4
const PACE_A_SECOND = 200
const PACE_SECONDS = 10
const MAX_P99_MS = 300
/** The service returns memory once it is calm. */
export const CALM_SECONDS = 10
export const CALM_MB = 200
const LEAST_OF_INSERTS = 0.1
/** A sale that is not complete after this time is lost. */
const LOST_AFTER_MS = 60_000

/** A service with its processor, to which a buyer pays. The processor then notifies the service. */
export interface Till {
  name: string
  service: Service
  database: Database
  /** Where the processor is another server. */
  bankPort?: number
  /** The request by which a buyer pays. */
  payment(clientSecret: string): Buffer
}

/** A buyer's connections. */
interface Buyer {
  service: Client
  bank: Client
}

/** The time and the work of a number of whole sales. */
interface Sold {
  count: number
  /** Status requests for each sale. */
  looks: number
  /** Sales a second, from the first order to the last receipt. */
  rate: number
  /** From "pay" to the links, in ms, sorted. */
  waits: number[]
  /** CPU milliseconds for each sale. */
  serviceMs: number
  databaseMs: number
  commits: number
  walBytes: number
}

/** Whole sales: order, payment, notification, settle, receipt, and the status with the links. */
export async function measureSales(world: World, database: Database): Promise<Result[]> {
  const inserts: number[] = []
  const countInserts = async () => {
    const first = 2e13 + inserts.length * 1e9
    inserts.push(await statementsPerSecond(world, database, { statements: [INSERT], first, seconds: SECONDS }))
  }
  await countInserts()
  const sandbox = await openSandbox(world, database)
  const results = await measureTill(world, sandbox, countInserts, inserts)
  await sleep(CALM_SECONDS * 1000)
  results.push({
    name: 'sales, sandbox: MB resident when calm after that load',
    value: await sandbox.service.residentMb(),
    most: CALM_MB,
  })
  await sandbox.service.stop()

  const fake = await startFakeProcessor()
  const stripe = await openStripe(world, database, fake)
  results.push(...(await measureTill(world, stripe, countInserts, inserts)))
  await stripe.service.stop()
  await fake.stop()
  return [...results, ...(await countOfStatements(world))]
}

/** The statements of a sale, of which each is a round trip. */
async function countOfStatements(world: World): Promise<Result[]> {
  const result = await world.countStatements(async (statementsOf) => {
    const till = await openSandbox(world, world.database(APP))
    await sell(world, till, COUNTED_BUYERS, { seconds: WARM_UP_SECONDS })
    const before = await statementsOf(APP)
    const sold = await sell(world, till, COUNTED_BUYERS, { seconds: SECONDS })
    const statements = ((await statementsOf(APP)) - before) / sold.count
    await till.service.stop()
    return {
      name: `sales, sandbox: statements a sale with ${COUNTED_BUYERS} buyers`,
      value: statements,
      parts: { commits: sold.commits, 'WAL bytes': sold.walBytes },
    }
  })
  return result ? [result] : []
}

async function measureTill(
  world: World,
  till: Till,
  countInserts: () => Promise<void>,
  inserts: readonly number[],
): Promise<Result[]> {
  const results: Result[] = []
  await sell(world, till, 64, { seconds: WARM_UP_SECONDS })
  for (const buyers of BUYERS) {
    const rounds: Sold[] = []
    const ratios: number[] = []
    for (let round = 0; round < ROUNDS; round++) {
      await countInserts()
      const sold = await sell(world, till, buyers, { seconds: SECONDS })
      rounds.push(sold)
      ratios.push(sold.rate / inserts.at(-1)!)
    }
    const of = (pick: (sold: Sold) => number) => median(rounds.map(pick))
    results.push({
      name: `sales, ${till.name}: a second with ${buyers} buyers, of the bare inserts`,
      value: median(ratios),
      ...(buyers === 64 && till.name === 'sandbox' && { least: LEAST_OF_INSERTS }),
      parts: {
        'a second': of(({ rate }) => rate),
        'inserts a second': median(inserts),
        'p50 ms': of(({ waits }) => at(waits, 0.5)),
        'p99 ms': of(({ waits }) => at(waits, 0.99)),
        looks: of((sold) => sold.looks),
        'service ms': of(({ serviceMs }) => serviceMs),
        'database ms': of(({ databaseMs }) => databaseMs),
        commits: of(({ commits }) => commits),
        'WAL bytes': of(({ walBytes }) => walBytes),
      },
    })
  }
  const paced = await sell(world, till, 64, { seconds: PACE_SECONDS, aSecond: PACE_A_SECOND })
  results.push({
    name: `sales, ${till.name}: p99 from "pay" to the links at ${PACE_A_SECOND} a second, ms`,
    value: at(paced.waits, 0.99),
    ...(till.name === 'sandbox' && { most: MAX_P99_MS }),
    parts: { p50: at(paced.waits, 0.5), 'a second': paced.rate },
  })
  return results
}

const INSERT = MAKE_ORDER(
  orderId(':n'),
  `'buyer' || (:n::bigint % 1000) || '@example.com'`,
  productId(`:n::bigint / 32 % ${products.length}`),
)

/** Lets `buyers` buy, one sale after another, or `aSecond` of them together. Returns after the last receipt was written. */
export async function sell(
  world: World,
  till: Till,
  buyers: number,
  { seconds, aSecond }: { seconds: number; aSecond?: number },
): Promise<Sold> {
  const all: Buyer[] = []
  const come = async (): Promise<Buyer> => {
    const service = await openClient(till.service.port)
    const buyer = { service, bank: till.bankPort === undefined ? service : await openClient(till.bankPort) }
    all.push(buyer)
    return buyer
  }
  const free = await Promise.all(Array.from({ length: buyers }, come))
  const waits: number[] = []
  const before = await readings(world, till)
  const looksBefore = looks
  const began = performance.now()
  const end = began + seconds * 1000
  try {
    if (aSecond === undefined) {
      await Promise.all(
        free.map(async (buyer) => {
          while (performance.now() < end) waits.push(await buy(till, buyer))
        }),
      )
    } else {
      await Promise.all(
        Array.from({ length: seconds * aSecond }, async (_, n) => {
          const due = began + (n / aSecond) * 1000
          while (performance.now() < due) await sleep(Math.max(1, due - performance.now()))
          const buyer = free.pop() ?? (await come())
          waits.push(await buy(till, buyer))
          free.push(buyer)
        }),
      )
    }
  } finally {
    for (const { service, bank } of all) {
      service.close()
      bank.close()
    }
  }
  await receiptsOf(till, before.receipts + waits.length)
  const took = (performance.now() - began) / 1000
  const after = await readings(world, till)
  const each = (pick: (reading: Reading) => number) => (pick(after) - pick(before)) / waits.length
  return {
    count: waits.length,
    looks: (looks - looksBefore) / waits.length,
    rate: waits.length / took,
    waits: waits.sort((a, b) => a - b),
    serviceMs: each(({ serviceMs }) => serviceMs),
    databaseMs: each(({ databaseMs }) => databaseMs),
    commits: each(({ commits }) => commits),
    walBytes: each(({ walBytes }) => walBytes),
  }
}

let bought = 0
let looks = 0

/** Makes one whole sale and returns the milliseconds from "pay" to the links. */
async function buy(till: Till, buyer: Buyer): Promise<number> {
  const n = bought++
  const email = `buyer${n}@example.com`
  const order = { productId: products[n % products.length], email }
  const { orderId: id, clientSecret } = await ask<{ orderId: string; clientSecret: string }>(
    buyer.service,
    wire('POST', '/api/checkout', JSON.stringify(order)),
    201,
  )
  const paidAt = performance.now()
  await ask(buyer.bank, till.payment(clientSecret), 200)
  // like the page: the answer comes when the payment is settled
  const status = wire('GET', `/api/checkout/${id}/status?wait=1&email=${encodeURIComponent(email)}`)
  for (;;) {
    looks++
    const { downloads } = await ask<{ downloads: unknown[] }>(buyer.service, status, 200)
    const wait = performance.now() - paidAt
    if (downloads.length > 0) return wait
    if (wait > LOST_AFTER_MS) throw new Error(`the order ${id} is not paid after ${LOST_AFTER_MS} ms`)
  }
}

async function ask<T>(client: Client, request: Buffer, expected: number): Promise<T> {
  const { status, body } = await client.ask(request)
  if (status !== expected) throw new Error(`the answer is ${status}:\n${body.slice(0, 1000)}`)
  return JSON.parse(body) as T
}

interface Reading {
  serviceMs: number
  databaseMs: number
  commits: number
  walBytes: number
  receipts: number
}

async function readings(world: World, { service, database }: Till): Promise<Reading> {
  const [row] = await query<{ commits: number; wal: number }>(
    database,
    `select (select xact_commit from pg_stat_database where datname = current_database())::float8 as commits,
      (pg_current_wal_insert_lsn() - '0/0')::float8 as wal`,
  )
  return {
    serviceMs: service.cpuMs(),
    databaseMs: world.databaseMs(),
    commits: row!.commits,
    walBytes: row!.wal,
    receipts: await countReceipts(database),
  }
}

async function countReceipts(database: Database): Promise<number> {
  const [row] = await query<{ count: number }>(database, `select count(*)::int as count from outbox`)
  return row!.count
}

async function receiptsOf({ database }: Till, count: number): Promise<void> {
  for (const end = Date.now() + LOST_AFTER_MS; (await countReceipts(database)) < count; await sleep(100)) {
    if (Date.now() > end) throw new Error(`${count - (await countReceipts(database))} receipts were not written`)
  }
}

export async function openSandbox({ dir }: World, database: Database, env: Record<string, string> = {}): Promise<Till> {
  const service = await startService({ DATA_DIR: dir, DATABASE_URL: database.url, PROCESSORS: 'sandbox', ...env })
  return {
    name: 'sandbox',
    service,
    database,
    payment: (clientSecret) => wire('POST', '/api/sandbox/confirm', JSON.stringify({ clientSecret, rail: 'card' })),
  }
}

async function openStripe({ dir }: World, database: Database, fake: FakeProcessor): Promise<Till> {
  const service = await startService({ DATA_DIR: dir, DATABASE_URL: database.url, ...fakeSettings(fake) })
  fake.notify(service.port)
  return {
    name: 'Stripe in 5 ms',
    service,
    database,
    bankPort: fake.port,
    payment: (clientSecret) => wire('POST', `/pay/${clientSecret.replace(/_secret_.*/, '')}`, ''),
  }
}

const at = (sorted: readonly number[], share: number): number => sorted[Math.floor(sorted.length * share)] ?? Number.NaN
