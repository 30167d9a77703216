import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import fs from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { Readable } from 'node:stream'
import { after, before } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { sql } from 'kysely'
import { buildApp } from '../../src/app.ts'
import type { Created, OrderStatus } from '../../src/checkout/schema.ts'
import { type Config, readConfig } from '../../src/config.ts'
import { connect } from '../../src/kit/database.ts'
import type { Deadlines } from '../../src/kit/deadlines.ts'
import { type Log, newLog } from '../../src/kit/log.ts'
import { migrate } from '../../src/kit/migrate.ts'
import { derivedKey } from '../../src/kit/signing.ts'
import { openStorage } from '../../src/kit/storage/open.ts'
import { enqueueRecallMails } from '../../src/orders/recalled-files.ts'
import { enqueueSaleMails } from '../../src/orders/sale-mails.ts'
import { enqueuePayoutMails } from '../../src/payouts/mails.ts'
import type { PaymentSnapshot } from '../../src/processors/processor.ts'
import { signature } from '../../src/processors/sandbox/notify.ts'
import { enqueueOffSaleMails } from '../../src/products/off-sale.ts'
import { addFile, createProduct, type NewProduct } from '../../src/products/products.ts'
import { watchEndpoints } from '../../src/webhooks/health.ts'
import { ensureSeller } from '../../src/sellers/sellers.ts'
import { filledDatabase, runOn } from './databases.ts'
import { type Ends, atEnd } from './ends.ts'

export const SECRET = 'a secret of the tests that is long enough'
const SCHEMA = fileURLToPath(new URL('../../schema', import.meta.url))

/** A service under test shares its machine with three more: how long a database may take is tried where it is the question. */
const PATIENCE = {
  connectionTimeoutMillis: 60_000,
  statement_timeout: 60_000,
  query_timeout: 61_000,
  idle_in_transaction_session_timeout: 60_000,
}
/** The same for the stand-ins of other services. A refund takes up to two calls, and its lease is 60 seconds. */
const PATIENT_DEADLINES = {
  processorCallMs: 20_000,
  webhookAskMs: 20_000,
  identityProviderMs: 20_000,
  storageQuestionMs: 20_000,
  syncBudgetMs: 20_000,
}

export interface Answer<Body = any> {
  status: number
  body: Body
  headers: Headers
}

export type { Ends }

export type TestShop = Awaited<ReturnType<typeof startTestShop>>

export interface ShopOptions {
  env?: Record<string, string>
  databaseUrl?: string
  log?: Log
  /** Other than the patient ones of the tests. */
  deadlines?: Partial<Deadlines>
}

