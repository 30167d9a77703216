import { setTimeout as sleep } from 'node:timers/promises'
import { SELLER } from './fill.ts'
import { LARGE, SELLERS, cookieOf, openSession, productOf, seller, someOrders } from './fill-sellers.ts'
import { cycle, load, wire } from './load.ts'
import type { Result } from './report.ts'
import { startBare, startService } from './service.ts'
import type { Stage } from './stage.ts'
import { type Database, type World, query } from './world.ts'

const SECONDS = 0.7
const WARM_UP_SECONDS = 0.3
const FIRST_SECONDS = 2
/** For several sellers at once, each of whom types. */
const CONNECTIONS = 2
const ORDERS = 500
const SAMPLE_MS = 50

interface Asked {
  seller: number
  id: string
  email: string
  productId: string
}

/** A seller's searches, by each filter and by typed texts: with many results, with few, and with none. */
const SEARCHES: Record<string, (order: Asked) => string> = {
  none: () => '',
  paid: () => 'status=paid',
  disputed: () => 'status=disputed',
  'no such state': () => 'status=needs_review',
  card: () => 'rail=card',
  'no such rail': () => 'rail=wallet',
  product: ({ productId }) => `productId=${productId}`,
  email: ({ email }) => `email=${encodeURIComponent(email)}`,
  'no such email': () => 'email=nobody%40example.com',
  month: () => `from=${daysAgo(300)}&to=${daysAgo(270)}`,
  'typed id': ({ id }) => `q=${id}`,
  'typed short number': ({ id }) => `q=${id.slice(-8)}`,
  'typed address': ({ email }) => `q=${email.slice(0, 5)}`,
  'typed letter': ({ email }) => `q=${email.slice(0, 1)}`,
  'typed word': () => 'q=poem',
  'typed nonsense': () => 'q=qqqq',
  all: ({ email }) => `q=${email.slice(0, 2)}&status=paid&rail=upi&from=${daysAgo(300)}`,
}

const daysAgo = (days: number): string => new Date(Date.now() - days * 86_400_000).toISOString().slice(0, 10)

/** GET /api/orders with each filter, of all sellers and of the large one; and the other requests of that one's pages. */
export async function measureSellers({ dir }: World, database: Database, words: string): Promise<Result[]> {
  const service = await startService({ DATA_DIR: dir, DATABASE_URL: database.url, PROCESSORS: 'none' })
  const bare = await startBare(database.url)
  const asked = await someOrders(database, ORDERS)
  const [one] = await query<{ id: string; email: string }>(
    database,
    `select id, email from orders where seller_id = ${seller(`${LARGE}`)} and state = 'paid'
      order by hashtext(id) limit 1`,
  )
  const ofLarge: Asked = { ...one!, seller: LARGE, productId: productOf(LARGE, 500) }
  const plain = asked.map(({ id }) => wire('GET', `/orders/${id}`))
  const p95 = async (port: number, requests: Buffer[], connections = CONNECTIONS) => {
    const run = (seconds: number) => load({ port, connections, seconds, next: cycle(requests), status: 200 })
    await run(WARM_UP_SECONDS)
    return (await run(SECONDS)).p95Ms
  }
  const all = async (requestsOf: (search: (order: Asked) => string) => Buffer[], connections?: number) => {
    const parts: Record<string, number> = {}
    for (const [name, search] of Object.entries(SEARCHES))
      parts[name] = await p95(service.port, requestsOf(search), connections)
    return parts
  }
  await load({ port: service.port, connections: CONNECTIONS, seconds: FIRST_SECONDS, next: cycle(asked.map((order) => wire('GET', '/api/orders', undefined, cookieOf(order.seller)))), status: 200 }) // oxfmt-ignore
  const bareMs = await p95(bare.port, plain)
  const ordinary = await all((search) =>
    asked.map((order) => wire('GET', `/api/orders?${search(order)}`, undefined, cookieOf(order.seller))),
  )
  const large = await all((search) => [wire('GET', `/api/orders?${search(ofLarge)}`, undefined, cookieOf(LARGE))], 1)
  const calls: Record<string, number> = {}
  for (const path of [
    `/api/orders/${ofLarge.id}`,
    '/api/orders?limit=100',
    '/api/balance',
    '/api/transfers?limit=100',
    '/api/transfers?currency=JPY',
    `/api/transfers?orderId=${ofLarge.id}`,
    `/api/stats?from=${daysAgo(365)}&timeZone=Europe/Vienna`,
    '/api/stats?interval=hour&from=' + daysAgo(15),
    '/api/attention',
    '/api/products?limit=100',
    `/api/products/${ofLarge.productId}`,
    `/api/discounts?productId=${ofLarge.productId}`,
  ])
    calls[path] = await p95(service.port, [wire('GET', path, undefined, cookieOf(LARGE))], 1)
  await Promise.all([bare.stop(), service.stop()])
  const worst = (parts: Record<string, number>) => Math.max(...Object.values(parts))
  return [
    { name: `search in ${words}: p95 of the slowest filter, ms`, value: worst(ordinary), most: 20, parts: ordinary },
    {
      name: `search in ${words}: the same, of the p95 of a bare route with one select`,
      value: worst(ordinary) / bareMs,
      parts: { 'bare p95 ms': bareMs },
    },
    {
      name: 'search of a seller with a tenth of them: p95 of the slowest filter, ms',
      value: worst(large),
      parts: large,
    },
    {
      name: 'seller with a tenth of them: p95 of the slowest call, ms',
      value: Math.max(worst(large), worst(calls)),
      most: 200,
      parts: calls,
    },
  ]
}

