import { sql } from 'kysely'
import type { Tx } from '../kit/database.ts'
import { Refusal } from '../kit/errors.ts'
import { refuseRun } from './runs.ts'

export interface RunLineId {
  runId: string
  sellerId: string
  currency: string
}

/**
 * Leaves a seller out of a run that waits, or takes the seller in again. The money stays in the balance, and the next run proposes it. An
 * approval locks the same run, so it sees the line before or after. False: it was so before. Refuses `run_not_found`,
 * `run_not_proposed`, and `run_line_not_found` where the run would not pay this seller in this currency anyway.
 */
export async function leaveOut(tx: Tx, { runId, sellerId, currency }: RunLineId, isOut: boolean): Promise<boolean> {
  const { rows: waiting } = await sql`
    select 1 from payout_runs where id = ${runId} and state = 'proposed' for no key update`.execute(tx)
  if (waiting.length === 0) await refuseRun(tx, runId)
  const { rows } = await sql<{ before: string | null }>`
    update payout_run_lines l set blocked = ${isOut ? 'left_out' : null}
    from (select blocked from payout_run_lines where run_id = ${runId} and seller_id = ${sellerId} and currency = ${currency}) as before
    where l.run_id = ${runId} and l.seller_id = ${sellerId} and l.currency = ${currency}
      and (l.blocked is null or l.blocked = 'left_out')
    returning before.blocked as before`.execute(tx)
  if (!rows[0]) throw new Refusal('run_line_not_found', 'The run would not pay this seller in this currency.')
  return (rows[0].before === 'left_out') !== isOut
}