/** A service of its own on a database of its own, in this process, over real HTTP. Ends with the test. */
export async function startTestShop(t: Ends, { env = {}, databaseUrl, log, deadlines = {} }: ShopOptions = {}) {
  const url = databaseUrl ?? (await newDatabase(t))
  const dataDir = await temporaryFolder(t)
  if (databaseUrl) await takeAnySecretAndFiles(databaseUrl)
  const settings = configOf({
    DATA_DIR: dataDir,
    DATABASE_URL: url,
    SECRET,
    LOG_LEVEL: 'silent',
    LIMITS: 'off',
    DEMO: '0',
    ...env,
  })
  const config = { ...settings, deadlines: { ...settings.deadlines, ...PATIENT_DEADLINES, ...deadlines } }
  const onError = () => {}
  const main = connect({ connectionString: url, ...PATIENCE }, { connections: 8, onError })
  const reserved = connect({ connectionString: url, ...PATIENCE }, { connections: 3, onError })
  let ownUrl = ''
  const app = await buildApp({
    config,
    log: log ?? newLog(config.logLevel),
    main,
    reserved,
    // a job that was taken and has not begun after ten seconds is given back, so its statements keep their limits
    database: { connectionString: url, connectionTimeoutMillis: PATIENCE.connectionTimeoutMillis },
    ownUrl: () => ownUrl,
    baseUrl: config.baseUrl ?? 'http://shop.test',
    appUrl: config.appUrl ?? config.baseUrl ?? 'http://shop.test',
  })
  ownUrl = (await app.server.listen({ port: 0, host: '127.0.0.1' })).replace('[::1]', '127.0.0.1')
  let closed = false
  const close = async (requestsMs = 10_000) => {
    if (closed) return
    closed = true
    await app.close(requestsMs)
    await Promise.all([main.close(), reserved.close()])
  }
  atEnd(t, () => close())

  const storage = await openStorage(config)
  const sellerId = await ensureSeller(main.db, { name: 'Ann', email: 'ann@shop.test', trusted: true })

  async function call<Body = any>(
    method: string,
    address: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<Answer<Body>> {
    const response = await fetch(ownUrl + address, {
      method,
      headers: { ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      redirect: 'manual',
    })
    const text = await response.text()
    const isJson = /json/.test(response.headers.get('content-type') ?? '')
    return {
      status: response.status,
      body: isJson && text ? JSON.parse(text) : (text as Body),
      headers: response.headers,
    }
  }

  const shop = {
    url: ownUrl,
    databaseUrl: url,
    db: main.db,
    config,
    close,
    sellerId,
    call,
    syncDue: app.payments.syncDue,
    backfill: app.payments.backfill,
    jobs: app.jobs,
    enqueueRecallMails: () => enqueueRecallMails(main.db, app.jobs),
    enqueueSaleMails: () => enqueueSaleMails(main.db, app.jobs),
    enqueuePayoutMails: () => enqueuePayoutMails(main.db, app.jobs),
    enqueueOffSaleMails: () => enqueueOffSaleMails(main.db, app.jobs),
    watchEndpoints: () => watchEndpoints(main.db, app.jobs),
    compileSchemas: () => app.server.compileSchemas(),
    schemaPatterns: app.server.schemaPatterns,

    /** A product for sale, with one file, of `bytes` if given. */
    async product(product: Partial<NewProduct> & { files?: { name: string; bytes: Buffer }[] } = {}): Promise<string> {
      const { files = [{ name: 'book.pdf', bytes: Buffer.from('a book') }], ...fields } = product
      const { id } = await createProduct(main.db, {
        sellerId,
        name: 'A book',
        description: 'About books.',
        priceMinor: 1900,
        currency: 'USD',
        status: 'active',
        ...fields,
      })
      for (const file of files) await shop.file(id, file)
      return id
    },

    /** One more file of a product. Without any it is not for sale. */
    file: (
      productId: string,
      { name, bytes }: { name: string; bytes: Buffer } = { name: 'book.pdf', bytes: Buffer.from('a book') },
    ): Promise<string> =>
      addFile(main.db, storage, productId, { name, contentType: 'application/pdf', bytes: Readable.from([bytes]) }),

    /** A new order, of a new product unless one is named. */
    async checkout(
      fields: { productId?: string; email?: string } = {},
      headers: Record<string, string> = {},
    ): Promise<Created> {
      const productId = fields.productId ?? (await shop.product())
      const answer = await call<Created>(
        'POST',
        '/api/checkout',
        { email: 'bob@example.com', ...fields, productId },
        headers,
      )
      assert.equal(answer.status, 201, JSON.stringify(answer.body))
      return answer.body
    },

    async status(orderId: string, email?: string, sync = false): Promise<OrderStatus> {
      const query = new URLSearchParams({ ...(email !== undefined && { email }), ...(sync && { sync: '1' }) })
      const answer = await call<OrderStatus>('GET', `/api/checkout/${orderId}/status?${query}`)
      assert.equal(answer.status, 200, JSON.stringify(answer.body))
      return answer.body
    },

    /** Pays as the payment form does in the sandbox. */
    confirm: (order: { clientSecret?: string | undefined }, scenario = 'success', rail = 'card') =>
      call('POST', '/api/sandbox/confirm', { clientSecret: order.clientSecret, rail, scenario }),

    /** Waits until the order's status is `wanted`, for a buyer who only reads it. */
    async until(orderId: string, wanted: (status: OrderStatus) => boolean, seconds = 120): Promise<OrderStatus> {
      for (const end = Date.now() + seconds * 1000; ;) {
        const status = await shop.status(orderId, 'bob@example.com')
        if (wanted(status)) return status
        assert(Date.now() < end, `the order stayed ${JSON.stringify(status)}`)
        await sleep(50)
      }
    },

    /** An order that is paid. */
    async paid(fields: { productId?: string; email?: string } = {}): Promise<Created & { status: string }> {
      const order = await shop.checkout(fields)
      assert.equal((await shop.confirm(order)).status, 200)
      await shop.until(order.orderId, (status) => status.paid)
      return order
    },

    /** The sandbox's own data of an order's payment. */
    async sandboxPayment(orderId: string): Promise<PaymentSnapshot> {
      const { rows } = await sql<{
        payment: PaymentSnapshot
      }>`select payment from sandbox_payments where payment->>'orderId' = ${orderId}`.execute(main.db)
      return rows[0]!.payment
    },

    /** Sends a notification as the processor would, by default signed now. */
    notify(
      event: { id?: string; type?: string; payment?: unknown },
      {
        secret = SECRET,
        seconds = Math.floor(Date.now() / 1000),
        headers = {},
      }: { secret?: string; seconds?: number; headers?: Record<string, string> } = {},
    ) {
      const id = event.id ?? `evt_${randomBytes(8).toString('hex')}`
      const body = JSON.stringify({ type: 'payment.captured', ...event, id })
      return call('POST', '/api/webhooks/sandbox', body, {
        ...signature(derivedKey(secret, 'sandbox webhook'), id, seconds, body),
        ...headers,
      })
    },

    async transfers(orderId: string): Promise<{ kind: string; debit: string; credit: string; amountMinor: number }[]> {
      const { rows } = await sql<{ kind: string; debit: string; credit: string; amountMinor: number }>`
        select kind, debit_account as debit, credit_account as credit, amount_minor as "amountMinor"
        from transfers where order_id = ${orderId} order by created_at, kind desc`.execute(main.db)
      return rows
    },

    async mails(to = 'bob@example.com'): Promise<{ subject: string; text: string; html: string }[]> {
      return (await call('GET', `/api/outbox?to=${encodeURIComponent(to)}`)).body
    },
  }
  return shop
}

/**
 * The settings as the service reads them, with one exception that no service may have: https addresses together with an outbox. A
 * test needs https to see a browser's response, and the outbox to read codes, so both are put into the settings afterwards.
 */
function configOf(env: Record<string, string>): Config {
  if (env.PUBLIC) return readConfig(env)
  const { BASE_URL, APP_URL, COOKIE_DOMAIN, ...rest } = env
  return { ...readConfig(rest), baseUrl: BASE_URL, appUrl: APP_URL, cookieDomain: COOKIE_DOMAIN }
}

/** All waits have this limit, which ends a test that waits in vain. A slow machine needs minutes for what takes a second on another. */
const LONGEST_WAIT_MS = 300_000

/** Asks again until the answer is as wanted, and fails with the last one when it never is, by a clock that no test sets. */
export async function eventually<T>(ask: () => Promise<T>, wanted: (answer: T) => boolean): Promise<T> {
  for (const end = performance.now() + LONGEST_WAIT_MS; ;) {
    const answer = await ask()
    if (wanted(answer)) return answer
    assert(performance.now() < end, `it stayed ${JSON.stringify(answer)}`)
    await sleep(50)
  }
}

/** The answer is a problem (RFC 9457) of that status and code, with nothing in it that is not for the caller. */
export function assertProblem(answer: Answer, status: number, code: string): void {
  const { body, headers } = answer
  assert.deepEqual({ status: answer.status, code: body?.code }, { status, code }, JSON.stringify(body))
  assert.equal(headers.get('content-type'), 'application/problem+json')
  assert.equal(headers.get('cache-control'), 'no-store')
  const { fields, ...rest } = body
  assert.deepEqual(Object.keys(rest).sort(), ['code', 'detail', 'requestId', 'status', 'title', 'type'])
  assert.equal(body.status, status)
  assert.equal(body.requestId, headers.get('x-request-id'))
  // a card's number can also stand in the address, which has no fields
  if (code !== 'card_number_refused')
    assert.equal(
      fields !== undefined,
      code === 'validation_failed',
      'fields are there for a failed validation or a card’s number, and only then',
    )
  for (const field of fields ?? []) {
    assert.deepEqual(Object.keys(field).sort(), ['message', 'path'])
    assert(field.path !== '' && field.message !== '')
  }
  assert.doesNotMatch(JSON.stringify(body), /node_modules|node:internal|select |insert |\.ts:\d/)
}

/** One service for all the tests of a file, which then share nothing but that it runs: each has its own products and orders. */
export const sharedShop = (options?: Parameters<typeof startTestShop>[1]): (() => TestShop) =>
  startedOnce((t) => startTestShop(t, options))

/** Starts something once for all the tests of a file, and ends it after them. */
export function startedOnce<T>(start: (t: Ends) => Promise<T>): () => T {
  const ends: (() => unknown)[] = []
  let started: T | undefined
  before(async () => {
    started = await start({ after: (end) => ends.push(end) })
  })
  after(async () => {
    for (const end of ends.reverse()) await end()
  })
  return () => {
    assert(started, 'it did not start')
    return started
  }
}

/** An empty folder that goes with the test. */
export async function temporaryFolder(t: Ends): Promise<string> {
  const folder = await fs.mkdtemp(path.join(os.tmpdir(), 'till-test-'))
  atEnd(t, () => fs.rm(folder, { recursive: true, force: true }))
  return folder
}

/** A database with the schema and nothing in it, a copy of one that is made once a run. Goes with the test. */
export const newDatabase = (t: Ends): Promise<string> => filledDatabase(t, makeFirst)

/** The schema and the job queues that a service makes at its first start, without sellers, jobs or an installation. */
async function makeFirst(url: string): Promise<void> {
  const connection = connect({ connectionString: url }, { connections: 2, patient: true })
  await migrate(connection.db, SCHEMA)
  await connection.close()
  const ends: (() => unknown)[] = []
  await startTestShop({ after: (end) => ends.push(end) }, { databaseUrl: url })
  for (const end of ends.reverse()) await end()
  await runOn(url, 'delete from sellers; delete from installation; delete from pgboss.job')
  // a test says itself when the clock strikes: by the real one, some test or other would meet a full minute. A time closer
  // than a century would be taken for one of a wrong clock
  await runOn(url, `update pgboss.version set cron_on = now() + interval '1000 years'`)
}

/** A second service on a used database has other files and perhaps another secret. start.test.ts tests that case. */
const takeAnySecretAndFiles = (url: string): Promise<void> =>
  runOn(url, 'update installation set secret_fingerprint = null, storage_confirmed_at = null')
