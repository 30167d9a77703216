import { razorpaySignature } from '../stand-ins/razorpay-server.ts'
import { stripeBanks } from './bank-records.ts'
import { skipTime } from './clock.ts'
import type { Random } from './random.ts'
import type { Run } from './run.ts'

// Events for all orders: notifications in any order, processors that are down, clocks, our own jobs.

/** The delivery of notifications from now on. `deliver` can still send held ones. */
export function changePost(run: Run, random: Random): string {
  const { stripe, razorpay } = run.world
  const how = random.weighted({ now: 3, twice: 1, slow: 1, never: 2 })
  stripe.knobs.notify = how === 'never' ? 'never' : 'now'
  stripe.knobs.sending = { times: how === 'twice' ? 2 : 1 }
  Object.assign(razorpay.notifying, {
    when: how === 'never' ? 'never' : 'now',
    times: how === 'twice' ? 2 : 1,
    lateMs: how === 'slow' ? 20 : 0,
  })
  return `notifications come: ${how}`
}

/** Some of all there ever were, in any order, whether they came before or not. */
export async function deliver(run: Run, random: Random): Promise<string | undefined> {
  const notifications = notificationsOf(run)
  if (notifications.length === 0) return undefined
  const some = random.some(notifications, 6)
  if (random.chance(0.5)) await Promise.all(some.map(({ send }) => send()))
  else for (const { send } of some) await send()
  return `notifications, perhaps again: ${some.map(({ type }) => type).join(', ')}`
}

export interface Notification {
  id: string
  type: string
  /** How it was answered: 0 for not at all. */
  send(): Promise<number>
}

export function notificationsOf({ world: { stripe, razorpay }, since }: Run): Notification[] {
  return [
    ...stripe.events.slice(since.events).map((event) => ({
      id: event['id'],
      type: event['type'],
      async send() {
        await stripe.send(event, {})
        return stripe.deliveries.findLast(({ id }) => id === event['id'])?.status ?? 0
      },
    })),
    ...razorpay.notifications.slice(since.notifications).map((one) => ({
      id: one.id,
      type: one.event,
      send: () => razorpay.again(one),
    })),
  ]
}

/** An attacker without the secret, or with an old notification, says that an order was paid. */
export async function forge(run: Run, random: Random): Promise<string | undefined> {
  const { stripe } = run.world
  const id = random.pickAny(run.orders.flatMap(({ payments }) => [...payments]))
  if (id === undefined) return undefined
  if (run.world.way === 'razorpay-route') return forgeTransfer(run, id)
  const object = { id, object: 'payment_intent', status: 'succeeded', amount_received: 1 }
  const event = { ...envelope('payment_intent.succeeded', object), id: 'evt_forged' }
  const lie = random.pick([{ secret: 'whsec_guessed' }, { ageSeconds: 3600 }, { ageSeconds: -3600 }])
  const { body, headers } = stripe.signed(event, lie)
  const { status } = await run.call('POST', '/api/webhooks/stripe', body, headers)
  if (status !== 400 && status !== 0) run.problems.push(`a forged notification was answered with ${status}`)
  return `a forged notification: ${JSON.stringify(lie)}`
}

/** The same where only Razorpay tells: that the money of an order has gone on. */
async function forgeTransfer(run: Run, source: string): Promise<string> {
  const entity = { id: 'trf_Forged00000000', source, status: 'processed', amount: 100, currency: 'INR' }
  const body = JSON.stringify({ entity: 'event', event: 'transfer.processed', payload: { transfer: { entity } } })
  const headers = { 'x-razorpay-signature': razorpaySignature(body, 'guessed'), 'x-razorpay-event-id': 'forged' }
  const { status } = await run.call('POST', '/api/webhooks/razorpay', body, headers)
  if (status !== 400 && status !== 0) run.problems.push(`a forged notification was answered with ${status}`)
  return 'a forged notification about a transfer'
}

/** In the form of another version of the API, genuine, and not true: only the processor itself is believed. */
export async function tellStrangely(run: Run, random: Random): Promise<string | undefined> {
  const { stripe, way } = run.world
  if (way === 'razorpay-route') return undefined
  const id = random.pickAny(run.orders.flatMap(({ payments }) => [...payments]).filter((one) => one.startsWith('pi_')))
  const object = random.pick([
    { id: id ?? 'pi_stranger', object: 'payment_intent', status: 'succeeded', charges: { data: [{ paid: true }] } },
    { id: 'ch_old', object: 'charge', payment_intent: id ?? null, paid: true, refunded: true, amount: '1' },
    { id: 'pi_of_nobody', object: 'payment_intent', status: 'succeeded' },
  ])
  const type = random.pick(['payment_intent.succeeded', 'charge.refunded', 'charge.dispute.created', 'charge.novelty'])
  await stripe.send({ ...envelope(type, object), api_version: random.pick(['2014-01-31', '2099-01-01.future']) })
  return `a notification of another version: ${type} about a ${object.object}`
}

