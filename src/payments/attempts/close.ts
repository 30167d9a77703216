import type { Jobs } from '../../kit/jobs.ts'
import type { Syncing } from '../sync/sync.ts'

const TRIES = { retries: 60, retryDelaySeconds: 5, retryDelayMaxSeconds: 3600, expireSeconds: 60, atOnce: 4 }

/**
 * Closes payments at the processor that were declined too often, so that nobody tries one stolen card after the other on them:
 * enqueued by settle. What was captured meanwhile stays captured; the snapshot tells.
 */
export async function closePayments(jobs: Jobs, { processors, settle }: Syncing): Promise<void> {
  await jobs.on<{ processor: string; processorPaymentId: string }>('close_payment', TRIES, async (closing) => {
    const processor = processors.get(closing.processor)
    if (!processor) throw new Error(`the processor ${closing.processor} is not configured any more`)
    const payment = await processor.cancelPayment(closing.processorPaymentId)
    await settle({ processor: processor.name, payment })
  })
}
