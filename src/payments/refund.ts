import { sql } from 'kysely'
import { DropJob, type Jobs } from '../kit/jobs.ts'
import type { Asking } from './ask.ts'

/** Sends back what was captured beside a sale: enqueued by settle, repeated until the processor has done it. */
export async function refundReturns(jobs: Jobs, { db, processors, settle }: Asking): Promise<void> {
  const options = { retries: 30, retryDelaySeconds: 5, retryDelayMaxSeconds: 3600, expireSeconds: 60, atOnce: 4 }
  await jobs.on<{ refundId: string }>('refund', options, async ({ refundId }) => {
    const { rows } = await sql<{
      processor: string
      processorPaymentId: string
      captureId: string
      amountMinor: number
    }>`
      select r.processor, p.processor_payment_id as "processorPaymentId", r.processor_capture_id as "captureId",
        r.amount_minor as "amountMinor"
      from refunds r
      join captures c on c.processor = r.processor and c.processor_capture_id = r.processor_capture_id
      join payments p on p.id = c.payment_id
      where r.id = ${refundId} and r.state = 'requested'`.execute(db)
    const refund = rows[0]
    if (!refund) return
    const processor = processors.get(refund.processor)
    if (!processor) throw new DropJob(`no processor ${refund.processor}`)
    // our id is the processor's idempotency key: a repeat of this job sends nothing twice
    const payment = await processor.refund({ key: refundId, ...refund })
    await settle({ processor: processor.name, payment })
  })
}
