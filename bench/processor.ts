import { createHmac } from 'node:crypto'
import { openOrders, products } from './fill.ts'
import { cycle, load, paced, wire } from './load.ts'
import type { Result } from './report.ts'
import { WARM_UP_SECONDS, byTurns, median, medianOf, medians } from './rounds.ts'
import { type FakeProcessor, type Service, WEBHOOK_SECRET } from './service.ts'
import { AMOUNT_MINOR, CURRENCY, idIn, processorPaymentId } from './sql.ts'
import type { Stage } from './stage.ts'
import { type Database, query } from './world.ts'

const SECONDS = 3
const CONNECTIONS = 64
const NOTIFICATIONS = 1_000
const NOTIFYING_SECONDS = 10
const NOTIFYING_ROUNDS = 5
/** Warm-up requests, because code is compiled and statements are planned with the first ones. */
const FIRST_NOTIFICATIONS = 200
/** The number of buyers who check out while notifications arrive. */
const BUYERS = 8

/** The settings with which a service takes the fake processor for Stripe. */
export const fakeSettings = ({ port }: FakeProcessor): Record<string, string> => ({
  PROCESSORS: 'stripe',
  STRIPE_SECRET_KEY: 'sk_test_bench',
  STRIPE_PUBLISHABLE_KEY: 'pk_test_bench',
  STRIPE_WEBHOOK_SECRET: WEBHOOK_SECRET,
  STRIPE_API_URL: `http://127.0.0.1:${port}`,
})

const checkouts = Array.from({ length: 1000 }, (_, n) =>
  wire(
    'POST',
    '/api/checkout',
    JSON.stringify({ productId: products[n % products.length], email: `buyer${n}@example.com` }),
  ),
)

/** POST /api/checkout where each order begins a payment at a processor that answers in 5 ms, beside others on the same database. */
export async function measureProcessor(
  { busy: { database, service } }: Stage,
  without: Record<'none' | 'sandbox', Service>,
): Promise<Result[]> {
  const rateOf = async ({ port }: Service, seconds = SECONDS) => {
    const { rate } = await load({ port, connections: CONNECTIONS, seconds, next: cycle(checkouts), status: 201 })
    await lookNoMore(database)
    return rate
  }
  const sides = { service, ...without }
  for (const side of Object.values(sides)) await rateOf(side, WARM_UP_SECONDS)
  const rates = await byTurns(
    Object.fromEntries(Object.entries(sides).map(([name, side]) => [name, () => rateOf(side)])),
  )
  return [
    {
      name: 'processor: orders a second, of those where payments are not live',
      value: medianOf(rates, (round) => round.service! / round.none!),
      parts: medians(rates),
    },
    {
      name: 'processor: orders a second, of those with the sandbox, which is nowhere else',
      value: medianOf(rates, (round) => round.service! / round.sandbox!),
      least: 0.6,
    },
  ]
}

/** POST /api/webhooks/stripe: 1,000 in 10 s, each with a request to the processor, while buyers check out. */
export async function measureNotifications({ busy: { database, service } }: Stage): Promise<Result[]> {
  const { port } = service
  const buy = () => load({ port, connections: BUYERS, seconds: NOTIFYING_SECONDS, next: cycle(checkouts), status: 201 })
  const first = 5e12
  const all = FIRST_NOTIFICATIONS + NOTIFYING_ROUNDS * NOTIFICATIONS
  await openOrders(database, first, first + all)
  await query(
    database,
    `update payments set processor = 'stripe', processor_payment_id = replace(processor_payment_id, 'sbx_pi_', 'pi_paid')
      where processor_payment_id between ${processorPaymentId(`${first}`)} and ${processorPaymentId(`${first + all}`)}`,
  )
  let next = first + FIRST_NOTIFICATIONS
  await notify(port, first, FIRST_NOTIFICATIONS)
  const told: number[] = []
  const rounds: Record<'quiet' | 'busy', number>[] = []
  for (; rounds.length < NOTIFYING_ROUNDS; next += NOTIFICATIONS) {
    const quiet = await buy()
    await lookNoMore(database)
    const [busy, answered] = await Promise.all([buy(), notify(port, next, NOTIFICATIONS)])
    await lookNoMore(database)
    rounds.push({ quiet: quiet.p99Ms, busy: busy.p99Ms })
    told.push(...answered)
  }
  const [paid] = await query<{ count: number }>(
    database,
    `select count(*)::int as count from captures where processor = 'stripe'`,
  )
  if (paid!.count !== all) throw new Error(`of ${all} payments ${paid!.count} were booked`)
  told.sort((a, b) => a - b)
  return [
    {
      name: `notifications: p99 of ${NOTIFICATIONS} in ${NOTIFYING_SECONDS} s while buyers check out, all 2xx, seconds`,
      value: told[Math.floor(told.length * 0.99)]! / 1000,
      most: 2,
      parts: { p50: median(told) / 1000 },
    },
    {
      name: 'notifications: p99 of checkout meanwhile, of its p99 without them',
      value: median(rounds.map(({ quiet, busy }) => busy / quiet)),
      most: 2,
      parts: {
        'quiet ms': median(rounds.map(({ quiet }) => quiet)),
        'busy ms': median(rounds.map(({ busy }) => busy)),
      },
    },
  ]
}

/** The orders of one round must not be looked after during the next. */
async function lookNoMore(database: Database): Promise<void> {
  await query(database, 'update orders set due_at = null where due_at is not null')
}

const notify = (port: number, first: number, count: number): Promise<number[]> =>
  paced({
    port,
    requests: Array.from({ length: count }, (_, at) => notification(first + at)),
    aSecond: NOTIFICATIONS / NOTIFYING_SECONDS,
    status: 200,
  })

function notification(n: number): Buffer {
  const time = Math.floor(Date.now() / 1000)
  const intent = {
    id: idIn('pi_paid', n),
    object: 'payment_intent',
    amount: AMOUNT_MINOR,
    currency: CURRENCY.toLowerCase(),
    status: 'succeeded',
    livemode: false,
    metadata: {},
    latest_charge: idIn('ch_paid', n),
    client_secret: idIn('pi_paid', n),
  }
  const body = JSON.stringify({
    id: `evt_${n}`,
    object: 'event',
    // each sale causes two notifications, and either can come first
    type: n % 2 ? 'payment_intent.succeeded' : 'charge.succeeded',
    livemode: false,
    created: time,
    data: {
      object: n % 2 ? intent : { id: idIn('ch_paid', n), object: 'charge', payment_intent: intent.id },
    },
  })
  const mac = createHmac('sha256', WEBHOOK_SECRET).update(`${time}.${body}`).digest('hex')
  return wire('POST', '/api/webhooks/stripe', body, { 'stripe-signature': `t=${time},v1=${mac}` })
}
