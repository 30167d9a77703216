import { sql } from 'kysely'
import type { Db } from '../../kit/database.ts'
import { connectedName } from '../../processors/connected.ts'
import type { Processor } from '../../processors/processor.ts'
import { type ListedPayout, keepPayouts } from './mirror.ts'

/** A settlement that failed is tried again for weeks, and one on hold waits. */
const LOOK_BACK_DAYS = 45
/** The bank's number (UTR) of a paid settlement can come later than the rest. */
const NUMBER_DAYS = 7

/**
 * Copies the settlements by which processors pay the money that they passed on to the sellers' banks. It asks every processor, because
 * money that was passed on before PAYOUTS was changed still arrives.
 */
export async function mirrorSettlements(db: Db, processors: ReadonlyMap<string, Processor>): Promise<void> {
  for (const processor of processors.values()) await mirrorSettlementsOf(db, processor)
}

/**
 * A processor's list has the transfers of all accounts, so one reading serves all sellers. It begins with the oldest transfer of which the
 * settlement is not known to the end.
 */
async function mirrorSettlementsOf(db: Db, { name, accounts }: Processor): Promise<void> {
  const settlements = accounts?.settlements
  if (!settlements) return
  const { rows: open } = await sql<{ since: Date | null }>`
    select min(t.made_at) as since from processor_transfers t join orders o on o.id = t.order_id
    where t.processor = ${name} and t.state = 'passed'
      -- of a transfer that came back whole nothing is to be settled, but the settlement that it already stood in still ends
      and (t.reversed_minor < t.amount_minor or t.settlement is not null)
      and t.made_at > now() - make_interval(days => ${LOOK_BACK_DAYS})
      and not exists (select from processor_payouts p where p.processor = o.connected_account
        and p.processor_payout_id = t.settlement and p.state = 'paid' and p.itemised_at is not null
        and (p.bank_reference is not null or p.itemised_at < now() - make_interval(days => ${NUMBER_DAYS})))`.execute(
    db,
  )
  const since = open[0]?.since
  if (!since) return
  const { rows: sellers } = await sql<{ account: string; sellerId: string }>`
    select account, seller_id as "sellerId" from connected_accounts where processor = ${name} and account is not null`.execute(db) // oxfmt-ignore
  const sellerOf = new Map(sellers.map(({ account, sellerId }) => [account, sellerId]))
  const listed: ListedPayout[] = []
  for await (const { account, payout } of settlements.since(since)) {
    const sellerId = sellerOf.get(account)
    if (sellerId) listed.push({ name: connectedName(name, account), sellerId, payout, items: () => settlements.items(payout) }) // oxfmt-ignore
  }
  await keepPayouts(db, listed)
}
