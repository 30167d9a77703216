import { sql } from 'kysely'
import { type Db, type Tx, inTransaction } from '../../kit/database.ts'
import { DEADLINES } from '../../kit/deadlines.ts'
import { type Log, errorForLog } from '../../kit/log.ts'
import { inTime } from '../../kit/time.ts'
import { hasLimitedCode } from '../../orders/discounts/uses.ts'
import { expireIfOver, endLooks, noteEvents, postponeExpiry } from '../../orders/move.ts'
import type { Attempt, Attempts } from '../attempts/attempts.ts'
import { partPassedOn } from '../attempts/payee.ts'
import type { Processor } from '../../processors/processor.ts'
import { AmountNotTaken, PaymentRefused, PaymentUnknown } from '../../processors/refusals.ts'
import type { Settle } from '../settle/settle.ts'
import { type Due, LOOK_MS, claimDue, endClaims } from './due.ts'

/** The parts by which the service asks a processor and settles its answer. */
export interface Syncing {
  db: Db
  processors: ReadonlyMap<string, Processor>
  settle: Settle
  log: Log
}

/** The parts that the reconciler needs. */
export type SyncingDue = Syncing & { attempts: Attempts }

interface SyncTimes {
  /** The longest time that a buyer waits for the processor. */
  syncBudgetMs?: number
  /** Over all instances, the service asks about an order at most once in this time. */
  syncPauseMs?: number
}

/** The time that a bank gives its customer to confirm a payment, with a margin. */
const AT_BANK_MINUTES = 15
/** One run stops after this time. The job starts each minute, so the next run takes the orders that are still due. */
const LOOKING_MS = 240_000

/**
 * Asks the processor about an order now, for a buyer who waits (sync=1), and settles the answer. False when it did not ask, because
 * nothing is open, another request is asking or the last answer is fresh, and when no answer came in time.
 */
export async function syncOrder(
  { db, processors, settle, log }: Syncing,
  orderId: string,
  { syncBudgetMs: budgetMs = DEADLINES.syncBudgetMs, syncPauseMs: pauseMs = DEADLINES.syncPauseMs }: SyncTimes = {},
): Promise<boolean> {
  // the question can outlast the buyer's wait, and a slow processor must not be asked a second time meanwhile
  const claimMs = Math.max(budgetMs, pauseMs, DEADLINES.processorCallMs)
  const { rows } = await sql<{ processor: string; processorPaymentId: string; until: string }>`
    update orders o set sync_after = now() + make_interval(secs => ${claimMs / 1000})
    from payments p
    where o.id = ${orderId} and o.state in ('pending', 'processing', 'expired') and o.sync_after <= now()
      and p.id = (select id from payments where order_id = o.id and processor_payment_id is not null order by id desc limit 1)
    returning p.processor, p.processor_payment_id as "processorPaymentId", o.sync_after::text as until`.execute(db)
  const claim = rows[0]
  const processor = claim && processors.get(claim.processor)
  if (!processor) return false
  // ends only our own claim, since a later one may be under way
  const endClaim = () =>
    sql`
      update orders set sync_after = sync_after - make_interval(secs => ${(claimMs - pauseMs) / 1000})
      where id = ${orderId} and sync_after = ${claim.until}::timestamptz`.execute(db)
  const ask = async () => {
    try {
      await settle({ processor: processor.name, payment: await processor.fetchPayment(claim.processorPaymentId) })
    } finally {
      await endClaim()
    }
  }
  try {
    await inTime(ask(), budgetMs)
    return true
  } catch (error) {
    log.warn({ orderId, ...errorForLog(error) }, 'the sync got no answer from the processor')
    return false
  }
}

/**
 * Looks at every due order: asks the processor, settles the answer, and ends an order whose time is over if its buyer has certainly
 * not paid. So a shop whose notifications never arrive still delivers, and still finds second captures, refunds and disputes. Returns
 * the number of orders. A look fails after `lookMs`. Its requests go on, and the next look finds their results.
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
            'the reconciler could not look at an order, and tries again later',
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
    select p.id, p.processor, p.state, p.processor_payment_id as "processorPaymentId",
      o.amount_minor as "amountMinor", o.currency, o.statement_descriptor as "statementDescriptor", o.fee_minor as "feeMinor",
      o.connected_account as "connectedAccount",
      ${hasLimitedCode} as "withoutVouchers"
    from payments p join orders o on o.id = p.order_id where p.order_id = ${order.id} order by p.id`.execute(db)
  let bankAtWork = false
  let failure: unknown
  for (const attempt of attempts) {
    try {
      bankAtWork = (await askAbout(syncing, order, attempt)) || bankAtWork
    } catch (error) {
      // asks about the other attempts all the same; without an answer about this one the order must not end
      failure = error
    }
  }
  // for a removed processor, or a payment of another account, no answer will ever come: the order ends after a while
  const isUnaskable = failure instanceof ProcessorRemoved || failure instanceof PaymentUnknown
  if (failure && !(isUnaskable && order.forgotten)) throw failure
  if (order.last) await endLooks(db, { id: order.id, dueAt: order.claimedUntil })
  if (!order.over || bankAtWork) return
  await inTransaction(db, async (tx) => {
    if (await hasFurtherAttempt(tx, order.id, attempts)) return
    if (await expireIfOver(tx, order.id)) await noteEvents(tx, [{ orderId: order.id, what: 'expired' }])
  })
}

/**
 * Locks the order, and says whether a buyer who came back has begun another payment since the look began. That one was not closed, and
 * could be paid. The next look closes it.
 */
