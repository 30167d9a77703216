import { createHash } from 'node:crypto'
import { sql } from 'kysely'
import type { Db, Tx } from '../../kit/database.ts'
import { type Jobs, TryLater } from '../../kit/jobs.ts'
import { processorAccount } from '../../ledger/transfers.ts'
import { type Processor, PaymentUnknown } from '../../processors/processor.ts'

/** As long as a refund is tried. */
const TRIES = { retries: 340, retryDelaySeconds: 5, retryDelayMaxSeconds: 3600, expireSeconds: 60, atOnce: 4 }

/** Longer than an account that gives no access is asked about (90 days), and the tries of a job that began before. */
const OWED_DAYS = 105

interface FeeBack {
  cause: string
  processor: string
  captureId: string
  amountMinor: number
  currency: string
  totalMinor: number
}

/**
 * Registers the job that returns our fee where the processor has taken it out of a payment at the seller's connected account. Settle
 * enqueues it with the entry of the ledger that gives a part of the fee back. The entry's cause is the key, so each part goes once.
 */
export async function registerFeeReturns(
  jobs: Jobs,
  { db, processors }: { db: Db; processors: ReadonlyMap<string, Processor> },
): Promise<void> {
  await jobs.on<{ orderId: string }>('return_fee', TRIES, async ({ orderId }) => {
    for (const { cause, processor: name, ...fee } of await feesBack(db, orderId)) {
      // the refund has failed meanwhile, so all of the fee is ours again
      if (fee.totalMinor <= 0) continue
      const processor = processors.get(name)
      if (!processor?.returnFee) throw new Error(`the processor ${name} is not configured any more`)
      try {
        await processor.returnFee({ ...fee, key: createHash('sha256').update(cause).digest('hex').slice(0, 40) })
      } catch (error) {
        // the seller has ended our access, or our key is another account's. It can come back, and until then the fee is owed
        if (!(error instanceof PaymentUnknown)) throw error
        throw new TryLater('the seller’s account gives no access')
      }
    }
  })
}

/**
 * Enqueues the jobs again for the orders of a seller's account that gives access again, because their tries may have ended meanwhile.
 * `name` is the processor's name with the account. A part that has gone back does not go back again.
 */
export async function resumeFeeReturns(tx: Tx, jobs: Jobs, name: string): Promise<void> {
  const { rows } = await sql<{ orderId: string }>`
    select distinct order_id as "orderId" from transfers
    where credit_account = ${processorAccount(name)} and kind in ('refund', 'returned', 'dispute_loss')
      and created_at > now() - make_interval(days => ${OWED_DAYS})`.execute(tx)
  await jobs.add(
    tx,
    'return_fee',
    rows.map((data) => ({ data })),
  )
}

/**
 * The parts of an order's fee to give back, by the ledger's entries. `fee_again` took back a part of a refund that failed: the processor
 * cannot take a fee a second time, so that part counts for a later refund. A capture that is no sale earns no fee: once all of its money
 * has gone back, all of its fee goes back too. A refund in the processor's dashboard leaves that fee with us, so this counts such refunds
 * as well.
 */
async function feesBack(db: Db, orderId: string): Promise<FeeBack[]> {
  const { rows } = await sql<FeeBack>`
    with entries as (
      select cause, kind, amount_minor, currency from transfers
      where order_id = ${orderId} and kind in ('fee_refund', 'fee_again') and cause like '%@%')
    select e.cause, c.processor, c.processor_capture_id as "captureId", e.amount_minor as "amountMinor", e.currency,
      (select sum(case t.kind when 'fee_refund' then t.amount_minor else -t.amount_minor end)::bigint from entries t) as "totalMinor"
    from entries e join captures c on c.order_id = ${orderId} and c.purpose = 'sale' and c.processor = split_part(e.cause, ':', 1)
    where e.kind = 'fee_refund'
    union all
    select c.processor || ':fee:' || c.processor_capture_id, c.processor, c.processor_capture_id, c.amount_minor, c.currency, c.amount_minor
    from captures c
    where c.order_id = ${orderId} and c.purpose <> 'sale' and c.processor like '%@%' and c.amount_minor <= (
      select coalesce(sum(minor), 0) from (
        select r.amount_minor as minor from refunds r
        where r.processor = c.processor and r.processor_capture_id = c.processor_capture_id and r.state = 'succeeded'
        union all
        select coalesce(d.lost_minor, d.amount_minor) from disputes d
        where d.processor = c.processor and d.processor_capture_id = c.processor_capture_id and d.state = 'lost') as gone)
    order by 1`.execute(db)
  return rows
}
