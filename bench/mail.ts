import { setTimeout as sleep } from 'node:timers/promises'
import { PgBoss } from 'pg-boss'
import type { Result } from './report.ts'
import { median } from './rounds.ts'
import { type Service, startMailServer, startService } from './service.ts'
import { type Database, type World, query } from './world.ts'

const MAIL_MS = 200
const SLOW_MS = 9_000
/** One in this many mailboxes is slow. */
const SLOW_ONE_IN = 50
const MANY = 10_000
const MANY_MINUTES = 5
const CONNECTIONS = 32
const CODES = 9
const POLL_MS = 10
/** After this time without a mail, the service does not deliver at all. */
const SILENT_MS = 120_000

interface Order {
  id: string
  email: string
}

interface Taken {
  times: number
  /** When the mail server accepted it first. */
  at: number
}

/** The mails that the mail server has accepted. */
interface Delivered {
  port: number
  taken: ReadonlyMap<string, Taken>
  /** How long the server took for each mail. */
  serverMs: readonly number[]
  receipts(): number
  /** Waits until `isSo`. Fails when the service has delivered nothing for long. */
  until(isSo: () => boolean | Promise<boolean>): Promise<void>
  stop(): Promise<void>
}

/** Receipts of `count` orders that are all due at once, through a mail server with some slow mailboxes, and sign-in codes meanwhile. */
export async function measureMail({ dir }: World, database: Database, count: number): Promise<Result[]> {
  const orders = await query<Order>(
    database,
    `select min(id) as id, email from orders where state = 'paid' group by email order by email limit ${count}`,
  )
  const delivered = await startDelivery(orders)
  // mails that other measurements have left do not count here
  await query(database, `delete from pgboss.job where name = 'mail' and state < 'active'`)
  const service = await startService({
    DATA_DIR: dir,
    DATABASE_URL: database.url,
    PROCESSORS: 'none',
    SMTP_URL: `smtp://127.0.0.1:${delivered.port}`,
    MAIL_CONNECTIONS: String(CONNECTIONS),
  })

  const began = performance.now()
  await enqueue(
    database,
    orders.map(({ id }) => id),
  )
  const codesMs = await askCodes(service, delivered, orders.length)
  const { taken, serverMs, receipts, until } = delivered
  await until(() => receipts() === orders.length)
  const seconds = (Math.max(...orders.map(({ email }) => taken.get(email)!.at)) - began) / 1000
  // a mail that would come twice is one whose job is not done
  await until(() => isDone(database))
  await Promise.all([service.stop(), delivered.stop()])
  const twice = orders.reduce((sum, { email }) => sum + taken.get(email)!.times - 1, 0)
  return resultsOf({ count: orders.length, seconds, serverMs, codesMs, twice })
}

async function startDelivery(orders: readonly Order[]): Promise<Delivered> {
  const mailboxes = new Set(orders.map(({ email }) => email))
  const slow = [...mailboxes].filter((_, n) => n % SLOW_ONE_IN === 0)
  const taken = new Map<string, Taken>()
  const serverMs: number[] = []
  let receipts = 0
  let latest = performance.now()
  const server = await startMailServer({ mailMs: MAIL_MS, slowMs: SLOW_MS, slow }, ({ to, ms }) => {
    latest = performance.now()
    serverMs.push(ms)
    const before = taken.get(to)
    if (!before && mailboxes.has(to)) receipts++
    taken.set(to, { times: (before?.times ?? 0) + 1, at: before?.at ?? latest })
  })
  return {
    port: server.port,
    taken,
    serverMs,
    receipts: () => receipts,
    async until(isSo) {
      for (const since = performance.now(); !(await isSo()); await sleep(POLL_MS)) {
        if (performance.now() - Math.max(since, latest) > SILENT_MS)
          throw new Error(`${receipts} of ${orders.length} receipts, and no more`)
      }
    },
    stop: () => server.stop(),
  }
}

/** Asks for codes while the receipts go out, evenly over them. Returns how long each code took. */
async function askCodes(service: Service, { taken, receipts, until }: Delivered, count: number): Promise<number[]> {
  const codesMs: number[] = []
  for (let code = 1; code <= CODES; code++) {
    await until(() => receipts() >= (count * code) / (CODES + 1))
    const asked = performance.now()
    const mailbox = `code${code}@bench.example`
    await askCode(service, mailbox)
    await until(() => taken.has(mailbox))
    codesMs.push(taken.get(mailbox)!.at - asked)
  }
  return codesMs
}

interface Measured {
  count: number
  seconds: number
  serverMs: readonly number[]
  codesMs: readonly number[]
  /** How many mails came more than once. */
  twice: number
}

function resultsOf({ count, seconds, serverMs, codesMs, twice }: Measured): Result[] {
  const rate = count / seconds
  const meanMs = serverMs.reduce((sum, ms) => sum + ms, 0) / serverMs.length
  return [
    {
      name: `receipts: mails a second, ${count} at once, ${MAIL_MS} ms each and ${SLOW_MS / 1000} s for ${100 / SLOW_ONE_IN} %: ${MANY} in ${MANY_MINUTES} minutes`,
      value: rate,
      least: Math.ceil((MANY / (MANY_MINUTES * 60)) * 10) / 10,
      parts: { [`minutes for ${MANY}`]: MANY / rate / 60 },
    },
    {
      name: `receipts: mails a second, of what ${CONNECTIONS} connections can do at the server's own times`,
      value: rate / ((CONNECTIONS * 1000) / meanMs),
      parts: { 'server mean ms': meanMs, 'server p50 ms': median(serverMs) },
    },
    { name: 'receipts: mails that came twice', value: twice, most: 0 },
    {
      name: `receipts: a sign-in code meanwhile, slowest of ${CODES}, of what the server takes for a mail`,
      value: Math.max(...codesMs) / median(serverMs),
      most: 20,
      parts: { 'p50 ms': median(codesMs), 'slowest ms': Math.max(...codesMs) },
    },
  ]
}

/** All of them at once, by the statement that the service enqueues by. */
async function enqueue({ url }: Database, orderIds: string[]): Promise<void> {
  const boss = new PgBoss({ connectionString: url, supervise: false, schedule: false, migrate: false })
  await boss.start()
  await boss.insert(
    'mail',
    orderIds.map((orderId) => ({ data: { kind: 'receipt', orderId } })),
  )
  await boss.stop()
}

async function askCode({ port }: Service, email: string): Promise<void> {
  const answer = await fetch(`http://127.0.0.1:${port}/api/auth/otp`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email }),
  })
  if (answer.status !== 202) throw new Error(`a code was refused: ${answer.status} ${await answer.text()}`)
}

async function isDone(database: Database): Promise<boolean> {
  const open = await query(database, `select from pgboss.job where name = 'mail' and state <= 'active' limit 1`)
  return open.length === 0
}
