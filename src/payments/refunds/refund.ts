import { sql } from 'kysely'
import { type Db, inTransaction } from '../../kit/database.ts'
import { type Jobs, TryLater } from '../../kit/jobs.ts'
import type { Log } from '../../kit/log.ts'
import type { MailData } from '../../orders/mails/mail-data.ts'
import { noteEvents, recordOrderEvents } from '../../orders/move.ts'
import type { Syncing } from '../sync/sync.ts'
import { takeBack } from './take-back.ts'
import { TRIES } from './tries.ts'
import type { PaymentSnapshot, Processor } from '../../processors/processor.ts'
import { AmountNotTaken, ChargedBack, ProcessorUnavailable, RefundTaken } from '../../processors/refusals.ts'

/**
 * After this time a refund that its processor refuses has failed, and the seller gets a mail about one without a clear answer. The
 * tries last longer.
 */
const GIVE_UP_DAYS = 10
/** By then a try has ended, and none of its requests is under way any more. */
const TRY_SECONDS = 60
/** Longer than the pauses between tries: a refund without a try for so long has lost its job. */
const UNASKED_HOURS = 3

interface RequestedRefund {
  id: string
  orderId: string
  reason: 'seller' | 'duplicate'
  processor: string
  processorPaymentId: string
  captureId: string
  currency: string
  amountMinor: number
  /** The amount of the capture that succeeded refunds have not taken. */
  leftMinor: number
  /** The amount of the capture that banks have taken back. */
  lostMinor: number
  /** A bank has decided a dispute about the capture for the buyer, also if it gave the money back later. */
  wasLost: boolean
  /** A dispute about the capture is open. */
  disputed: boolean
  /** The processor has accepted the refund, and only the processor can end it. */
  taken: boolean
  /** We have asked at least once, so the processor may have the refund. */
  wasTried: boolean
  overdue: boolean
}

/**
 * Registers the job that makes the refunds of sellers and sends back duplicate captures. A refund's id is the idempotency key for
 * the processor, so a repeat sends nothing twice. The job repeats until the refund has succeeded or failed.
 */
export async function registerRefundJobs(jobs: Jobs, syncing: Syncing): Promise<void> {
  await jobs.on<{ refundId: string }>('refund', TRIES, ({ refundId }) => makeRefund(syncing, jobs, refundId))
}

async function makeRefund(syncing: Syncing, jobs: Jobs, refundId: string): Promise<void> {
  const { db, processors, settle, log } = syncing
  const refund = await findRequested(db, refundId)
  if (!refund) return
  const processor = processors.get(refund.processor)
  if (!processor) {
    const message = `the processor ${refund.processor} is not configured any more`
    if (!refund.overdue) throw new Error(message)
    // the processor may have the refund: `resumeRefunds` asks again when it is configured again
    if (refund.wasTried) {
      await notifyUnconfirmed(db, jobs, refundId)
      return log.warn({ refundId }, message)
    }
    return giveUp(db, jobs, log, refundId, 'no_answer')
  }
  const ours = await beginTry(db, refundId)
  if (!ours) return
  let failure: unknown
  const payment = await send(syncing, processor, refund).catch((error: unknown) => {
    failure = error
    // a refusal can mean that the refund exists already: the payment shows it
    return processor.fetchPayment(refund.processorPaymentId).catch(() => undefined)
  })
  if (failure instanceof RefundTaken || payment?.refundKeysUnderWay?.includes(refundId)) await noteTaken(db, refundId)
  if (payment) await settle({ processor: processor.name, payment })

  const now = await findRequested(db, refundId)
  if (!now) return
  // a seller asks again after a failed refund. So this must not call it failed when its answer was lost or another try may be under
  // way: the money could go out twice.
  const isClear = payment && (now.taken || !failure || (failure instanceof ProcessorUnavailable && failure.answered))
  if (now.overdue && !isClear) await notifyUnconfirmed(db, jobs, refundId)
  // the processor has accepted it and not finished: from now on `resumeRefunds` asks each day, in case no notification comes
  if (now.taken && now.overdue) return
  if (isClear && !now.taken && !ours.besideAnother) {
    const why = failure instanceof AmountNotTaken ? 'amount' : (whyImpossible(now) ?? whyRefused(now, failure))
    if (why || (failure && now.overdue)) return giveUp(db, jobs, log, refundId, why ?? 'no_answer', ours.askedAt)
  }
  throw failure ?? new TryLater('the processor has not finished this refund')
}

