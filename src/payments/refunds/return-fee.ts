import { createHash } from 'node:crypto'
import { sql } from 'kysely'
import { type Db, type Tx, inTransaction } from '../../kit/database.ts'
import { type Jobs, TryLater } from '../../kit/jobs.ts'
import { FeePending, PaymentUnknown } from '../../processors/refusals.ts'
import type { Processor } from '../../processors/processor.ts'
import { TRIES, ordersWithJob } from './tries.ts'

/** Longer than an account that gives no access is asked about (90 days), and the tries of a job that began before. */
const OWED_DAYS = 105
const RESUME_AT = '49 3 * * *'

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
    let failure: unknown
    for (const part of await feesBack(db, orderId))
      // a part that Stripe does not take must not stop the others
      await returnPart(db, processors, part).catch((error: unknown) => (failure ??= error))
    if (failure) throw failure
  })
  await jobs.every(RESUME_AT, 'resume_fee_returns', () => inTransaction(db, (tx) => resumeFeeReturns(tx, jobs)))
}

async function returnPart(
  db: Db,
  processors: ReadonlyMap<string, Processor>,
  { cause, processor: name, ...fee }: FeeBack,
): Promise<void> {
  const processor = processors.get(name)
  if (!processor?.returnFee) throw new Error(`the processor ${name} is not configured any more`)
  try {
    // below that, the refund has failed meanwhile, so all of the fee is ours again
    if (fee.totalMinor > 0)
      await processor.returnFee({ ...fee, key: createHash('sha256').update(cause).digest('hex').slice(0, 40) })
  } catch (error) {
    if (error instanceof FeePending) throw new TryLater('the processor has not taken the fee yet')
    // the seller has ended our access, or our key is another account's. It can come back, and until then the fee is owed
    if (!(error instanceof PaymentUnknown)) throw error
    throw new TryLater('the seller’s account gives no access')
  }
  await sql`insert into returned_fees (cause) values (${cause}) on conflict do nothing`.execute(db)
}

/**
 * Enqueues `return_fee` again for orders whose tries have ended while a part of our fee is still owed, at the sellers' accounts that give
 * us access. `name` limits this to one account, such as `stripe@acct_1`. A part that has gone back does not go back again.
 */
export async function resumeFeeReturns(tx: Tx, jobs: Jobs, name?: string): Promise<void> {
  const { rows } = await sql<{ orderId: string }>`
    select distinct t.order_id as "orderId"
    from connected_accounts a join transfers t on t.credit_account = 'processor:' || a.processor || '@' || a.account
    where a.ended_at is null and ${name === undefined ? sql`true` : sql`a.processor || '@' || a.account = ${name}`}
      and t.kind in ('refund', 'returned', 'dispute_loss') and t.created_at > now() - make_interval(days => ${OWED_DAYS})
      -- offset 0 has it read what is owed for each order by an index, and not all that is owed at all
      and exists (select from (${OWED}) f where f.order_id = t.order_id offset 0)
      and t.order_id not in ${ordersWithJob(sql`'return_fee'`)}`.execute(tx)
  await jobs.add(
    tx,
    'return_fee',
    rows.map((data) => ({ data })),
  )
}

/**
 * The parts of our fee that are to go back, by the ledger's entries, without those that are done. A capture that is no sale earns no fee:
 * once all of its money has gone back, all of its fee goes back too. A refund in the processor's dashboard leaves that fee with us, so this
 * counts such refunds as well.
 */
const OWED = sql`
  select p.* from (
    select e.order_id, e.cause, c.processor, c.processor_capture_id, e.amount_minor, e.currency, true as is_sale
    from transfers e
    join captures c on c.order_id = e.order_id and c.purpose = 'sale' and c.processor = split_part(e.cause, ':', 1)
    where e.kind = 'fee_refund' and e.cause like '%@%'
    union all
    select c.order_id, c.processor || ':fee:' || c.processor_capture_id, c.processor, c.processor_capture_id, c.amount_minor, c.currency, false
    from captures c
    where c.purpose <> 'sale' and c.processor like '%@%' and c.amount_minor <= (
      select coalesce(sum(minor), 0) from (
        select r.amount_minor as minor from refunds r
        where r.processor = c.processor and r.processor_capture_id = c.processor_capture_id and r.state = 'succeeded'
        union all
        select coalesce(d.lost_minor, d.amount_minor) from disputes d
        where d.processor = c.processor and d.processor_capture_id = c.processor_capture_id and d.state = 'lost') as gone)) p
  where not exists (select from returned_fees r where r.cause = p.cause)`

/**
 * The parts of an order's fee that are owed. `fee_again` took back a part of a refund that failed: the processor cannot take a fee a second
 * time, so that part counts for a later refund.
 */
async function feesBack(db: Db, orderId: string): Promise<FeeBack[]> {
  const { rows } = await sql<FeeBack>`
    select f.cause, f.processor, f.processor_capture_id as "captureId", f.amount_minor as "amountMinor", f.currency,
      case when f.is_sale then (
        select sum(case t.kind when 'fee_refund' then t.amount_minor else -t.amount_minor end) from transfers t
        where t.order_id = ${orderId} and t.kind in ('fee_refund', 'fee_again') and t.cause like '%@%')
        else f.amount_minor end::bigint as "totalMinor"
    from (${OWED}) f where f.order_id = ${orderId} order by 1`.execute(db)
  return rows
}
