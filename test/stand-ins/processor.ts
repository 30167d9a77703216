import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, before } from 'node:test'
import { type RawBuilder, sql } from 'kysely'
import type { Created } from '../../src/checkout/schema.ts'
import type { Db } from '../../src/kit/database.ts'
import { derivedKey } from '../../src/kit/signing.ts'
import type { Capture, PaymentSnapshot } from '../../src/processors/processor.ts'
import { signature } from '../../src/processors/sandbox/notify.ts'
import { openJobs } from '../support/jobs.ts'
import { type ShopOptions, SECRET, type TestShop, eventually, startTestShop } from '../support/shop.ts'

// A processor for tests: it returns the answers that the test sets, and counts its calls.

/** A processor's snapshot of an order's payment: open and without facts, except for `facts`. */
export async function snapshotOf(
  shop: TestShop,
  { orderId }: { orderId: string },
  facts: Partial<PaymentSnapshot> = {},
): Promise<PaymentSnapshot> {
  const { processorPaymentId } = await shop.sandboxPayment(orderId)
  return { processorPaymentId, orderId, state: 'open', declines: 0, captures: [], refunds: [], disputes: [], ...facts }
}

/** All that an order costs, captured, but for `differently`. */
export const captureOf = (order: Created, differently: Partial<Capture> = {}): Capture => ({
  id: `ch_${randomBytes(8).toString('hex')}`,
  amountMinor: order.amount,
  currency: order.currency,
  rail: 'card',
  capturedAt: new Date().toISOString(),
  ...differently,
})

interface Signing {
  id?: string
  secret?: string
  /** Unix time. */
  seconds?: number
}

export const newEventId = (): string => `evt_${randomBytes(8).toString('hex')}`

/** The headers that the processor would send with these bytes, by default. */
export const signed = (
  body: string,
  { id = newEventId(), secret = SECRET, seconds = Math.floor(Date.now() / 1000) }: Signing = {},
): Record<string, string> => signature(derivedKey(secret, 'sandbox webhook'), id, seconds, body)

/** A notification of just these bytes. */
export const sendRaw = (
  shop: TestShop,
  body: string,
  {
    headers = {},
    processor = 'sandbox',
    ...signing
  }: Signing & { headers?: Record<string, string>; processor?: string } = {},
) => shop.call('POST', `/api/webhooks/${processor}`, body, { ...signed(body, signing), ...headers })

/** Changes the sandbox's own data of an order's payment, without a notification. */
export async function changeSandbox(shop: TestShop, orderId: string, change: Partial<PaymentSnapshot>): Promise<void> {
  await sql`update sandbox_payments set payment = payment || ${JSON.stringify(change)}::jsonb
    where payment->>'orderId' = ${orderId}`.execute(shop.db)
}

const holding = new WeakMap<TestShop, Promise<unknown>>()

/**
 * Holds the sandbox's bank, for a payment or a refund of this order, until the test calls the returned function. A busy machine
 * would otherwise be slower than the bank.
 */
export async function holdBank(shop: TestShop, { orderId }: { orderId: string }): Promise<() => Promise<void>> {
  let ready = holding.get(shop)
  if (!ready) {
    ready = sql`
      create table held (payment_id text);
      create function hold_bank() returns trigger language plpgsql as $$ begin
        if exists (select from held where payment_id = new.data->>'id' for share) then new.start_after = now() + interval '1 hour'; end if;
        return new;
      end $$;
      create trigger hold_bank before insert on pgboss.job for each row
        when (new.name in ('sandbox_later', 'sandbox_refund')) execute function hold_bank()`.execute(shop.db)
    holding.set(shop, ready)
  }
  await ready
  const { processorPaymentId } = await shop.sandboxPayment(orderId)
  await sql`insert into held values (${processorPaymentId})`.execute(shop.db)
  return async () => {
    await sql`delete from held where payment_id = ${processorPaymentId}`.execute(shop.db)
    await sql`
      with due as (
        update pgboss.job set start_after = now()
        where name in ('sandbox_later', 'sandbox_refund') and data->>'id' = ${processorPaymentId} returning name)
      select pg_notify('pgboss_' || left(encode(sha224('pgboss'::bytea), 'hex'), 24), name) from due`.execute(shop.db)
  }
}

/** From now on the database itself notes every request to the sandbox about a payment, by any instance. */
export async function watchAsking(shop: TestShop): Promise<(orderId: string) => Promise<Date[]>> {
  await sql`
    create table asked (order_id text, at timestamptz);
    create function note_asked(text) returns boolean language plpgsql as $$ begin
      insert into asked values ($1, clock_timestamp());
      return true;
    end $$;
    create policy noted on sandbox_payments using (note_asked(payment->>'orderId')) with check (true);
    alter table sandbox_payments enable row level security;
    alter table sandbox_payments force row level security`.execute(shop.db)
  return async (orderId) => {
    const { rows } = await sql<{ at: Date }>`select at from asked where order_id = ${orderId} order by at`.execute(
      shop.db,
    )
    return rows.map(({ at }) => at)
  }
}

/** The subjects of all mails to an order's buyer, or its seller, once every one that was promised has been sent. */
export async function mailsAbout(
  shop: TestShop,
  { orderId }: { orderId: string },
  to: 'buyer' | 'seller' = 'buyer',
): Promise<string[]> {
  await eventually(
    () => query(shop.db, sql`select from ${openJobs} as j where name = 'mail' and data->>'orderId' = ${orderId}`),
    (waiting) => waiting.length === 0,
  )
  const mails = await query<{ subject: string }>(
    shop.db,
    sql`select b.subject from outbox b join orders o on o.id = ${orderId} join sellers s on s.id = o.seller_id
      where b.text like ${`%${orderId}%`} and b.recipient = case ${to} when 'buyer' then o.email else s.email end
      order by b.sent_at, b.subject`,
  )
  return mails.map(({ subject }) => subject)
}

export const RECEIPT = 'Your receipt: A book'

export async function query<Row>(db: Db, statement: RawBuilder<unknown>): Promise<Row[]> {
  return (await statement.execute(db)).rows as Row[]
}

/** `count` times the same at once. */
export const times = <T>(count: number, work: (i: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: count }, (_, i) => work(i)))

/** Two services on one database for all tests of a file. */
export function sharedPair(options: ShopOptions = {}): () => [TestShop, TestShop] {
  const ends: (() => unknown)[] = []
  const t = { after: (end: () => unknown) => void ends.push(end) }
  let pair: [TestShop, TestShop] | undefined
  before(async () => {
    const shop = await startTestShop(t, options)
    pair = [shop, await startTestShop(t, { ...options, databaseUrl: shop.databaseUrl })]
  })
  after(async () => {
    for (const end of ends.reverse()) await end()
  })
  return () => {
    assert(pair, 'the services did not start')
    return pair
  }
}