/** Enqueues all refunds that should have ended long ago, also those that lost their job during weeks of downtime. */
export async function resumeRefunds(db: Db, jobs: Jobs): Promise<void> {
  await inTransaction(db, async (tx) => {
    const { rows } = await sql<{ refundId: string }>`
      select id as "refundId" from refunds
      where state = 'requested' and created_at < now() - make_interval(days => ${GIVE_UP_DAYS})
        and (asked_at is null or asked_at < now() - make_interval(hours => ${UNASKED_HOURS}))`.execute(tx)
    await jobs.add(
      tx,
      'refund',
      rows.map((data) => ({ data })),
    )
  })
}

async function findRequested(db: Db, refundId: string): Promise<RequestedRefund | undefined> {
  const { rows } = await sql<RequestedRefund>`
    select r.id, r.order_id as "orderId", r.reason, r.processor, p.processor_payment_id as "processorPaymentId",
      r.processor_capture_id as "captureId", c.currency, r.amount_minor as "amountMinor",
      (c.amount_minor - coalesce((select sum(d.amount_minor) from refunds d
        where d.processor = r.processor and d.processor_capture_id = r.processor_capture_id and d.state = 'succeeded'), 0))::bigint
        as "leftMinor",
      exists (select from disputes d where d.processor = r.processor and d.processor_capture_id = r.processor_capture_id
        and d.state = 'open') as disputed,
      exists (select from disputes d where d.processor = r.processor and d.processor_capture_id = r.processor_capture_id
        and d.state = 'lost') as "wasLost",
      (select coalesce(sum(coalesce(d.lost_minor, d.amount_minor)), 0)::bigint from disputes d
        where d.processor = r.processor and d.processor_capture_id = r.processor_capture_id and d.state = 'lost') as "lostMinor",
      r.taken_at is not null as taken, r.asked_at is not null as "wasTried",
      r.created_at < now() - make_interval(days => ${GIVE_UP_DAYS}) as overdue
    from refunds r
    join captures c on c.processor = r.processor and c.processor_capture_id = r.processor_capture_id
    join payments p on p.id = c.payment_id
    where r.id = ${refundId} and r.state = 'requested'`.execute(db)
  return rows[0]
}

interface Try {
  /** Identifies the try: a later try has a later time. */
  askedAt: string
  /** Another try may still be under way, with its request at the processor. */
  besideAnother: boolean
}

/** Notes that a try begins. Undefined when the refund has ended. The row lock orders it against a try that gives the refund up. */
async function beginTry(db: Db, refundId: string): Promise<Try | undefined> {
  const { rows } = await sql<Try>`
    update refunds r set asked_at = clock_timestamp()
    from (select id, asked_at from refunds where id = ${refundId} for update) as before
    where r.id = before.id and r.state = 'requested'
    returning r.asked_at::text as "askedAt",
      coalesce(before.asked_at > clock_timestamp() - make_interval(secs => ${TRY_SECONDS}), false) as "besideAnother"`.execute(
    db,
  )
  return rows[0]
}

async function send(syncing: Syncing, processor: Processor, refund: RequestedRefund): Promise<PaymentSnapshot> {
  const { id: key, processorPaymentId, captureId, reason, amountMinor, leftMinor } = refund
  if (whyImpossible(refund)) return processor.fetchPayment(processorPaymentId)
  // after that the money of the refund is at our account
  if (processor.takeBack && !refund.taken) await takeBack(syncing, refund.orderId)
  // of a duplicate capture everything that is left goes back; a seller's refund has exactly the seller's amount
  const least = reason === 'duplicate' ? Math.min(amountMinor, leftMinor) : amountMinor
  const withFee = reason === 'duplicate'
  const payment = await processor.refund({ key, processorPaymentId, captureId, amountMinor: least, withFee })
  const ended = payment.refunds.some((one) => one.key === key)
  if (!ended) await noteTaken(syncing.db, key)
  return payment
}