const envelope = (type: string, object: object) => ({
  id: `evt_strange${(strange += 1)}`,
  object: 'event',
  api_version: '2026-10-28.endive',
  created: Math.floor(Date.now() / 1000),
  data: { object },
  livemode: false,
  type,
})
let strange = 0

/** The processors fail the next requests, or work slowly, or refuse usual requests. */
export function failProcessor(run: Run, random: Random): string {
  const { stripe, razorpay } = run.world
  run.world.troubles()
  const times = random.whole(1, 4)
  const what = random.weighted({ stripe: 6, razorpay: 5, slow: 1, refunds: 1, pages: 1, hang: 0.03 })
  switch (what) {
    case 'stripe': {
      const fault = random.pick(['drop', 'done then drop', '500', 'done then 500', '429', '503 html', 'null'] as const)
      const matching = random.pick(['', 'POST', '/v1/refunds', '/v1/charges'])
      stripe.fail(fault, { times, match: ({ method, path }) => `${method} ${path}`.includes(matching) })
      return `stripe fails ${times} requests${matching && ` to ${matching}`}: ${fault}`
    }
    case 'razorpay': {
      const fault = random.pick(['drop', 'drop_after', 'server_error', 'rate_limited', 'html', 'cut', 'empty'] as const)
      const on = random.pick([/./, /POST/, /refund/, /payments/])
      razorpay.break(on, fault, times)
      return `razorpay fails ${times} requests to ${on}: ${fault}`
    }
    case 'hang':
      stripe.fail('done then hang')
      razorpay.break(/./, 'hang_after')
      return 'the next answer of each processor never comes'
    case 'slow':
      stripe.knobs.delayMs = razorpay.delayMs = 25
      return 'the processors are slow'
    case 'refunds': {
      const refuses = random.chance(0.5)
      for (const bank of stripeBanks(stripe)) Object.assign(bank, { refundsBegin: 'pending', refusesRefunds: refuses })
      razorpay.refundsBecome = 'pending'
      return 'refunds wait, or are refused'
    }
    case 'pages':
      stripe.knobs.pageSize = 1
      razorpay.receipts = random.pick(['refused', 'ignored', 'unknown_field'] as const)
      return 'lists come one by one, and receipts are handled otherwise'
  }
}

/** The processors work again, and the seconds have passed for which they were left alone. */
export function mendProcessor(run: Run): string {
  run.world.works()
  skipTime(11_000)
  return 'the processors work again'
}

/** Our own job, at any moment, also on two services at once. */
export async function syncDue(run: Run, random: Random): Promise<string> {
  const due = random.some(run.orders, run.orders.length).map(({ orderId }) => orderId)
  await run.world.client.query(
    // locked in the same order as in the service, so that there is no deadlock
    `update orders set due_at = now() where id in (
       select id from orders where email = $2 and (id = any($1) or due_at is not null) order by id for update)`,
    [due, run.email],
  )
  const times = random.chance(0.3) ? 2 : 1
  await Promise.all(Array.from({ length: times }, () => run.world.syncDue()))
  return `the reconciler looks at what is due${times > 1 ? ', twice at once' : ''}`
}

/** Time passes for the orders of this run, or jumps back by a while. */
export async function passTime(run: Run, random: Random): Promise<string> {
  const hours = random.pick([-3, 0.2, 1, 7, 23, 25, 80, 200, 800])
  for (const checkout of run.checkouts) checkout.ageHours += Math.max(0, hours)
  await run.world.client.query(
    `update orders set created_at = created_at - $2::float * interval '1 hour', paid_at = paid_at - $2::float * interval '1 hour',
       expires_at = expires_at - $2::float * interval '1 hour', due_at = due_at - $2::float * interval '1 hour',
       sync_after = case when isfinite(sync_after) then sync_after - $2::float * interval '1 hour' else sync_after end
     where id in (select id from orders where email = $1 order by id for update)`,
    [run.email, hours],
  )
  if (hours > 24) run.world.stripe.forgetKeys()
  return `${hours} hours pass`
}
