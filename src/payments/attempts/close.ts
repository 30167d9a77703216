import type { Jobs } from '../../kit/jobs.ts'
import type { Syncing } from '../sync/sync.ts'

const TRIES = { retries: 60, retryDelaySeconds: 5, retryDelayMaxSeconds: 3600, expireSeconds: 60, atOnce: 4 }

/**
 * Closes payments at the processor that were declined too often, so that a thief cannot try one stolen card after the other. Settle
 * enqueues this job. Money that was captured meanwhile stays captured, and the snapshot shows it.
 */
export async function closePayments(
  jobs: Jobs,
  { processors, settle }: Pick<Syncing, 'processors' | 'settle'>,
): Promise<void> {
  await jobs.on<{ processor: string; processorPaymentId: string }>('close_payment', TRIES, async (closing) => {
    const processor = processors.get(closing.processor)
    if (!processor) throw new Error(`the processor ${closing.processor} is not configured any more`)
    const payment = await processor.cancelPayment(closing.processorPaymentId)
    await settle({ processor: processor.name, payment })
  })
}