const noteTaken = (db: Db, refundId: string) =>
  sql`update refunds set taken_at = now() where id = ${refundId} and taken_at is null`.execute(db)

/**
 * A refund of a disputed payment is impossible: the bank would pay the buyer a second time. The rest that a bank has left can be refunded.
 */
function whyImpossible({
  reason,
  amountMinor,
  leftMinor,
  lostMinor,
  disputed,
  taken,
}: RequestedRefund): MailData['why'] {
  if (taken) return undefined
  if (leftMinor < (reason === 'duplicate' ? 1 : amountMinor)) return 'refunded_already'
  const isLost = lostMinor > 0 && leftMinor - lostMinor < amountMinor
  if (disputed || (isLost && reason === 'duplicate')) return 'disputed'
  return isLost ? 'charged_back' : undefined
}

/** Some processors refund nothing more once a bank has charged a part back, even if it came back. Other refusals may pass later. */
const whyRefused = ({ wasLost }: RequestedRefund, failure: unknown): MailData['why'] =>
  wasLost && failure instanceof ChargedBack ? 'charged_back' : undefined

/**
 * Ends a refund as failed, unless a try has begun after the one of `askedAt` (null: after none). If the processor later reports a
 * refund with our key, settle books it all the same. The order is locked, so this and a simultaneous settle run one after the other.
 */
async function giveUp(
  db: Db,
  jobs: Jobs,
  log: Log,
  refundId: string,
  why: NonNullable<MailData['why']>,
  askedAt: string | null = null,
): Promise<void> {
  await inTransaction(db, async (tx) => {
    await sql`
      select 1 from orders where id = (select order_id from refunds where id = ${refundId}) for update`.execute(tx)
    const { rows } = await sql<Pick<RequestedRefund, 'orderId' | 'reason' | 'amountMinor' | 'currency'>>`
      update refunds r set state = 'failed' from captures c
      where r.id = ${refundId} and r.state = 'requested' and r.taken_at is null
        and r.asked_at is not distinct from ${askedAt}::timestamptz
        and c.processor = r.processor and c.processor_capture_id = r.processor_capture_id
      returning r.order_id as "orderId", r.reason, r.amount_minor as "amountMinor", c.currency`.execute(tx)
    const given = rows[0]
    if (!given) throw new TryLater('another try for this refund has begun')
    log.warn({ refundId, why }, 'the service gave up a refund')
    const { orderId, reason, amountMinor, currency } = given
    if (reason === 'seller') {
      await noteEvents(tx, [{ orderId, what: 'refund_failed' }])
      await recordOrderEvents(tx, [{ orderId, type: 'refund.failed', refundId }])
    }
    // the seller has already sent the duplicate back by hand
    if (reason === 'duplicate' && why === 'refunded_already') return
    const kind = reason === 'seller' ? 'seller_refund_failed' : 'seller_return_failed'
    await jobs.add(tx, 'mail', [{ data: { kind, orderId, amountMinor, currency, why } }])
  })
}

/** Mails the seller once about a refund without a clear answer. A person can look in the processor's dashboard, and we cannot. */
async function notifyUnconfirmed(db: Db, jobs: Jobs, refundId: string): Promise<void> {
  await inTransaction(db, async (tx) => {
    const { rows } = await sql<Pick<RequestedRefund, 'orderId' | 'amountMinor' | 'currency'>>`
      update refunds r set told_at = now() from captures c
      where r.id = ${refundId} and r.state = 'requested' and r.told_at is null
        and c.processor = r.processor and c.processor_capture_id = r.processor_capture_id
      returning r.order_id as "orderId", r.amount_minor as "amountMinor", c.currency`.execute(tx)
    await jobs.add(
      tx,
      'mail',
      rows.map((refund) => ({ data: { kind: 'seller_refund_unconfirmed', ...refund } })),
    )
  })
}
