import { sql } from 'kysely'
import { batched } from '../../kit/batch.ts'
import { type Db, isDatabaseOutage, genericPlanArray, retryConflicts } from '../../kit/database.ts'
import { newId } from '../../kit/ids.ts'
import { MOST_DECLINES } from '../../processors/processor.ts'

/** One try to have an order paid at one processor. */
export interface Attempt {
  /** Ours, and the processor's idempotency key. */
  id: string
  processor: string
  /** Known once the processor has answered. */
  processorPaymentId: string | null
}

export interface Attempts {
  /**
   * The order's one live attempt, made at `processor` if there is none. Undefined when the order takes no payment any more. One
   * that was begun elsewhere stays there, whoever comes first in the settings by now: two could both be paid.
   */
  liveFor(order: { orderId: string; processor: string }): Promise<Attempt | undefined>
  /**
   * The processor answered: from now on its notifications find the order. Gives the payment that is noted, which is another
   * one where a request at the same moment was faster and the processor has made two: nobody may pay ours then.
   */
  noteStarted(started: { id: string; processorPaymentId: string }): Promise<string>
}

type Wanted = Parameters<Attempts['liveFor']>[0]
type Started = Parameters<Attempts['noteStarted']>[0]
const AT_ONCE = { most: 64, atOnce: 2, isOutage: isDatabaseOutage }

/** Keeps the attempts. Those that are asked for together share a statement. */
export function attemptKeeper(db: Db): Attempts {
  return {
    liveFor: batched((wanted: readonly Wanted[]) => retryConflicts(() => liveFor(db, wanted)), AT_ONCE),
    noteStarted: batched((started: readonly Started[]) => retryConflicts(() => noteStarted(db, started)), AT_ONCE),
  }
}

/**
 * The orders are locked while their states are read: a settlement under way would otherwise end an old attempt first and let a
 * paid order have a new one.
 */
async function liveFor(db: Db, wanted: readonly Wanted[]): Promise<(Attempt | undefined)[]> {
  const orders = wanted.map(({ orderId }) => orderId)
  const processors = wanted.map(({ processor }) => processor)
  const { rows: made } = await sql<Attempt & { orderId: string }>`
    insert into payments (id, order_id, processor)
    select w.id, o.id, w.processor
    from unnest(${wanted.map(() => newId('pay'))}::text[], ${genericPlanArray(orders, 'text')}, ${processors}::text[]) as w(id, order_id, processor)
    join orders o on o.id = w.order_id and o.state in ('pending', 'processing')
    where not exists (select from payments d where d.order_id = o.id and d.declines >= ${MOST_DECLINES})
    order by o.id for share of o
    on conflict (order_id) where state in ('starting', 'open', 'processing') do nothing
    returning id, order_id as "orderId", processor, processor_payment_id as "processorPaymentId"`.execute(db)
  const found = new Map(made.map((attempt) => [attempt.orderId, attempt]))
  if (found.size < wanted.length) for (const one of await readLive(db, orders)) found.set(one.orderId, one)
  return orders.map((orderId) => found.get(orderId))
}

async function readLive(db: Db, orders: readonly string[]): Promise<(Attempt & { orderId: string })[]> {
  const { rows } = await sql<Attempt & { orderId: string }>`
    select id, order_id as "orderId", processor, processor_payment_id as "processorPaymentId"
    from payments where order_id = any(${orders}) and state in ('starting', 'open', 'processing')`.execute(db)
  return rows
}

async function noteStarted(db: Db, started: readonly Started[]): Promise<string[]> {
  const ids = started.map(({ id }) => id)
  // the ids twice, and no word of the state: any other plan than by the ids reads every payment that is open
  const { rows: noted } = await sql<Started>`
    update payments p set processor_payment_id = s.payment, state = 'open'
    from unnest(${ids}::text[], ${started.map(({ processorPaymentId }) => processorPaymentId)}::text[])
      as s(id, payment)
    where p.id = any(${ids}) and p.id = s.id and p.processor_payment_id is null
    returning p.id, p.processor_payment_id as "processorPaymentId"`.execute(db)
  const found = new Map(noted.map((one) => [one.id, one.processorPaymentId]))
  if (found.size < started.length) {
    const { rows: before } = await sql<Started>`
      select id, processor_payment_id as "processorPaymentId" from payments
      where id = any(${ids}) and processor_payment_id is not null`.execute(db)
    for (const one of before) found.set(one.id, one.processorPaymentId)
  }
  return started.map(({ id, processorPaymentId }) => found.get(id) ?? processorPaymentId)
}
