import { sql } from 'kysely'
import { type Db, inTransaction } from '../../kit/database.ts'
import type { Measure } from '../../kit/measure.ts'
import type { Jobs } from '../../kit/jobs.ts'
import { type Log, errorForLog } from '../../kit/log.ts'
import { AmountNotTaken, type ProcessorUnavailable } from '../../processors/refusals.ts'

/** The seller hears of a lasting refusal again after this time: the same code can have another cause by then. */
const TELL_AGAIN_DAYS = 7

export interface Telling {
  db: Db
  jobs: Jobs
  log: Log
}

/**
 * Reports that the processor will refuse every payment of this order. For each kind of refusal the seller gets one mail a week and
 * the operator one line in the log, however many buyers meet it. Refused amounts are reported for each product, so a stranger who
 * chooses an impossible amount for one product hides no report about another. It never fails: the buyer's answer does not depend on
 * it.
 */
export async function notifyRefusal(
  { db, jobs, log }: Telling,
  { orderId, processor, error }: { orderId: string; processor: string; error: ProcessorUnavailable },
): Promise<void> {
  const isAmount = error instanceof AmountNotTaken
  const kind = isAmount ? 'seller_amount_not_taken' : 'seller_cannot_be_paid'
  const { code = 'refused', parameter = '' } = error.details ?? {}
  const name = isAmount ? 'amount_not_payable' : code
  try {
    const isNews = await inTransaction(db, async (tx) => {
      const { rows } = await sql<{ isNews: boolean }>`
        insert into payment_refusals as r (seller_id, processor, code, parameter, product_id)
        select seller_id, ${processor}, ${name}, ${parameter}, case when ${isAmount} then product_id else '' end
        from orders where id = ${orderId}
        on conflict (seller_id, processor, code, parameter, product_id) do update set times = r.times + 1, last_at = now(),
          told_at = case when r.told_at < now() - make_interval(days => ${TELL_AGAIN_DAYS}) then now() else r.told_at end
        returning told_at = now() as "isNews"`.execute(tx)
      if (!rows[0]?.isNews) return false
      await jobs.add(tx, 'mail', [{ data: { kind, orderId } }])
      return true
    })
    if (isNews)
      log.error(
        { processor, code: name, parameter, orderId },
        'a seller cannot be paid: the processor refuses the payments',
      )
  } catch (failure) {
    log.error({ processor, ...errorForLog(failure) }, 'a processor’s refusal could not be stored')
  }
}

/** A measure for alarms. */
export function refusalMeasures(db: Db): Measure[] {
  return [
    {
      name: 'till_payments_refused_sellers',
      help: 'Sellers whose payments a processor refused to start in the last day',
      async read() {
        const { rows } = await sql<{ sellers: number }>`
          select count(distinct seller_id)::integer as sellers from payment_refusals
          where last_at > now() - interval '1 day'`.execute(db)
        return rows[0]?.sellers
      },
    },
  ]
}
