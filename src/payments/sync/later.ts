import { type Db, inTransaction } from '../../kit/database.ts'
import { DropJob, type Jobs, TryLater } from '../../kit/jobs.ts'
import type { ProcessorEvent } from '../../processors/processor.ts'
import { PaymentUnknown } from '../../processors/refusals.ts'
import { recordWithoutEffect, unseenEvents } from '../settle/unseen-events.ts'
import type { Syncing } from './sync.ts'

/** The pauses grow, and the tries last about two weeks. One try can take minutes: some payments are read with a long list of disputes. */
const TRIES = { retries: 340, retryDelaySeconds: 60, retryDelayMaxSeconds: 3600, expireSeconds: 600, atOnce: 4 }
/** After this many days without an answer a person must look. The tries last longer. */
const GIVE_UP_DAYS = 13

interface UnsettledPayment {
  processor: string
  paymentId: string
  /** ISO 8601. */
  since: string
}

/**
 * Hands a payment that could not be settled to a job that asks about it again and again, so that other payments do not wait for it.
 * The same transaction stores its events, so the next backfill either sees them as new or knows that the job exists. Events that are
 * all stored already bring no further job.
 */
export async function syncLater(
  db: Db,
  jobs: Jobs,
  processor: string,
  paymentId: string,
  events: readonly ProcessorEvent[],
): Promise<void> {
  const payment: UnsettledPayment = { processor, paymentId, since: new Date().toISOString() }
  await inTransaction(db, async (tx) => {
    if ((await unseenEvents(tx, processor, events)).length === 0) return
    // the job reads the payment, which already contains what these events say
    await recordWithoutEffect(tx, processor, events, 'repeat')
    await jobs.add(tx, 'ask_later', [{ data: payment }])
  })
}

/** Registers the job that asks about such a payment until the processor's answer is settled. */
export async function registerSyncLater(jobs: Jobs, { processors, settle, log }: Omit<Syncing, 'db'>): Promise<void> {
  await jobs.on<UnsettledPayment>('ask_later', TRIES, async ({ processor: name, paymentId, since }) => {
    const processor = processors.get(name)
    try {
      if (!processor) throw new Error(`the processor ${name} is not configured any more`)
      const payment = await processor.fetchPayment(paymentId)
      const outcome = await settle({ processor: name, payment })
      if (outcome === 'too_early') throw new TryLater('the payment is just being started')
    } catch (error) {
      if (error instanceof PaymentUnknown) return
      if (Date.now() - Date.parse(since) < GIVE_UP_DAYS * 86_400_000) throw error
      log.error(
        { processor: name, paymentId, since },
        'the processor gave no answer about a payment for days, and the service stops asking',
      )
      throw new DropJob('no answer for too long', { cause: error })
    }
  })
}
