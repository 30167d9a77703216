import { sql } from 'kysely'
import { type Db, inTransaction } from '../../kit/database.ts'
import { newId } from '../../kit/ids.ts'
import { familyOf } from '../../processors/connected.ts'
import type { Processor } from '../../processors/processor.ts'
import type { AccountPayout, PayoutItem } from '../../processors/seller-accounts.ts'

/** A bank can send a payout back weeks after it was made. */
const LOOK_BACK_DAYS = 45
const CHUNK = 1000

/** Stands as the failure of a payout that was cancelled at the processor. */
export const CANCELLED = 'Cancelled at the processor'

/** A payout in the processor's list. `name` has the account. */
export interface ListedPayout {
  name: string
  sellerId: string
  payout: AccountPayout
  items: () => AsyncIterable<PayoutItem>
}

/**
 * Copies the payouts that the processor made from a seller's connected account, and the items of each. A later reading changes only a
 * payout's state, its times, its failure and its bank reference. A repeat changes nothing.
 */
export async function mirrorPayouts(db: Db, processor: Processor, sellerId: string): Promise<void> {
  const { payoutsSince, payoutItems, name } = processor
  if (!payoutsSince || !payoutItems) return
  const since = new Date(Date.now() - LOOK_BACK_DAYS * 86_400_000)
  const payouts = await Array.fromAsync(payoutsSince(since))
  await keepPayouts(
    db,
    payouts.map((payout) => ({ name, sellerId, payout, items: () => payoutItems(payout.id) })),
  )
}

/** Stores all payouts of the processor's list in one statement, and reads and stores the items of each payout once. */
export async function keepPayouts(db: Db, list: readonly ListedPayout[]): Promise<void> {
  // a list that grows while its pages are read can name a payout twice
  const listed = new Map(list.map((one) => [keyOf(one.name, one.payout.id), one]))
  if (listed.size === 0) return
  for (const kept of await keep(db, [...listed.values()])) {
    const { name, payout, items: read } = listed.get(keyOf(kept.processor, kept.processorPayoutId))!
    if (kept.isItemised || !payout.isItemised) continue
    const items = await Array.fromAsync(read())
    const sum = items.reduce((total, { amountMinor, feeMinor }) => total + amountMinor - feeMinor, 0)
    // the processor has not finished the list: the next reading finds all of it
    if (sum === payout.amountMinor) await keepItems(db, name, kept, items)
  }
}

const keyOf = (processor: string, processorPayoutId: string): string => `${processor}:${processorPayoutId}`

interface Kept {
  id: string
  processor: string
  processorPayoutId: string
  isItemised: boolean
}

