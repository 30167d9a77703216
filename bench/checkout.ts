import { productId, products } from './fill.ts'
import { cycle, load, wire } from './load.ts'
import type { Result } from './report.ts'
import { type Round, WARM_UP_SECONDS, byTurns, medianOf, medians } from './rounds.ts'
import { MAKE_ORDER, orderId } from './sql.ts'
import { statementsPerSecond } from './statements.ts'
import type { Stage } from './stage.ts'

const SECONDS = 3
const SECONDS_ALONE = 1
const REQUESTS = 1000
/** The least share of the bare inserts, by the number of connections. */
const LEAST = { 16: 0.6, 32: 0.85, 64: 1.1 }
const CONNECTIONS = [16, 32, 64] as const
/**
 * The most that a checkout alone may take, of a bare route with one insert. Where the bare route takes 0.45 ms, as on an ordinary
 * machine, this is 0.25 ms more.
 */
const OF_BARE = 1.55

const requests = (path: string) =>
  Array.from({ length: REQUESTS }, (_, n) =>
    wire('POST', path, JSON.stringify({ productId: products[n % products.length], email: `buyer${n}@example.com` })),
  )

/** POST /api/checkout where card payments are not live, so that it is one insert and nothing else. */
export async function measureCheckout({ world, busy, shops, bare }: Stage): Promise<Result[]> {
  const ours = requests('/api/checkout')
  const plain = requests('/orders')
  const ask = (port: number, connections: number, seconds: number, made = ours) =>
    load({ port, connections, seconds, next: cycle(made), status: 201 })
  for (const { service } of shops) await ask(service.port, 32, WARM_UP_SECONDS)
  await ask(bare.port, 32, WARM_UP_SECONDS, plain)

  let first = 0
  const rate = await byTurns({
    statements: () =>
      statementsPerSecond(world, busy.database, { statements: [statement], first: (first += 1e9), seconds: SECONDS }),
    ...Object.fromEntries(
      CONNECTIONS.map((connections) => [
        connections,
        async () => (await ask(busy.service.port, connections, SECONDS)).rate,
      ]),
    ),
  })
  const alone = async (port: number, made = ours) => (await ask(port, 1, SECONDS_ALONE, made)).p50Ms
  const p50 = await byTurns({
    bare: () => alone(bare.port, plain),
    ...Object.fromEntries(shops.map(({ orders, service }) => [orders, () => alone(service.port)])),
  })
  return [
    ...CONNECTIONS.map((connections) => ({
      name: `checkout: orders a second with ${connections} connections, of the bare inserts with 32`,
      value: medianOf(rate, (round) => round[connections]! / round.statements!),
      least: LEAST[connections],
      ...(connections === 32 && { parts: medians(rate) }),
    })),
    {
      name: 'checkout: p50 alone over a bare route with one insert, ms',
      value: medianOf(p50, (round) => round[busy.orders]! - round.bare!),
      parts: medians(p50),
    },
    {
      name: 'checkout: p50 alone, of a bare route with one insert',
      value: medianOf(p50, (round) => round[busy.orders]! / round.bare!),
      most: OF_BARE,
    },
    ...growth('checkout', shops, p50),
  ]
}

/** An order with an id and a buyer of its own, of each product in turn. */
const statement = MAKE_ORDER(
  orderId(':n'),
  `'buyer' || (:n::bigint % ${REQUESTS}) || '@example.com'`,
  // the numbers of one client lie 32 apart
  productId(`:n::bigint / 32 % ${products.length}`),
)

/** How much slower one request alone is with the many orders than with the few. */
export function growth(what: string, shops: Stage['shops'], p50: Round[]): Result[] {
  const [few, many] = shops
  if (!few || !many) return []
  const name = `${what}: p50 alone with ${many.orders} orders, of that with ${few.orders}`
  const value = medianOf(p50, (round) => round[many.orders]! / round[few.orders]!)
  return [{ name, value, most: 1.3, parts: medians(p50) }]
}
