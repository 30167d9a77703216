import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { isDatabaseOutage } from '../../src/kit/database.ts'
import { EU } from '../../src/taxes/sale-tax.ts'
import { atEnd } from '../support/ends.ts'
import { RECORD_JOBS } from '../support/jobs.ts'
import { startRazorpayServer } from '../stand-ins/razorpay-server.ts'
import { ACCOUNT } from '../support/razorpay-setup.ts'
import { razorpaySettings } from '../support/razorpay-shop.ts'
import { stripeSettings } from '../support/stripe-shop.ts'
import { serviceFolder, startService } from '../support/service.ts'
import { newBrowser } from '../support/seller.ts'
import { sellerAccount } from './accounts.ts'
import { stripeBanks } from './bank-records.ts'
import { WATCH } from './payout-invariants.ts'
import { watchRefunds } from './route-invariants.ts'
import type { Way } from './ways.ts'
import { DEADLINES } from '../../src/kit/deadlines.ts'
import { type Answer, type Ends, newDatabase, startTestShop } from '../support/shop.ts'
import { startStripeServer } from '../stand-ins/stripe-server.ts'
import { rightTime, skipTime } from './clock.ts'
import { startDatabaseProxy } from './database-proxy.ts'

// A shop, its database and both processors, each as a server that speaks its API. The service can die at any moment; the
// database and the processors are the world that stays.

export interface Good {
  productId: string
  currency: string
  priceMinor: number
}

/** Fees of a half go to the even; one that is free; currencies of no, two and three decimals, and one that Stripe counts in its own way. */
const PRICES: [string, number][] = [
  ['USD', 1900],
  ['USD', 1225],
  ['USD', 0],
  ['EUR', 75],
  ['GBP', 99_999],
  ['JPY', 375],
  ['KWD', 1230],
  ['ISK', 990],
  ['INR', 49_900],
  ['INR', 12_525],
  ['INR', 725],
]
const OPERATOR = 'operator@shop.test'
/** The breaker's pause after an outage of a processor, and a little more. */
const PAUSE_MS = 11_000
/** A process of its own cannot be asked to look at once; how soon its job must have done it. */
const LOOK_SECONDS = 300

interface Service {
  url: string
  syncDue(): Promise<unknown>
  /** Gone, in the middle of whatever it does. */
  die(): Promise<void>
  /** The connections to the database end after this many packets; the service lives on. */
  cutAfter?: (packets: number) => void
  cut?: () => void
}

export type World = Awaited<ReturnType<typeof startWorld>>

