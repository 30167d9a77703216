import { sql } from 'kysely'
import { type Db, inTransaction } from '../../kit/database.ts'
import { type Jobs, TryLater } from '../../kit/jobs.ts'
import { keptOf } from '../../ledger/passed-on.ts'
import { chargedBackMinor } from '../../orders/returned-money.ts'
import type { Processor } from '../../processors/processor.ts'
import { ProcessorUnavailable } from '../../processors/refusals.ts'
import type { Syncing } from '../sync/sync.ts'
import { TRIES, ordersWithJob } from './tries.ts'

// Where the processor passes money on to a seller's account, the seller's part of a refund or a lost dispute comes back from there. The
// amount to take is never stored: it is the money there less the money that belongs there, read just before. So a repeat, a
// crash and a lost answer take nothing twice. The processor has no key for such requests, and the lease lets one run at a time.

/** Longer than any request to a processor is under way. */
const LEASE_SECONDS = 60
/** A refund waits this long for the processor to pass the price on. It does so within seconds, or fails. */
const WAIT_MINUTES = 60

interface Taking {
  processor: string
  processorPaymentId: string
  saleMinor: number
  feeMinor: number
  /** Refunds that succeeded, lost disputes, and the refunds that are asked for now. */
  returnedMinor: number
  hasSale: boolean
  waits: boolean
  /** The amounts known to be back, by the transfer's id. */
  reversedMinor: Record<string, number>
}

/** Registers the job that takes back money at a seller's account that does not belong there any more. */
export async function registerTakeBacks(jobs: Jobs, syncing: Syncing): Promise<void> {
  await jobs.on<{ orderId: string }>('take_back', { ...TRIES, atOnce: 2 }, ({ orderId }) => takeBack(syncing, orderId))
}

/**
 * Takes the seller's part back from the seller's account, before the buyer gets the money. Does nothing for other orders. Fails with
 * ProcessorUnavailable: the account may not have the money any more.
 */
export async function takeBack(syncing: Syncing, orderId: string): Promise<void> {
  const { db, processors, settle } = syncing
  if (!(await notePassFirst(syncing, orderId))) return
  const { rows } = await sql<{ until: string }>`
    update passes set taking_until = ${leaseEnd} where order_id = ${orderId} and (taking_until is null or taking_until <= now())
    returning taking_until::text as until`.execute(db)
  if (!rows[0]) throw new TryLater('the part of this order is being taken back')
  let { until } = rows[0]
  let isClear = true
  try {
    for (const taking of await takingsOf(db, orderId)) {
      const processor = processors.get(taking.processor)
      if (!processor?.takeBack) throw new Error(`the processor of ${orderId} is not configured any more`)
      until = await extendLease(db, orderId, until)
      const payment = await ask(processor, taking)
      await settle({ processor: processor.name, payment })
    }
  } catch (error) {
    // a request whose answer is lost may still be under way: the lease ends by itself
    isClear = error instanceof ProcessorUnavailable && error.answered
    throw error
  } finally {
    if (isClear)
      await sql`
        update passes set taking_until = null where order_id = ${orderId} and taking_until = ${until}::timestamptz`.execute(
        db,
      )
  }
}

const leaseEnd = sql`clock_timestamp() + make_interval(secs => ${LEASE_SECONDS})`

/** The lease covers one request. A try that has lost the lease makes no more requests. */
async function extendLease(db: Db, orderId: string, until: string): Promise<string> {
  const { rows } = await sql<{ until: string }>`
    update passes set taking_until = ${leaseEnd}
    where order_id = ${orderId} and taking_until = ${until}::timestamptz and taking_until > now()
    returning taking_until::text as until`.execute(db)
  if (!rows[0]) throw new TryLater('the part of this order is being taken back by another try')
  return rows[0].until
}

/** Whether the processor passes the order's price on. Settle notes the passed amount with the capture; otherwise this asks for it. */
async function notePassFirst({ db, processors, settle }: Syncing, orderId: string): Promise<boolean> {
  const isNoted = async () => (await sql`select from passes where order_id = ${orderId}`.execute(db)).rows.length > 0
  if (await isNoted()) return true
  const takings = await takingsOf(db, orderId)
  if (takings.length === 0) return false
  for (const { processor: name, processorPaymentId } of takings) {
    const processor = processors.get(name)
    if (!processor) throw new Error(`the processor of ${orderId} is not configured any more`)
    await settle({ processor: name, payment: await processor.fetchPayment(processorPaymentId) })
  }
  if (!(await isNoted())) throw new TryLater('the processor has not said yet how much of this order it passed on')
  return true
}

