import { derivedKey } from '../src/kit/signing.ts'
import { newNotification, signature } from '../src/processors/sandbox/notify.ts'
import { growth } from './checkout.ts'
import { SELLER_ACCOUNT, openOrders } from './fill.ts'
import { type Heard, load, once, wire } from './load.ts'
import type { Result } from './report.ts'
import { WARM_UP_SECONDS, byTurns, medianOf, medians } from './rounds.ts'
import { SECRET } from './service.ts'
import { AMOUNT_MINOR, CURRENCY, idIn, settlePayment } from './sql.ts'
import type { Shop, Stage } from './stage.ts'
import { statementsPerSecond } from './statements.ts'
import { query } from './world.ts'

const SECONDS = 3
const SECONDS_ALONE = 1
/** More than any side settles in that time, of which 32 clients of pgbench may be apart. */
const ORDERS_A_SECOND = 10_000
const ORDERS_A_SECOND_ALONE = 2_000

/** A payment that was confirmed, from its signed notification to the commit: POST /api/webhooks/sandbox. */
export async function measurePayment({ world, busy, shops }: Stage): Promise<Result[]> {
  const { open, settle, settleAlone } = newPayments()
  for (const shop of shops) await settle(shop, 32, WARM_UP_SECONDS, ORDERS_A_SECOND)

  const statements = settlePayment(SELLER_ACCOUNT)
  const rate = await byTurns({
    statements: async () => {
      const first = await open(busy, SECONDS * ORDERS_A_SECOND)
      const perSecond = await statementsPerSecond(world, busy.database, { statements, first, seconds: SECONDS })
      await forgetJobs(busy)
      return perSecond
    },
    service: async () => (await settle(busy, 32, SECONDS, ORDERS_A_SECOND)).rate,
  })
  const p50 = await byTurns(Object.fromEntries(shops.map((shop) => [shop.orders, () => settleAlone(shop)])))
  return [
    {
      name: 'payment: confirmed a second, of the bare transactions',
      value: medianOf(rate, (round) => round.service! / round.statements!),
      least: 0.45,
      parts: medians(rate),
    },
    ...growth('payment', shops, p50),
  ]
}

/** Opens orders that were not used before, and sends the notifications that pay for them. */
export function newPayments() {
  let last = 0
  const open = async ({ database }: Shop, count: number): Promise<number> => {
    const first = last
    last += count
    await openOrders(database, first, last)
    return first
  }
  const settle = async (shop: Shop, connections: number, seconds: number, aSecond: number): Promise<Heard> => {
    const count = seconds * aSecond
    const first = await open(shop, count)
    const requests = Array.from({ length: count }, (_, at) => notification(first + at))
    const heard = await load({ port: shop.service.port, connections, seconds, next: once(requests), status: 200 })
    await forgetJobs(shop)
    return heard
  }
  /** The p50 of one notification after the other, in ms. */
  const settleAlone = async (shop: Shop) => (await settle(shop, 1, SECONDS_ALONE, ORDERS_A_SECOND_ALONE)).p50Ms
  return { open, settle, settleAlone }
}

const key = derivedKey(SECRET, 'sandbox webhook')

function notification(n: number): Buffer {
  const event = newNotification('payment.captured', {
    processorPaymentId: idIn('sbx_pi_', n),
    orderId: idIn('ord_01k', n),
    state: 'captured',
    rail: 'card',
    declines: 0,
    captures: [
      {
        id: idIn('sbx_ch_', n),
        amountMinor: AMOUNT_MINOR,
        currency: CURRENCY,
        rail: 'card',
        capturedAt: new Date().toISOString(),
      },
    ],
    refunds: [],
    disputes: [],
  })
  const body = JSON.stringify(event)
  const seconds = Math.floor(Date.now() / 1000)
  return wire('POST', '/api/webhooks/sandbox', body, signature(key, event.id, seconds, body))
}

/** The mails of one round must not be sent during the next. */
async function forgetJobs({ database }: Shop): Promise<void> {
  await query(database, `delete from pgboss.job where name in ('mail', 'bench') and state in ('created', 'retry')`)
}
