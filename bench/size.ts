import path from 'node:path'
import { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { newSigner } from '../src/kit/signing.ts'
import { openDisk } from '../src/kit/storage/disk.ts'
import { downloadSigner, downloadToken } from '../src/orders/downloads.ts'
import { fillSize } from './fill-size.ts'
import { cookieOf, someOrders } from './fill-sellers.ts'
import { openShop } from './fill.ts'
import { cycle, load, wire } from './load.ts'
import { newPayments } from './payment.ts'
import type { Result } from './report.ts'
import { byTurns, medianOf, medians } from './rounds.ts'
import { SECRET, startService } from './service.ts'
import type { Shop } from './stage.ts'
import { APP, type Database, type World, query } from './world.ts'

const FEW = 10_000
const FEW_DATABASE = 'few'
const SECONDS = 1
const WARM_UP_SECONDS = 0.3
const ORDERS = 1000
const MAX_GROWTH = 1.3
const LOOK_MS = 100
const MAX_MEMORY_MB = 300
/** Links and passes last longer than the routes are measured. */
const LAST_MS = 24 * 3600 * 1000
const FILE = Buffer.alloc(1000, 'a page of a book ')

interface Asked {
  seller: number
  id: string
  email: string
  productId: string
  /** One of the files that the buyer may download. Null if the order is not paid. */
  fileId: string | null
}

/** The requests of buyers and sellers, and the scrape of the measures. Undefined: there is nothing to request for such an order. */
const ROUTES: Record<string, { status: number; request(order: Asked): Buffer | undefined }> = {
  'hosted page': { status: 200, request: ({ productId }) => wire('GET', `/pay/?product=${productId}`) },
  product: { status: 200, request: ({ productId }) => wire('GET', `/api/products/${productId}/public`) },
  // before the checkouts, which give the same buyers further orders
  status: ofPaid(({ id, email }) => wire('GET', `/api/checkout/${id}/status?email=${encodeURIComponent(email)}`)),
  download: ofPaid(({ id, fileId }) => wire('GET', `/api/downloads/${linkOf(id, fileId)}`)),
  library: ofPaid(({ email }) => wire('GET', '/api/library', undefined, { cookie: `till_library=${passOf(email)}` })),
  checkout: {
    status: 201,
    request: ({ productId, email }) => wire('POST', '/api/checkout', JSON.stringify({ productId, email })),
  },
  'seller: orders': seen('/api/orders'),
  'seller: paid orders': seen('/api/orders?status=paid'),
  'seller: one order': seen(({ id }) => `/api/orders/${id}`),
  'seller: an address': seen(({ email }) => `/api/orders?email=${encodeURIComponent(email)}`),
  'seller: search': seen(({ id }) => `/api/orders?q=${id}`),
  'seller: balance': seen('/api/balance'),
  'seller: transfers': seen('/api/transfers'),
  'seller: statistics': seen('/api/stats'),
  measures: { status: 200, request: () => wire('GET', '/metrics') },
}

/** An order that was never paid has nothing to download, and its status is another one. */
function ofPaid(request: (order: Asked & { fileId: string }) => Buffer) {
  return {
    status: 200,
    request: ({ fileId, ...order }: Asked) => (fileId === null ? undefined : request({ ...order, fileId })),
  }
}

function seen(path: string | ((order: Asked) => string)) {
  const request = (order: Asked) =>
    wire('GET', typeof path === 'string' ? path : path(order), undefined, cookieOf(order.seller))
  return { status: 200, request }
}

const linkOf = (orderId: string, fileId: string): string =>
  downloadToken(downloadSigner([SECRET]), orderId, fileId, new Date(Date.now() + LAST_MS))

/** The value of the cookie of a browser whose buyer has proven the mailbox. */
function passOf(email: string): string {
  const claim = `${Buffer.from(email).toString('base64url')}.${Math.floor((Date.now() + LAST_MS) / 1000)}`
  return `${claim}.${newSigner([SECRET], 'library').sign(claim)}`
}

/** The same requests with `orders` orders as with 10,000, and the jobs that read all of them. */
export async function measureSize(world: World, orders: number, say: (what: string) => void): Promise<Result[]> {
  const [few, many] = [world.database(FEW_DATABASE), world.database(APP)]
  await openShop(many)
  await query(world.database('postgres'), `create database ${FEW_DATABASE} template ${APP} strategy file_copy`)
  await fillSize(few, FEW, () => {})
  const began = performance.now()
  await fillSize(many, orders, (filled) => say(`${filled.toLocaleString('en')} orders`))
  const filledSeconds = (performance.now() - began) / 1000
  const [{ gigabytes } = { gigabytes: Number.NaN }] = await query<{ gigabytes: number }>(
    many,
    'select pg_database_size(current_database()) / 1e9::float8 as gigabytes',
  )
  const shops: Shop[] = []
  for (const [database, count] of [
    [few, FEW],
    [many, orders],
  ] as const) {
    const env = { DATA_DIR: world.dir, DATABASE_URL: database.url, PROCESSORS: 'sandbox', DEMO: '0' }
    shops.push({ orders: count.toLocaleString('en'), database, service: await startService(env) })
  }
  const results: Result[] = [
    { name: `size: ${orders.toLocaleString('en')} orders, gigabytes`, value: gigabytes, parts: { 'seconds to fill': filledSeconds } },
  ] // oxfmt-ignore
  // first the jobs: the reconciliation would find the payments that the routes pretend
  results.push(...(await measureJobs(shops[1]!, say)))
  results.push(...(await measureRoutes(world, shops, say)))
  await Promise.all(shops.map(({ service }) => service.stop()))
  return results
}

async function measureRoutes(world: World, shops: readonly Shop[], say: (what: string) => void): Promise<Result[]> {
  const asked = new Map<Shop, Asked[]>()
  for (const shop of shops) asked.set(shop, await withFiles(world, shop.database))
  const results: Result[] = []
  const compare = async (name: string, p50: (shop: Shop) => Promise<number>) => {
    say(name)
    const rounds = await byTurns(Object.fromEntries(shops.map((shop) => [shop.orders, () => p50(shop)])))
    const [first, second] = shops.map(({ orders }) => orders) as [string, string]
    results.push({
      name: `size: ${name}, p50 with ${second} orders, of that with ${first}`,
      value: medianOf(rounds, (round) => round[second]! / round[first]!),
      most: MAX_GROWTH,
      parts: medians(rounds),
    })
  }
  for (const [name, { status, request }] of Object.entries(ROUTES)) {
    const requests = new Map(shops.map((shop) => [shop, asked.get(shop)!.flatMap((order) => request(order) ?? [])]))
    const p50 = async (shop: Shop, seconds: number) => {
      const next = cycle(requests.get(shop)!)
      return (await load({ port: shop.service.port, connections: 1, seconds, next, status })).p50Ms
    }
    for (const shop of shops) await p50(shop, WARM_UP_SECONDS)
    await compare(name, (shop) => p50(shop, SECONDS))
  }
  const { settleAlone } = newPayments()
  await compare('payment', settleAlone)
  return results
}

/** Some orders, with the bytes of one file of each paid one on the disk. */
async function withFiles(world: World, database: Database): Promise<Asked[]> {
  const orders = await someOrders(database, ORDERS)
  const files = await query<{ orderId: string; fileId: string }>(
    database,
    `select o.id as "orderId", min(f.id) as "fileId" from orders o join files f on f.product_id = o.product_id
      where o.id = any($1) and o.state = 'paid' group by o.id`,
    [orders.map(({ id }) => id)],
  )
  const disk = await openDisk(path.join(world.dir, 'files'))
  for (const fileId of new Set(files.map((file) => file.fileId))) await disk.put(fileId, Readable.from([FILE]))
  const fileOf = new Map(files.map(({ orderId, fileId }) => [orderId, fileId]))
  return orders.map((order) => ({ ...order, fileId: fileOf.get(order.id) ?? null }))
}

/** Each job that comes by the clock, and the reconciliation: its seconds, and the most memory that the service has meanwhile. */
async function measureJobs({ database, service }: Shop, say: (what: string) => void): Promise<Result[]> {
  const scheduled = await query<{ name: string }>(database, 'select name from pgboss.schedule order by name')
  const queues = [
    ...scheduled.map(({ name }) => name).filter((name) => !name.startsWith('reconciliation')),
    'reconciliation',
  ]
  const seconds: Record<string, number> = {}
  const peakMb = await service.peakMb(async () => {
    for (const queue of queues) {
      say(queue)
      seconds[queue] = await jobSeconds(database, queue)
    }
  })
  const { reconciliation = Number.NaN, ...others } = seconds
  const [latest] = await query<{ differences: number; not_asked: number }>(
    database,
    'select differences, not_asked from proofs order by at desc limit 1',
  )
  return [
    { name: 'size: reconciliation, minutes', value: reconciliation / 60 },
    {
      name: 'size: differences that it found',
      value: latest!.differences + latest!.not_asked,
      most: 0,
    },
    { name: 'size: the slowest of the other jobs, seconds', value: Math.max(...Object.values(others)), parts: others },
    { name: 'size: the most memory of the service meanwhile, MB resident', value: peakMb, most: MAX_MEMORY_MB },
  ]
}

/** Runs one job of a queue, and returns the seconds that it took. */
async function jobSeconds(database: Database, queue: string): Promise<number> {
  const [{ id } = { id: '' }] = await query<{ id: string }>(
    database,
    'insert into pgboss.job (name, data, retry_limit, expire_seconds) values ($1, $2, 0, 7200) returning id',
    [queue, '{}'],
  )
  // the library's channel: the service takes the job at once instead of at its next look
  await query(database, `select pg_notify('pgboss_' || left(encode(sha224('pgboss'), 'hex'), 24), $1)`, [queue])
  for (;;) {
    const [job] = await query<{ state: string; seconds: number; output: unknown }>(
      database,
      `select state::text, extract(epoch from completed_on - started_on)::float8 as seconds, output from pgboss.job where id = $1`,
      [id],
    )
    if (!job || job.state === 'failed') throw new Error(`the job ${queue} failed: ${JSON.stringify(job?.output)}`)
    if (job.state === 'completed') return job.seconds
    await sleep(LOOK_MS)
  }
}
