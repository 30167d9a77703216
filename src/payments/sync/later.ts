import { type Db, inTransaction } from '../../kit/database.ts'
import { DropJob, type Jobs, TryLater } from '../../kit/jobs.ts'
import { PaymentUnknown, type ProcessorEvent } from '../../processors/processor.ts'
import { recordWithoutEffect } from '../settle/unseen-events.ts'
import type { Syncing } from './sync.ts'

/** Growing pauses, over two weeks. */
const TRIES = { retries: 340, retryDelaySeconds: 60, retryDelayMaxSeconds: 3600, expireSeconds: 60, atOnce: 4 }
/** What gave no answer for so long needs a person. The tries last longer. */
const GIVE_UP_DAYS = 13

interface Left {
  processor: string
  paymentId: string
  /** ISO 8601. */
  since: string
}

/**
 * Leaves a payment that could not be settled to a job that asks about it again and again, so that what happened to others is not
 * kept waiting for it. Its events are noted in the same transaction: who walks the list again finds either them or the job.
 */
export async function syncLater(
  db: Db,
  jobs: Jobs,
  processor: string,
  paymentId: string,
  events: readonly ProcessorEvent[],
): Promise<void> {
  const left: Left = { processor, paymentId, since: new Date().toISOString() }
  await inTransaction(db, async (tx) => {
    await recordWithoutEffect(tx, processor, events, 'ignored')
    await jobs.add(tx, 'ask_later', [{ data: left }])
  })
}

/** Asks about the payments that were left, each until its processor has answered and that is settled. */
export async function registerSyncLater(jobs: Jobs, { processors, settle, log }: Syncing): Promise<void> {
  await jobs.on<Left>('ask_later', TRIES, async ({ processor: name, paymentId, since }) => {
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
        'a payment could not be asked about for days, and is not any more',
      )
      throw new DropJob('no answer for too long', { cause: error })
    }
  })
}
