import { sql } from 'kysely'
import { type Db, inTransaction } from '../kit/database.ts'
import { type Log, errorForLog } from '../kit/log.ts'
import { moveOrderIfAllowed, noteEvents } from '../orders/move.ts'
import type { State } from '../orders/states.ts'
import type { Processor } from './processor.ts'
import type { Settle } from './settle.ts'
import { noteStarted } from './start.ts'

/** What asking a processor about an order needs. */
export interface Asking {
  db: Db
  processors: ReadonlyMap<string, Processor>
  settle: Settle
  log: Log
}

/** A buyer waits for the answer: the processor gets this long. */
const SYNC_BUDGET_MS = 4_000
/** One call an order in this time, over all instances, however many ask. */
const SYNC_PAUSE_SECONDS = 3
/** Orders looked at in one go, so that no lock is held long. */
const LOOKS_AT_ONCE = 20

/**
 * Asks the processor about an order now, for a buyer who waits (sync=1), and settles what it says. False when it was not
 * asked: nothing is open, another request is asking, or it was asked a moment ago; and when no answer came in time.
 */
export async function syncOrder({ db, processors, settle, log }: Asking, orderId: string): Promise<boolean> {
  const { rows } = await sql<{ processor: string; processorPaymentId: string }>`
    update orders o set sync_after = now() + make_interval(secs => ${SYNC_BUDGET_MS / 1000})
    from payments p
    where o.id = ${orderId} and o.state in ('pending', 'processing', 'expired') and o.sync_after <= now()
      and p.id = (select id from payments where order_id = o.id and processor_payment_id is not null order by id desc limit 1)
    returning p.processor, p.processor_payment_id as "processorPaymentId"`.execute(db)
  const claim = rows[0]
  const processor = claim && processors.get(claim.processor)
  if (!processor) return false
  try {
    const payment = await inTime(processor.fetchPayment(claim.processorPaymentId), SYNC_BUDGET_MS)
    await settle({ processor: processor.name, payment })
    return true
  } catch (error) {
    log.warn({ orderId, ...errorForLog(error) }, 'the processor could not be asked')
    return false
  } finally {
    const early = SYNC_BUDGET_MS / 1000 - SYNC_PAUSE_SECONDS
    await sql`update orders set sync_after = sync_after - make_interval(secs => ${early}) where id = ${orderId}`.execute(
      db,
    )
  }
}

interface Due {
  id: string
  state: State
  over: boolean
}

/**
 * Looks at every order that should have moved and has not: asks the processor, settles what it says, and ends an order whose
 * time is over and whose buyer has certainly not paid. So a shop whose notifications never arrive still delivers. The pauses
 * between looks at one order double with its age. Returns how many orders were looked at.
 */
export async function reconcileDue(asking: Asking): Promise<number> {
  let looked = 0
  for (;;) {
    const due = await claimDue(asking.db)
    if (due.length === 0) return looked
    looked += due.length
    for (const order of due) {
      try {
        await lookAt(asking, order)
      } catch (error) {
        asking.log.warn(
          { orderId: order.id, ...errorForLog(error) },
          'an order could not be looked at, and will be again',
        )
      }
    }
  }
}

/** Takes orders that are due, over all instances each once, and says when they are due again. */
async function claimDue(db: Db): Promise<Due[]> {
  const { rows } = await sql<Due>`
    update orders set due_at = case
      when state = 'expired' then null
      when expires_at > now() then least(expires_at, now() + greatest(interval '1 minute', least(interval '6 hours', now() - created_at)))
      else now() + interval '1 hour' end
    where id in (select id from orders where due_at <= now() order by due_at limit ${LOOKS_AT_ONCE} for update skip locked)
    returning id, state, expires_at <= now() as over`.execute(db)
  return rows
}

async function lookAt({ db, processors, settle }: Asking, order: Due): Promise<void> {
  const { rows: attempts } = await sql<Attempt>`
    select p.id, p.processor, p.processor_payment_id as "processorPaymentId",
      o.amount_minor as "amountMinor", o.currency, o.statement_descriptor as "statementDescriptor"
    from payments p join orders o on o.id = p.order_id where p.order_id = ${order.id} order by p.id`.execute(db)
  let bankAtWork = false
  for (const attempt of attempts) {
    const processor = processors.get(attempt.processor)
    // switched off meanwhile: whether the buyer paid there is not known, so the order is not ended
    if (!processor) throw new Error(`the processor ${attempt.processor} is not configured any more`)
    const id = attempt.processorPaymentId ?? (await startAgain(db, processor, order.id, attempt))
    let payment = await processor.fetchPayment(id)
    // the end of an order closes its payment first: nobody shall pay what we no longer wait for
    if (order.over && order.state !== 'expired' && payment.state === 'open') payment = await processor.cancelPayment(id)
    await settle({ processor: processor.name, payment })
    bankAtWork ||= payment.state === 'processing'
  }
  if (!order.over || bankAtWork) return
  await inTransaction(db, async (tx) => {
    if (await moveOrderIfAllowed(tx, order.id, 'expire')) await noteEvents(tx, [{ orderId: order.id, what: 'expired' }])
  })
}

interface Attempt {
  id: string
  processor: string
  processorPaymentId: string | null
  amountMinor: number
  currency: string
  statementDescriptor: string
}

/** We died, or the answer was lost, before the payment's id was noted: the same key finds the same payment. */
async function startAgain(db: Db, processor: Processor, orderId: string, attempt: Attempt): Promise<string> {
  const { id: key, amountMinor, currency, statementDescriptor } = attempt
  const { processorPaymentId } = await processor.startPayment({
    key,
    orderId,
    amountMinor,
    currency,
    statementDescriptor,
  })
  await noteStarted(db, key, processorPaymentId)
  return processorPaymentId
}

async function inTime<T>(work: Promise<T>, budgetMs: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error('no answer in time')), budgetMs)
  })
  try {
    return await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
  }
}
