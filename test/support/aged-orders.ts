import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { sql } from 'kysely'
import type { Created } from '../../src/checkout/schema.ts'
import type { Jobs } from '../../src/kit/jobs.ts'
import { newLog } from '../../src/kit/log.ts'
import type { Processor } from '../../src/processors/processor.ts'
import { registerRefundJobs } from '../../src/payments/refunds/refund.ts'
import { settler } from '../../src/payments/settle/settle.ts'
import { query } from '../stand-ins/processor.ts'
import { newBrowser } from './seller.ts'
import { type TestShop, eventually } from './shop.ts'
import { intentOf, startStripeShop } from './stripe-shop.ts'

// Orders moved in time, refunds that wait, and their jobs.

export const BOB = 'bob@example.com'
export const KEY = { 'idempotency-key': 'the-same-key-each-time' }

/** Moves an order's times: to be looked at now, made `ageHours` ago, its time over or not. */
export const due = (shop: TestShop, { orderId }: { orderId: string }, { ageHours = 0, over = false } = {}) =>
  sql`update orders set due_at = now() - interval '1 second', created_at = created_at - make_interval(hours => ${ageHours}),
      paid_at = paid_at - make_interval(hours => ${ageHours}),
      expires_at = case when ${over} then now() - interval '1 second' else expires_at end where id = ${orderId}`.execute(
    shop.db,
  )

export const dueOf = async (shop: TestShop, { orderId }: { orderId: string }): Promise<Date | null> =>
  (await query<{ dueAt: Date | null }>(shop.db, sql`select due_at as "dueAt" from orders where id = ${orderId}`))[0]!
    .dueAt

/** Syncs all due orders, and waits for those that the service's own clock took a moment before. */
export async function look(shop: TestShop, order: { orderId: string }): Promise<void> {
  await shop.syncDue()
  await eventually(
    () => dueOf(shop, order),
    (at) => at === null || at > new Date(),
  )
}

/** The seller's refunds of an order. */
export async function refunds(shop: TestShop) {
  const ann = newBrowser(shop)
  await ann.signInByCode('ann@shop.test')
  const path = ({ orderId }: Created) => `/api/orders/${orderId}/refunds`
  return {
    ask: (order: Created, body: object = {}) => ann.call('POST', path(order), body),
    statuses: async (order: Created): Promise<string[]> =>
      (await ann.call('GET', path(order))).body.items.map((one: { status: string }) => one.status),
  }
}

export const jobs = (shop: TestShop, state: string) =>
  query(shop.db, sql`select 1 from pgboss.job where name = 'refund' and state::text = ${state}`)

/** Waits for a try to fail, and lets the pause before the next one be over. Returns how many tries have failed. */
export async function tryAgainNow(shop: TestShop): Promise<number> {
  // in one statement, because the library can begin the next try by its own clock meanwhile
  const [waiting] = await eventually(
    () =>
      query<{ failed: number }>(
        shop.db,
        sql`
          with waiting as (update pgboss.job set start_after = now() - interval '1 second'
              where name = 'refund' and state = 'retry' returning retry_count),
            aged as (update refunds set asked_at = asked_at - interval '2 minutes' where exists (select from waiting))
          select retry_count + 1 as failed from waiting order by 1`,
      ),
    ({ length }) => length > 0,
  )
  await sql`select pg_notify('pgboss_' || left(encode(sha224('pgboss'::bytea), 'hex'), 24), 'refund')`.execute(shop.db)
  return waiting!.failed
}

/** Waits until more tries than `failed` of a refund have ended. */
export const triedAgain = (shop: TestShop, failed: number) =>
  eventually(
    () =>
      query(
        shop.db,
        sql`
          select 1 from pgboss.job where name = 'refund'
            and (state = 'completed' or (state in ('retry', 'failed') and retry_count + 1 > ${failed}))`,
      ),
    (ended) => ended.length > 0,
  )

export const elevenDaysAgo = (shop: TestShop) =>
  sql`update refunds set created_at = now() - interval '11 days', asked_at = asked_at - interval '4 hours'`.execute(
    shop.db,
  )

/** A paid order in a shop whose refunds are slow, for which the seller has requested one of 900. */
export async function refundUnderWay(t: TestContext) {
  const { shop, bank, server } = await startStripeShop(t)
  const order = await shop.checkout()
  bank.confirm(intentOf(order))
  await server.delivered()
  bank.refundsBegin = 'pending'
  const seller = await refunds(shop)
  assert.equal((await seller.ask(order, { amount: 900 })).status, 201)
  await eventually(
    () => jobs(shop, 'retry'),
    (waiting) => waiting.length > 0 && bank.refunds.length > 0,
  )
  return { shop, bank, server, order, seller }
}

/** The job that makes refunds, with processors that return the answers of the test; `mails` has the mails that it enqueued. */
export async function refundJob(shop: TestShop) {
  const mails: object[] = []
  let work: ((data: { refundId: string }, id: string) => Promise<void>) | undefined
  const queue = {
    on: async (_name: string, _options: object, handler: typeof work) => void (work = handler),
    add: async (_tx: unknown, name: string, added: { data: object }[]) => {
      if (name === 'mail') mails.push(...added.map(({ data }) => data))
    },
  } as unknown as Jobs
  const processors = new Map<string, Processor>()
  const settle = settler(shop.db, queue, { bankTtlHours: 1 })
  await registerRefundJobs(queue, { db: shop.db, processors, settle, log: newLog('silent') })
  /** One try. How it was put off, if it was. */
  const run = async (refundId: string, processor?: Pick<Processor, 'refund' | 'fetchPayment'>): Promise<unknown> => {
    processors.clear()
    if (processor) processors.set('sandbox', { name: 'sandbox', ...processor } as Processor)
    return work!({ refundId }, 'a job').catch((error: unknown) => error)
  }
  return { run, mails }
}