/** GET /api/orders as CSV, for the seller of all orders in the database. */
export async function measureCsv({ busy: { database, service } }: Stage): Promise<Result[]> {
  await openSession(database, SELLER, SELLERS)
  const small = await fetchCsv(service.port, '&q=buyer1000%40')
  const idleMb = await service.residentMb()
  const seen = { mostMb: idleMb, lines: 0, mostInFirstHalfMb: idleMb, all: false }
  const [{ count = 0 } = {}] = await query<{ count: number }>(
    database,
    `select count(*)::int as count from orders where seller_id = '${SELLER}'`,
  )
  const watching = (async () => {
    for (; !seen.all; await sleep(SAMPLE_MS)) {
      seen.mostMb = Math.max(seen.mostMb, await service.residentMb())
      if (seen.lines < count / 2) seen.mostInFirstHalfMb = seen.mostMb
    }
  })()
  const began = performance.now()
  const lines = await fetchCsv(service.port, '', (so) => (seen.lines = so))
  const seconds = (performance.now() - began) / 1000
  seen.all = true
  await watching
  if (small !== 2 || lines !== count + 1) throw new Error(`of ${count} orders the file has ${lines - 1}`)
  return [
    {
      name: `orders as CSV: MB resident at most in the second half of ${lines - 1} rows, beyond the first half`,
      value: seen.mostMb - seen.mostInFirstHalfMb,
      // the text alone of half the rows would be 100 MB, and the rows themselves several times that
      most: 75,
      parts: { 'rows a second': (lines - 1) / seconds, 'MB before': idleMb, 'MB at most': seen.mostMb },
    },
  ]
}

async function fetchCsv(port: number, query = '', heard = (_lines: number) => {}): Promise<number> {
  const response = await fetch(`http://127.0.0.1:${port}/api/orders?format=csv${query}`, { headers: cookieOf(SELLERS) })
  if (response.status !== 200) throw new Error(`the CSV was answered with ${response.status}`)
  let lines = 0
  for await (const chunk of response.body!) {
    for (const byte of chunk as Uint8Array) if (byte === 10) lines++
    heard(lines)
  }
  return lines
}
