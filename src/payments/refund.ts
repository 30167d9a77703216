import { sql } from 'kysely'
import type { Jobs } from '../kit/jobs.ts'
import type { Asking } from './ask.ts'

/** Sends back what was captured beside a sale: enqueued by settle, repeated until the processor has done it. */
export async function refundReturns(jobs: Jobs, { db, processors, settle }: Asking): Promise<void> {
  // two weeks: longer than any outage of a processor
  const options = { retries: 340, retryDelaySeconds: 5, retryDelayMaxSeconds: 3600, expireSeconds: 60, atOnce: 4 }
  await jobs.on<{ refundId: string }>('refund', options, async ({ refundId }) => {
    const { rows } = await sql<{
      processor: string
      processorPaymentId: string
      captureId: string
      amountMinor: number
    }>`
      select r.processor, p.processor_payment_id as "processorPaymentId", r.processor_capture_id as "captureId",
        least(r.amount_minor, c.amount_minor - coalesce((select sum(amount_minor) from refunds d
          where d.processor = r.processor and d.processor_capture_id = r.processor_capture_id and d.state = 'succeeded'), 0))::bigint
          as "amountMinor"
      from refunds r
      join captures c on c.processor = r.processor and c.processor_capture_id = r.processor_capture_id
      join payments p on p.id = c.payment_id
      where r.id = ${refundId} and r.state = 'requested'`.execute(db)
    const refund = rows[0]
    // done, or sent back by hand meanwhile
    if (!refund || refund.amountMinor <= 0) return
    const processor = processors.get(refund.processor)
    if (!processor) throw new Error(`the processor ${refund.processor} is not configured any more`)
    // our id is the processor's idempotency key: a repeat of this job sends nothing twice
    const payment = await processor.refund({ key: refundId, ...refund })
    await settle({ processor: processor.name, payment })
  })
}