/** Ends with `t`. `way`: how the seller is paid. `killed`: the service is a process that SIGKILL ends, else it runs here and is cut off. */
export async function startWorld(t: Ends, { killed = false, way = 'manual' }: { killed?: boolean; way?: Way } = {}) {
  if (killed) rightTime()
  const stripe = await startStripeServer()
  atEnd(t, stripe.close)
  const razorpay = await startRazorpayServer(ACCOUNT)
  atEnd(t, () => razorpay.close())
  razorpay.notifying.tries = 1
  const earlyRefunds = watchRefunds(razorpay)
  const databaseUrl = await newDatabase(t)
  // not through the service's connection, so that its faults do not affect the checks
  const client = new pg.Pool({ connectionString: databaseUrl, max: 4 })
  client.on('error', () => {})
  atEnd(t, () => client.end())
  // the checks read an order's jobs after every step, among all jobs ever done
  await client.query(RECORD_JOBS)
  for (const table of ['pgboss.job_common', 'added_jobs'])
    await client.query(`create index on ${table} ((data->>'orderId'))`)
  await client.query(WATCH)
  await client.query(
    `insert into tax_rates (country, category, rate, valid_from)
     select code, 'standard', case code when 'DE' then 19 else 20 end, '2020-01-01' from unnest($1::text[]) as code`,
    [EU],
  )
  const env = {
    ...(way !== 'razorpay-route' && stripeSettings(stripe)),
    ...(way !== 'stripe-connect' && razorpaySettings(razorpay)),
    OPERATORS: OPERATOR,
    PAYOUTS: way,
    // money is due at once, and the holding period has tests of its own; where Razorpay passes money on there must be one
    PAYOUT_HOLD_DAYS: way === 'razorpay-route' ? '5' : '0',
    // one service after the other, or in its place
    STORAGE_URL: `file:${serviceFolder(t)}`,
  }

  // only rupees are passed on
  const isSold = (currency: string): boolean => way !== 'razorpay-route' || currency === 'INR'
  const start = killed ? startProcess : startHere
  const goods: Good[] = []
  let cookie = ''
  let operatorCookie = ''
  let sellerId = ''
  let hadFaults = false
  let service = await start()
  listen()
  // the seller and the products: made once, by any of the services
  if (goods.length === 0) throw new Error('there is nothing for sale')
  for (const currency of way === 'stripe-connect' ? [] : new Set(goods.map((good) => good.currency)))
    await changeDetails(currency, 'Account 12345678', true)
  const callAsSeller = (method: string, address: string, body?: unknown, headers: Record<string, string> = {}) =>
    call(method, address, body, { ...headers, cookie, origin: origin() })
  const account = sellerAccount({ way, client, stripe, razorpay, sellerId: () => sellerId, callAsSeller, runJob: (queue) => runJob(queue, () => true) }) // oxfmt-ignore
  await account.calm()

  async function startHere(): Promise<Service> {
    const ends: (() => unknown)[] = []
    const wire = await startDatabaseProxy({ after: (end) => ends.push(end) }, databaseUrl)
    // the service's own deadlines, because processors hang in some histories
    const shop = await startTestShop(
      { after: (end) => ends.push(end) },
      { env, databaseUrl: wire.url, deadlines: DEADLINES },
    )
    if (goods.length === 0) {
      for (const [currency, priceMinor] of PRICES.filter(([one]) => isSold(one)))
        goods.push({ productId: await shop.product({ currency, priceMinor }), currency, priceMinor })
      const browser = newBrowser(shop)
      await browser.signInByCode('ann@shop.test')
      cookie = browser.jar.header(new URL('http://shop.test/')) ?? ''
      sellerId = shop.sellerId
      await client.query(
        `insert into invoice_profiles (seller_id, prefix, is_on, legal_name, address, city, postcode, country)
         values ($1, 'ANNA', true, 'Ann Ltd', '{"1 Street"}', 'Dublin', 'D01', 'IE')`,
        [sellerId],
      )
      const operator = newBrowser(shop)
      await operator.signInByCode(OPERATOR)
      operatorCookie = operator.jar.header(new URL('http://shop.test/')) ?? ''
    }
    const end = async () => {
      for (const one of ends.splice(0).reverse()) await Promise.resolve(one()).catch(() => {})
    }
    atEnd(t, end)
    return {
      url: shop.url,
      syncDue: shop.syncDue,
      cutAfter: wire.cutAfter,
      cut: wire.cut,
      async die() {
        wire.die()
        // the rest of it can reach nothing, and ends by its own limits
        void end()
      },
    }
  }

  async function startProcess(): Promise<Service> {
    if (goods.length === 0) await (await startHere()).die()
    const { url, child, kill } = await startService(t, serviceFolder(t), { ...env, DATABASE_URL: databaseUrl })
    return { url, syncDue: () => runJob('sync_due', () => child.signalCode === null), die: kill }
  }

  /** Runs a scheduled job now, in the service, and waits until it has ended. */
  async function runJob(queue: string, isAlive: () => boolean): Promise<void> {
    const { rows } = await client.query(`insert into pgboss.job (name) values ($1) returning id`, [queue])
    await wake(queue)
    for (const end = performance.now() + LOOK_SECONDS * 1000; performance.now() < end && isAlive(); await sleep(20)) {
      const done = await client.query(`select 1 from pgboss.job where id = $1 and state not in ('created', 'active')`, [
        rows[0].id,
      ])
      if (done.rows.length > 0) return
    }
    // its work is lost, and the next service has its own turn
    await client.query(`update pgboss.job set state = 'failed' where id = $1`, [rows[0].id])
    if (!isAlive()) return
    throw new Error(`the job ${queue} has not ended`)
  }

  /** Wakes the waiting worker of a queue at once, as pg-boss does. */
  function wake(queue: string) {
    return client.query(`select pg_notify('pgboss_' || left(encode(sha224('pgboss'::bytea), 'hex'), 24), $1)`, [queue])
  }

  /** The service dies and another one starts. */
  async function restart(): Promise<void> {
    await service.die()
    service = await start()
    listen()
  }

  function listen(): void {
    stripe.knobs.webhookUrl = `${service.url}/api/webhooks/stripe`
    razorpay.webhookUrl = `${service.url}/api/webhooks/razorpay`
  }

  /** Status 0: there was no response. */
  async function call(
    method: string,
    address: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<Answer> {
    try {
      const response = await fetch(service.url + address, {
        method,
        headers: { ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
        ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
        signal: AbortSignal.timeout(30_000),
      })
      const text = await response.text()
      const isJson = /json/.test(response.headers.get('content-type') ?? '')
      return { status: response.status, headers: response.headers, body: isJson ? JSON.parse(text) : text }
    } catch (error) {
      return { status: 0, headers: new Headers(), body: { why: String((error as Error).cause ?? error) } }
    }
  }

  function origin(): string {
    return killed ? service.url : 'http://shop.test'
  }

  /** The seller has just signed in, and says where the money of a currency goes. `isOver`: it can go there at once. */
  async function changeDetails(currency: string, account: string, isOver: boolean): Promise<void> {
    await client.query(`update sessions set created_at = now() where seller_id = $1`, [sellerId])
    const body = { kind: 'other', name: 'Ann', country: 'US', lines: ['A bank', account] }
    await call('PUT', `/api/payout-details/${currency}`, body, { cookie, origin: origin() })
    if (isOver)
      await client.query(`update payout_details set payable_from = now() - interval '1 second' where seller_id = $1`, [sellerId]) // oxfmt-ignore
  }

  function works(): void {
    stripe.works()
    Object.assign(stripe.knobs, { delayMs: 0, pageSize: 100, searchLagSeconds: 0 })
    for (const bank of stripeBanks(stripe)) Object.assign(bank, { refundsBegin: 'succeeded', refusesRefunds: false })
    razorpay.works()
    Object.assign(razorpay, { delayMs: 0, refundsBecome: 'processed', receipts: 'same_order' })
  }

  /** Until every notification that is on its way has arrived. */
  async function delivered(): Promise<void> {
    await Promise.all([stripe.delivered(), razorpay.delivered()])
  }

  return {
    stripe,
    razorpay,
    client,
    goods,
    killed,
    wake,
    service: () => service,
    call,
    /** A request of the seller's, from a page of ours. */
    callAsSeller,
    way,
    account,
    /** The refunds that went out before the seller's part was back, in words. */
    earlyRefunds,
    /** Runs a scheduled job now, and waits until it has ended. */
    runJob: (queue: string): Promise<void> => runJob(queue, () => true),
    sellerId: () => sellerId,
    changeDetails,
    /** The seller has one of four tax profiles, or none. */
    async changeTax(which: number): Promise<void> {
      const profile = [undefined, { incl: true }, { incl: false, oss: true }, { incl: false }, { exempt: true }][
        which % 5
      ]
      if (!profile) await client.query('delete from tax_profiles where seller_id = $1', [sellerId])
      else
        await client.query(
          `insert into tax_profiles (seller_id, country, has_oss, is_exempt, is_inclusive, category)
           values ($1, 'DE', $2, $3, $4, 'standard')
           on conflict (seller_id) do update set has_oss = $2, is_exempt = $3, is_inclusive = $4`,
          [sellerId, profile.oss ?? false, profile.exempt ?? false, profile.incl ?? false],
        )
    },
    /** A request of the operator's, who has just signed in. */
    async callAsOperator(
      method: string,
      address: string,
      body?: unknown,
      headers: Record<string, string> = {},
    ): Promise<Answer> {
      await client.query(
        `update sessions set created_at = now() where seller_id = (select id from sellers where email = $1)`,
        [OPERATOR],
      )
      return call(method, address, body, { ...headers, cookie: operatorCookie, origin: origin() })
    },
    /** Has the service look at the orders that are due. Without its database it fails, and its next turn is soon. */
    async syncDue({ tries = 1 } = {}): Promise<void> {
      for (let i = 1; ; i++) {
        try {
          return void (await service.syncDue())
        } catch (error) {
          if (!isDatabaseOutage(error)) throw error
          if (i >= tries) return
        }
      }
    },
    restart,
    /** Nothing is wrong any more, and the pause is over for which a processor that was away is left alone. */
    async calm(): Promise<void> {
      works()
      Object.assign(stripe.knobs, { notify: 'now', sending: {} })
      Object.assign(razorpay.notifying, { when: 'now', times: 1, lateMs: 0 })
      await delivered()
      if (!killed) skipTime(PAUSE_MS)
      // a process has its own clock, and a new one begins without a pause
      else if (hadFaults) await restart()
      hadFaults = false
      await account.calm()
      await delivered()
    },
    works,
    delivered,
    /** From now on requests to the processors may fail. */
    troubles: () => void (hadFaults = true),
    /** An idempotency key that no other run has. */
    newKey: () => `simulated-${randomBytes(9).toString('hex')}`,
  }
}