async function hasFurtherAttempt(tx: Tx, orderId: string, looked: readonly AttemptOf[]): Promise<boolean> {
  await sql`select from orders where id = ${orderId} for update`.execute(tx)
  const { rows } = await sql`
    select from payments
    where order_id = ${orderId} and state in ('starting', 'open', 'processing') and id <> all(${looked.map(({ id }) => id)}::text[])`.execute(
    tx,
  )
  return rows.length > 0
}

/** Settles how an attempt stands. True while a bank, or the buyer at a bank, decides: then the order must not end. */
async function askAbout(
  { db, attempts, processors, settle }: SyncingDue,
  order: Due,
  attempt: AttemptOf,
): Promise<boolean> {
  const processor = processors.get(attempt.processor)
  if (!processor) throw new ProcessorRemoved(`the processor ${attempt.processor} is not configured any more`)
  const id = attempt.processorPaymentId ?? (await startAgain(attempts, processor, order.id, attempt))
  if (id === undefined) return false
  let payment = await processor.fetchPayment(id)
  let ends = order.over && order.state !== 'expired' && payment.state === 'open'
  if (ends && (attempt.state === 'processing' || payment.takesDays)) {
    // the bank has said no just now: the buyer gets a mail, and time to pay again. Or the buyer has just got a voucher, and time to pay it.
    await settle({ processor: processor.name, payment })
    ends = await isOver(db, order.id)
    if (!ends) return true
  }
  // before an order ends, the processor closes its payment, so that the buyer cannot pay an expired order
  const waits = ends && payment.atBank === true && (await waitOnce(db, order.id, attempt.id))
  if (ends && !waits) payment = await processor.cancelPayment(id)
  await settle({ processor: processor.name, payment })
  return waits || payment.state === 'processing'
}

async function isOver(db: Db, orderId: string): Promise<boolean> {
  const { rows } = await sql`select from orders where id = ${orderId} and expires_at <= now()`.execute(db)
  return rows.length > 0
}

/** Gives a buyer who is confirming at the bank more time, once for each payment. Returns whether it did. */
function waitOnce(db: Db, orderId: string, paymentId: string): Promise<boolean> {
  return inTransaction(db, async (tx) => {
    // locks the order before the payment, as settle does. One that a recall has ended gets no more time.
    const locked = await sql`select from orders where id = ${orderId} and expires_at > created_at for update`.execute(
      tx,
    )
    if (locked.rows.length === 0) return false
    const { rows } = await sql`
      update payments set waited_at = now() where id = ${paymentId} and waited_at is null returning id`.execute(tx)
    if (rows.length === 0) return false
    await postponeExpiry(tx, orderId, AT_BANK_MINUTES)
    return true
  })
}

class ProcessorRemoved extends Error {}

interface AttemptOf extends Attempt {
  processor: string
  state: string
  amountMinor: number
  currency: string
  statementDescriptor: string
  withoutVouchers: boolean
  feeMinor: number
  connectedAccount: string | null
}

/**
 * Finds the payment of an attempt whose id was not stored, because of a crash or a lost answer: the same key finds the same payment.
 * Undefined when the processor refuses permanently. Then no payment begins, and an earlier one never reached the buyer.
 */
async function startAgain(
  attempts: Attempts,
  processor: Processor,
  orderId: string,
  attempt: AttemptOf,
): Promise<string | undefined> {
  const { id: key, amountMinor, currency, statementDescriptor, withoutVouchers, feeMinor } = attempt
  const started = await processor
    .startPayment({
      key,
      orderId,
      amountMinor,
      currency,
      statementDescriptor,
      withoutVouchers,
      feeMinor,
      passOn: partPassedOn(processor, attempt),
    })
    .catch((error: unknown) => {
      if (error instanceof AmountNotTaken || error instanceof PaymentRefused) return undefined
      throw error
    })
  return started && attempts.noteStarted({ id: key, processorPaymentId: started.processorPaymentId })
}
