import { sql } from 'kysely'
import type { Tx } from '../../kit/database.ts'
import { type Difference, differences } from '../../ledger/trial-balance.ts'
import type { Processor } from '../../processors/processor.ts'

/** Each account is read this often, also when no notification comes. Younger payouts may not be here yet. */
const READ_HOURS = 8

/** Compares the payouts that a processor lists for a seller's own account, and that were made in [from, to), with those stored here. */
export async function comparePayouts(tx: Tx, processor: Processor, from: Date, to: Date): Promise<Difference[]> {
  const { name, payoutsSince } = processor
  if (!payoutsSince) return []
  const until = new Date(to.getTime() - READ_HOURS * 3_600_000)
  const { rows } = await sql<{ id: string; amountMinor: number; currency: string; failed: boolean }>`
    select processor_payout_id as id, amount_minor as "amountMinor", currency, state in ('failed', 'reversed') as failed
    from processor_payouts where processor = ${name} and created_at >= ${from} and created_at < ${until}`.execute(tx)
  const ours = new Map(rows.map((row) => [row.id, row]))
  const found: Difference[] = []
  for await (const their of payoutsSince(from)) {
    if (Date.parse(their.createdAt) >= until.getTime()) continue
    const our = ours.get(their.id)
    ours.delete(their.id)
    const { amountMinor, currency } = their
    const isSame = our?.amountMinor === amountMinor && our.currency === currency
    // a failure can be minutes old, and what failed never counts as paid again
    if (isSame && (our.failed || their.state !== 'failed')) continue
    const what = !our ? 'payout_only_at_processor' : isSame ? 'payout_failed_at_processor' : 'payout_differs'
    found.push({ what, id: `${name}:${their.id}`, currency, expectedMinor: amountMinor, foundMinor: our?.amountMinor ?? null }) // oxfmt-ignore
  }
  for (const { id, currency, amountMinor } of ours.values())
    found.push({
      what: 'payout_only_here',
      id: `${name}:${id}`,
      currency,
      expectedMinor: null,
      foundMinor: amountMinor,
    })
  return found
}

/** A payout whose parts do not add up to it. */
export const oddPayouts = (tx: Tx): Promise<Difference[]> =>
  differences(
    tx,
    sql`
      select 'payout_items_differ', p.processor || ':' || p.processor_payout_id, null, p.currency, p.amount_minor,
        (select coalesce(sum(i.amount_minor - i.fee_minor), 0) from processor_payout_items i where i.payout_id = p.id)
      from processor_payouts p where p.itemised_at is not null and p.amount_minor <> (
        select coalesce(sum(i.amount_minor - i.fee_minor), 0) from processor_payout_items i where i.payout_id = p.id)`,
  )