function ask(processor: Processor, taking: Taking) {
  const { processorPaymentId, saleMinor, feeMinor, returnedMinor, hasSale, waits, reversedMinor } = taking
  const leaveMinor = hasSale ? keptOf({ saleMinor, feeMinor, returnedMinor }) : 0
  return processor.takeBack!({ processorPaymentId, leaveMinor, waits, reversedMinor })
}

/**
 * The order's paid payments, each of which may have gone on. Of all but the sale everything comes back. A refund that has been asked for
 * counts as returned: if it fails after all, the seller is owed its part.
 */
async function takingsOf(db: Db, orderId: string): Promise<Taking[]> {
  const { rows } = await sql<Taking>`
    select p.processor, p.processor_payment_id as "processorPaymentId", o.amount_minor as "saleMinor", o.fee_minor as "feeMinor",
      c.processor_capture_id is not null as "hasSale",
      (${chargedBackMinor} + (select coalesce(sum(r.amount_minor), 0) from refunds r
        where r.processor = c.processor and r.processor_capture_id = c.processor_capture_id
          and (r.state = 'succeeded' or (r.state = 'requested' and r.asked_at is not null))))::bigint as "returnedMinor",
      exists (select from refunds r where r.order_id = o.id and r.state = 'requested'
        and r.created_at > now() - make_interval(mins => ${WAIT_MINUTES})) as waits,
      (select coalesce(jsonb_object_agg(t.processor_transfer_id, t.reversed_minor), '{}') from processor_transfers t
        where t.order_id = o.id and t.processor = p.processor) as "reversedMinor"
    from orders o join payments p on p.order_id = o.id and exists (select from captures a where a.payment_id = p.id)
    left join captures c on c.payment_id = p.id and c.purpose = 'sale'
    where o.id = ${orderId} and o.connected_account like p.processor || '@%' order by p.id`.execute(db)
  return rows
}

/** The first looks come soon, since only a notification was lost. Later ones are for faults that a person repairs. */
const LOOKS_AFTER = ['5 minutes', '30 minutes', '3 hours', '12 hours']
/** From the last change of an order's amounts. */
export const LOOK_DAYS = 90
const LOOKS_AT_ONCE = 50

/**
 * Asks again about orders whose passed amount is not the due amount: the notification of a transfer was lost, the transfer failed,
 * or the money could not be taken back yet.
 */
export async function lookAtPasses({ db, processors, settle, log }: Syncing, jobs: Jobs): Promise<void> {
  const { rows } = await sql<{ orderId: string; processor: string; processorPaymentId: string }>`
    with due as (
      update passes set looks = looks + 1, look_at = now() + coalesce((${LOOKS_AFTER}::text[])[looks + 1], '1 day')::interval
      where order_id in (
        select order_id from passes where due_minor <> passed_minor and look_at <= now()
          and changed_at > now() - make_interval(days => ${LOOK_DAYS})
        order by look_at limit ${LOOKS_AT_ONCE} for update skip locked)
      returning order_id)
    select distinct d.order_id as "orderId", p.processor, p.processor_payment_id as "processorPaymentId"
    from due d join captures c on c.order_id = d.order_id join payments p on p.id = c.payment_id`.execute(db)
  for (const { orderId, processor: name, processorPaymentId } of rows) {
    try {
      const processor = processors.get(name)
      if (!processor) continue
      await settle({ processor: name, payment: await processor.fetchPayment(processorPaymentId) })
    } catch (error) {
      log.warn(
        { orderId, err: (error as Error).message },
        'the service could not check how much of an order was passed on',
      )
    }
  }
  await takeAgain(db, jobs, rows.map(({ orderId }) => orderId)) // oxfmt-ignore
}

/** The job for it may have ended its tries. */
async function takeAgain(db: Db, jobs: Jobs, orderIds: readonly string[]): Promise<void> {
  if (orderIds.length === 0) return
  await inTransaction(db, async (tx) => {
    const { rows } = await sql<{ orderId: string }>`
      select order_id as "orderId" from passes where order_id = any(${orderIds}::text[]) and passed_minor > due_minor
        and order_id not in ${ordersWithJob(sql`'take_back'`)}`.execute(tx)
    await jobs.add(
      tx,
      'take_back',
      rows.map((data) => ({ data })),
    )
  })
}
