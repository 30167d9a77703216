import { sql } from 'kysely'
import { batched } from '../../kit/batch.ts'
import { type Db, isDatabaseOutage, retryConflicts } from '../../kit/database.ts'
import { genericPlanArray } from '../../kit/plans.ts'
import { newId } from '../../kit/ids.ts'
import type { FirstAttempts } from '../../orders/new-order.ts'
import { MOST_DECLINES } from '../../processors/processor.ts'

/** One try to pay an order at one processor. */
export interface Attempt {
  /** Our id, which is also the idempotency key for the processor. */
  id: string
  processor: string
  /** Null until the processor has answered. */
  processorPaymentId: string | null
}

export interface Attempts {
  /**
   * Returns the order's one live attempt, or makes one at `processor`. Undefined when the order takes no payment any more. A live
   * attempt stays at its processor even if the settings prefer another one now, because the buyer could pay both.
   */
  liveFor(order: { orderId: string; processor: string }): Promise<Attempt | undefined>
  /**
   * Stores the processor's id of the payment, so that its notifications find the order. Returns the stored id. It is another one when
   * a simultaneous request was faster and the processor has made two payments. The caller must then not give ours to the buyer.
   */
  noteStarted(started: { id: string; processorPaymentId: string }): Promise<string>
}

type NewAttempt = Parameters<Attempts['liveFor']>[0]
type Started = Parameters<Attempts['noteStarted']>[0]
const AT_ONCE = { most: 64, atOnce: 2, isOutage: isDatabaseOutage }

/** Reads and writes the attempts. Requests that arrive together share a statement. */
export function attemptKeeper(db: Db): Attempts {
  return {
    liveFor: batched((requests: readonly NewAttempt[]) => retryConflicts(() => liveFor(db, requests)), AT_ONCE),
    noteStarted: batched((started: readonly Started[]) => retryConflicts(() => noteStarted(db, started)), AT_ONCE),
  }
}

/**
 * Begins attempts within the statement that makes the orders: no other transaction knows these orders yet, so it needs no lock. The order's
 * currency decides at which processor, by `processorOf`. An order in a currency that no order had since the start gets its attempt by
 * `liveFor`, as does an order that is paid at its seller's connected account.
 */
export function firstAttempts(processorOf: (currency: string) => string | undefined): FirstAttempts {
  const currencies = new Set<string>()
  return {
    noteCurrency: (currency) => void currencies.add(currency),
    insert: (made, given) => sql`
      insert into payments (id, order_id, processor)
      select w.id, m.id, r.processor
      from ${made} m
        join unnest(${genericPlanArray(given('attemptOrders'), 'text')}, ${genericPlanArray(given('attemptIds'), 'text')})
          as w(order_id, id) on w.order_id = m.id
        join unnest(${genericPlanArray(given('routeCurrencies'), 'text')}, ${genericPlanArray(given('routeProcessors'), 'text')})
          as r(currency, processor) on r.currency = m.currency
      where m."connectedAccount" is null
      returning id, order_id, processor`,
    columnsFor(orderIds) {
      const routes = [...currencies].flatMap((currency) => {
        const processor = processorOf(currency)
        return processor === undefined ? [] : [{ currency, processor }]
      })
      return {
        attemptOrders: orderIds,
        attemptIds: orderIds.map(() => newId('pay')),
        routeCurrencies: routes.map(({ currency }) => currency),
        routeProcessors: routes.map(({ processor }) => processor),
      }
    },
  }
}

/**
 * Locks the orders while it reads their states. Otherwise a settle under way could end an old attempt first, and a paid order would
 * get a new attempt.
 */
async function liveFor(db: Db, requests: readonly NewAttempt[]): Promise<(Attempt | undefined)[]> {
  const orders = requests.map(({ orderId }) => orderId)
  const processors = requests.map(({ processor }) => processor)
  const { rows: made } = await sql<Attempt & { orderId: string }>`
    insert into payments (id, order_id, processor)
    select w.id, o.id, w.processor
    from unnest(${requests.map(() => newId('pay'))}::text[], ${genericPlanArray(orders, 'text')}, ${processors}::text[]) as w(id, order_id, processor)
    join orders o on o.id = w.order_id and o.state in ('pending', 'processing')
    where not exists (select from payments d where d.order_id = o.id and d.declines >= ${MOST_DECLINES})
    order by o.id for share of o
    on conflict (order_id) where state in ('starting', 'open', 'processing') do nothing
    returning id, order_id as "orderId", processor, processor_payment_id as "processorPaymentId"`.execute(db)
  const found = new Map(made.map((attempt) => [attempt.orderId, attempt]))
  if (found.size < requests.length) for (const one of await readLive(db, orders)) found.set(one.orderId, one)
  return orders.map((orderId) => found.get(orderId))
}

/** Leaves out orders that an earlier attempt has paid meanwhile. */
async function readLive(db: Db, orders: readonly string[]): Promise<(Attempt & { orderId: string })[]> {
  const { rows } = await sql<Attempt & { orderId: string }>`
    select p.id, p.order_id as "orderId", p.processor, p.processor_payment_id as "processorPaymentId"
    from payments p join orders o on o.id = p.order_id
    where p.order_id = any(${orders}) and p.state in ('starting', 'open', 'processing')
      and o.state in ('pending', 'processing')`.execute(db)
  return rows
}

async function noteStarted(db: Db, started: readonly Started[]): Promise<string[]> {
  const ids = started.map(({ id }) => id)
  // the ids stand here twice, and the state is left out, so that the plan uses the ids and does not read every open payment
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
