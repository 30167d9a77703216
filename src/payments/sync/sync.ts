import { sql } from 'kysely'
import { type Db, inTransaction } from '../../kit/database.ts'
import { DEADLINES } from '../../kit/deadlines.ts'
import { type Log, errorForLog } from '../../kit/log.ts'
import { inTime } from '../../kit/time.ts'
import { hasLimitedCode } from '../../orders/discounts/uses.ts'
import { expireIfOver, lookNoMore, noteEvents, putOffEnd } from '../../orders/move.ts'
import type { Attempt, Attempts } from '../attempts/attempts.ts'
import { AmountNotTaken, PaymentRefused, PaymentUnknown, type Processor } from '../../processors/processor.ts'
import type { Settle } from '../settle/settle.ts'
import { type Due, LOOK_MS, claimDue, endClaims } from './due.ts'

/** What asking a processor about an order needs. */
export interface Syncing {
  db: Db
  processors: ReadonlyMap<string, Processor>
  settle: Settle
  log: Log
  /** How long a buyer waits for the processor at most (sync=1). */
  syncBudgetMs?: number | undefined
  /** One order is asked about once in this time, over all instances. */
  syncPauseMs?: number | undefined
}

/** What looking after all orders needs. */
export type SyncingDue = Syncing & { attempts: Attempts }

/** How long a bank gives its customer to confirm a payment, and some more. */
const AT_BANK_MINUTES = 15
/** The job that looks is started each minute: what is still due then waits for the next. */
const LOOKING_MS = 240_000

/**
 * Asks the processor about an order now, for a buyer who waits (sync=1), and settles what it says. False when it was not
 * asked: nothing is open, another request is asking, or it was asked a moment ago; and when no answer came in time.
 */
export async function syncOrder(syncing: Syncing, orderId: string): Promise<boolean> {
  const { db, processors, settle, log } = syncing
  const { syncBudgetMs: budgetMs = DEADLINES.syncBudgetMs, syncPauseMs: pauseMs = DEADLINES.syncPauseMs } = syncing
  const { rows } = await sql<{ processor: string; processorPaymentId: string; until: string }>`
    update orders o set sync_after = now() + make_interval(secs => ${Math.max(budgetMs, pauseMs) / 1000})
    from payments p
    where o.id = ${orderId} and o.state in ('pending', 'processing', 'expired') and o.sync_after <= now()
      and p.id = (select id from payments where order_id = o.id and processor_payment_id is not null order by id desc limit 1)
    returning p.processor, p.processor_payment_id as "processorPaymentId", o.sync_after::text as until`.execute(db)
  const claim = rows[0]
  const processor = claim && processors.get(claim.processor)
  if (!processor) return false
  const ask = async () =>
    settle({ processor: processor.name, payment: await processor.fetchPayment(claim.processorPaymentId) })
  try {
    await inTime(ask(), budgetMs)
    return true
  } catch (error) {
    log.warn({ orderId, ...errorForLog(error) }, 'the processor could not be asked')
    return false
  } finally {
    const early = Math.max(0, budgetMs - pauseMs) / 1000
    // our own claim only: a later one may be under way
    await sql`
      update orders set sync_after = sync_after - make_interval(secs => ${early})
      where id = ${orderId} and sync_after = ${claim.until}::timestamptz`.execute(db)
  }
}

/**
 * Looks at every order that should have moved and has not: asks the processor, settles what it says, and ends an order whose
 * time is over and whose buyer has certainly not paid. So a shop whose notifications never arrive still delivers, and a
 * second capture, a refund or a dispute that nobody told us of is found. Returns how many orders were looked at. A look that
 * takes longer than `lookMs` has failed: what it began goes on, and the next look finds what came of it.
 */
export async function syncDue(syncing: SyncingDue, { lookMs = LOOK_MS } = {}): Promise<number> {
  let looked = 0
  for (const end = performance.now() + LOOKING_MS; performance.now() < end;) {
    const due = await claimDue(syncing.db)
    if (due.length === 0) break
    looked += due.length
    await Promise.all(
      due.map((order) =>
        inTime(lookAt(syncing, order), lookMs).catch((error: unknown) =>
          syncing.log.warn(
            { orderId: order.id, ...errorForLog(error) },
            'an order could not be looked at, and will be again',
          ),
        ),
      ),
    )
    await endClaims(syncing.db, due)
  }
  return looked
}