/** Writes the rows in one order everywhere, so that two readings at once never deadlock. */
async function keep(db: Db, list: readonly ListedPayout[]): Promise<Kept[]> {
  const column = <T>(of: (one: ListedPayout) => T): T[] => list.map(of)
  const failureOf = ({ state, failure, isCancelled }: AccountPayout) =>
    state === 'failed' ? (isCancelled ? CANCELLED : (failure ?? null)) : null
  const { rows } = await sql<Kept>`
    insert into processor_payouts as p (id, seller_id, processor, processor_payout_id, currency, amount_minor, state, created_at,
      paid_at, ended_at, failure, bank_reference)
    select n.id, n.seller_id, n.processor, n.processor_payout_id, n.currency, n.amount_minor, n.state, n.created_at,
      case when n.state = 'paid' then n.arrives_at end, case when n.state = 'failed' then now() end, n.failure, n.bank_reference
    from unnest(${column(({ payout }) => newId('po', Date.parse(payout.createdAt)))}::text[], ${column(({ sellerId }) => sellerId)}::text[],
      ${column(({ name }) => name)}::text[], ${column(({ payout }) => payout.id)}::text[], ${column(({ payout }) => payout.currency)}::text[],
      ${column(({ payout }) => payout.amountMinor)}::bigint[], ${column(({ payout }) => payout.state)}::text[],
      ${column(({ payout }) => payout.createdAt)}::timestamptz[], ${column(({ payout }) => payout.arrivesAt)}::timestamptz[],
      ${column(({ payout }) => failureOf(payout))}::text[], ${column(({ payout }) => payout.bankReference ?? null)}::text[])
      as n(id, seller_id, processor, processor_payout_id, currency, amount_minor, state, created_at, arrives_at, failure, bank_reference)
    order by n.processor, n.processor_payout_id
    on conflict (processor, processor_payout_id) do update set
      -- a payout that comes back is 'reversed', and one that never arrived is 'failed'. Reports can come late, so both are final,
      -- except at Razorpay, which can still pay a settlement that it tries again
      state = case when excluded.state = 'paid' and ${isTriedAgain} then 'paid'
        when p.state in ('failed', 'reversed') then p.state
        when excluded.state = 'failed' and p.state = 'paid' then 'reversed'
        when p.state = 'paid' then 'paid' else excluded.state end,
      paid_at = coalesce(p.paid_at, excluded.paid_at),
      ended_at = case when excluded.state <> 'paid' or not ${isTriedAgain} then coalesce(p.ended_at, excluded.ended_at) end,
      failure = case when excluded.state = 'failed' then excluded.failure
        when excluded.state <> 'paid' or not ${isTriedAgain} then p.failure end,
      -- a payout that is tried again gets another one, which can come later
      bank_reference = case when excluded.state = 'failed' and ${isTriedAgain} then excluded.bank_reference
        else coalesce(excluded.bank_reference, p.bank_reference) end
    returning id, processor, processor_payout_id as "processorPayoutId", itemised_at is not null as "isItemised"`.execute(
    db,
  )
  return rows
}

/** Razorpay tries a settlement again that has failed. */
const isTriedAgain = sql`p.processor like 'razorpay@%'`

async function keepItems(
  db: Db,
  processor: string,
  { id: payoutId, processorPayoutId }: Kept,
  items: readonly PayoutItem[],
): Promise<void> {
  await inTransaction(db, async (tx) => {
    const { rows } = await sql`
      update processor_payouts set itemised_at = now() where id = ${payoutId} and itemised_at is null returning id`.execute(
      tx,
    )
    if (rows.length === 0) return
    for (let at = 0; at < items.length; at += CHUNK) {
      const chunk = items.slice(at, at + CHUNK)
      const column = <K extends keyof PayoutItem>(name: K) => chunk.map((item) => item[name] ?? null)
      await sql`
        insert into processor_payout_items (payout_id, id, kind, what, order_id, amount_minor, fee_minor, moved_at)
        select ${payoutId}, i.id, i.kind, i.what, coalesce(c.order_id, r.order_id, d.order_id, t.order_id), i.amount, i.fee, i.at
        from unnest(${column('id')}::text[], ${column('kind')}::text[], ${column('what')}::text[], ${column('sourceId')}::text[],
          ${column('amountMinor')}::bigint[], ${column('feeMinor')}::bigint[], ${column('at')}::timestamptz[])
          as i(id, kind, what, source, amount, fee, at)
        left join captures c on c.processor = ${processor} and c.processor_capture_id = i.source
        left join refunds r on r.processor = ${processor} and r.processor_refund_id = i.source
        left join disputes d on d.processor = ${processor} and d.processor_dispute_id = i.source
        left join processor_transfers t on t.processor = ${familyOf(processor)} and t.processor_transfer_id = i.source
          and exists (select from orders o where o.id = t.order_id and o.connected_account = ${processor})`.execute(tx)
      await sql`
        update processor_transfers set settlement = ${processorPayoutId}
        where processor = ${familyOf(processor)} and processor_transfer_id = any(${column('sourceId')}::text[])
          and settlement is distinct from ${processorPayoutId}`.execute(tx)
    }
  })
}
