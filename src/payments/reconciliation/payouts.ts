import { sql } from 'kysely'
import type { Tx } from '../../kit/database.ts'
import { type Difference, differences } from '../../ledger/trial-balance.ts'
import { connectedName } from '../../processors/connected.ts'
import type { Processor } from '../../processors/processor.ts'
import type { AccountPayout, AccountSettlements } from '../../processors/seller-accounts.ts'

/** Each account is read this often, also when no notification comes. Younger payouts may not be here yet. */
const READ_HOURS = 8
/** Money that was passed on is settled within two working days, or later where somebody holds it. */
const SETTLED_WITHIN_DAYS = 10

/**
 * Compares the payouts that a processor lists for a seller's connected account, or for all accounts below ours, and that were made in
 * [from, to), with those stored here.
 */
export async function comparePayouts(tx: Tx, processor: Processor, from: Date, to: Date): Promise<Difference[]> {
  const { name, payoutsSince, accounts } = processor
  const until = new Date(to.getTime() - READ_HOURS * 3_600_000)
  if (accounts?.settlements) return compareSettlements(tx, name, accounts.settlements, from, until)
  if (!payoutsSince) return []
  const { rows } = await sql<Our>`
    select ${OUR} from processor_payouts p
    where p.processor = ${name} and p.created_at >= ${from} and p.created_at < ${until}`.execute(tx)
  const theirs = (await Array.fromAsync(payoutsSince(from))).map((payout) => ({ name, payout }))
  return compared(rows, theirs, until)
}

/** The settlements stand beside their transfers, so the list begins with the first transfer of those that are here. */
async function compareSettlements(
  tx: Tx,
  name: string,
  settlements: AccountSettlements,
  from: Date,
  until: Date,
): Promise<Difference[]> {
  const { rows } = await sql<Our & { firstAt: Date | null }>`
    select ${OUR}, (select min(i.moved_at) from processor_payout_items i where i.payout_id = p.id) as "firstAt"
    from processor_payouts p
    where p.processor like ${`${name}@%`} and p.created_at >= ${from} and p.created_at < ${until}`.execute(tx)
  const { rows: accounts } = await sql<{ account: string }>`
    select account from connected_accounts where processor = ${name} and account is not null`.execute(tx)
  const known = new Set(accounts.map(({ account }) => account))
  const usual = from.getTime() - SETTLED_WITHIN_DAYS * 86_400_000
  const since = rows.reduce((first, { firstAt }) => Math.min(first, firstAt?.getTime() ?? first), usual)
  const theirs: Their[] = []
  for await (const { account, payout } of settlements.since(new Date(since)))
    if (known.has(account) && Date.parse(payout.createdAt) >= from.getTime())
      theirs.push({ name: connectedName(name, account), payout })
  return compared(rows, theirs, until)
}

interface Our {
  /** With the account. */
  name: string
  id: string
  amountMinor: number
  currency: string
  failed: boolean
}
interface Their {
  name: string
  payout: AccountPayout
}
const OUR = sql`p.processor as name, p.processor_payout_id as id, p.amount_minor as "amountMinor", p.currency,
  p.state in ('failed', 'reversed') as failed`

function compared(rows: readonly Our[], theirs: readonly Their[], until: Date): Difference[] {
  const ours = new Map(rows.map((row) => [`${row.name}:${row.id}`, row]))
  const found: Difference[] = []
  for (const { name, payout } of theirs) {
    if (Date.parse(payout.createdAt) >= until.getTime()) continue
    const id = `${name}:${payout.id}`
    const our = ours.get(id)
    ours.delete(id)
    const { amountMinor, currency } = payout
    const isSame = our?.amountMinor === amountMinor && our.currency === currency
    // a payout that has failed here stays failed, whatever the list says
    if (isSame && (our.failed || payout.state !== 'failed')) continue
    const what = !our ? 'payout_only_at_processor' : isSame ? 'payout_failed_at_processor' : 'payout_differs'
    found.push({ what, id, currency, expectedMinor: amountMinor, foundMinor: our?.amountMinor ?? null })
  }
  for (const [id, { currency, amountMinor }] of ours)
    found.push({ what: 'payout_only_here', id, currency, expectedMinor: null, foundMinor: amountMinor })
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