async function lookAt(syncing: SyncingDue, order: Due): Promise<void> {
  const { db } = syncing
  const { rows: attempts } = await sql<AttemptOf>`
    select p.id, p.processor, p.processor_payment_id as "processorPaymentId",
      o.amount_minor as "amountMinor", o.currency, o.statement_descriptor as "statementDescriptor",
      ${hasLimitedCode} as "withoutVouchers"
    from payments p join orders o on o.id = p.order_id where p.order_id = ${order.id} order by p.id`.execute(db)
  let bankAtWork = false
  let failure: unknown
  for (const attempt of attempts) {
    try {
      const state = await askAbout(syncing, order, attempt)
      bankAtWork ||= state === 'processing'
    } catch (error) {
      // the others are asked all the same; what is not known of this one keeps the order from ending
      failure = error
    }
  }
  // a processor that was removed, or another account's payment: not for ever is anybody asked who cannot know
  const isUnaskable = failure instanceof ProcessorRemoved || failure instanceof PaymentUnknown
  if (failure && !(isUnaskable && order.forgotten)) throw failure
  if (order.last) await lookNoMore(db, { id: order.id, dueAt: order.claimedUntil })
  if (!order.over || bankAtWork) return
  await inTransaction(db, async (tx) => {
    if (await expireIfOver(tx, order.id)) await noteEvents(tx, [{ orderId: order.id, what: 'expired' }])
  })
}

async function askAbout(
  { db, attempts, processors, settle }: SyncingDue,
  order: Due,
  attempt: AttemptOf,
): Promise<string> {
  const processor = processors.get(attempt.processor)
  if (!processor) throw new ProcessorRemoved(`the processor ${attempt.processor} is not configured any more`)
  const id = attempt.processorPaymentId ?? (await startAgain(attempts, processor, order.id, attempt))
  if (id === undefined) return 'open'
  let payment = await processor.fetchPayment(id)
  // the end of an order closes its payment first: nobody shall pay what we no longer wait for
  const ends = order.over && order.state !== 'expired' && payment.state === 'open'
  if (ends && !(payment.atBank && (await waitOnce(db, order.id, attempt.id))))
    payment = await processor.cancelPayment(id)
  await settle({ processor: processor.name, payment })
  return payment.state
}

/** Gives a buyer who confirms at the bank right now more time, and says whether it did: once for a payment. */
function waitOnce(db: Db, orderId: string, paymentId: string): Promise<boolean> {
  return inTransaction(db, async (tx) => {
    // the order first, as when payments are settled
    await sql`select from orders where id = ${orderId} for update`.execute(tx)
    const { rows } = await sql`
      update payments set waited_at = now() where id = ${paymentId} and waited_at is null returning id`.execute(tx)
    if (rows.length === 0) return false
    await putOffEnd(tx, orderId, AT_BANK_MINUTES)
    return true
  })
}

class ProcessorRemoved extends Error {}

interface AttemptOf extends Attempt {
  processor: string
  amountMinor: number
  currency: string
  statementDescriptor: string
  withoutVouchers: boolean
}

/**
 * We died, or the answer was lost, before the payment's id was noted: the same key finds the same payment. Undefined where
 * the processor refuses for good: nothing was begun, and what may have been before was told to nobody, so nobody pays it.
 */
async function startAgain(
  attempts: Attempts,
  processor: Processor,
  orderId: string,
  attempt: AttemptOf,
): Promise<string | undefined> {
  const { id: key, amountMinor, currency, statementDescriptor, withoutVouchers } = attempt
  const started = await processor
    .startPayment({ key, orderId, amountMinor, currency, statementDescriptor, withoutVouchers })
    .catch((error: unknown) => {
      if (error instanceof AmountNotTaken || error instanceof PaymentRefused) return undefined
      throw error
    })
  return started && attempts.noteStarted({ id: key, processorPaymentId: started.processorPaymentId })
}
