import type { Run } from './run.ts'
import type { World } from './world.ts'

// Invariants of payouts that hold at every moment. The database notes which entries each approval could see, so that a check never
// depends on the order in which requests were served.

/** Notes the entries that were visible when a run was approved, and when its payouts were made. */
export const WATCH = `
  -- the transaction that wrote an entry, also where its time is changed later
  alter table transfers add column made xid8 not null default pg_current_xact_id();
  -- the ledger refuses changes by everyone but the simulation, which lets its entries age
  drop trigger transfers_append_only on transfers;
  create trigger transfers_append_only before update or delete on transfers
    for each statement when (current_setting('simulation.ages', true) is distinct from 'on') execute function refuse_change();
  create table seen_by_run (run_id text primary key, snapshot pg_snapshot);
  create table seen_by_payout (payout_id text primary key, snapshot pg_snapshot);
  create function see_run() returns trigger language plpgsql as $$ begin
    insert into seen_by_run values (new.id, pg_current_snapshot()); return new; end $$;
  create function see_payout() returns trigger language plpgsql as $$ begin
    insert into seen_by_payout values (new.id, pg_current_snapshot()); return new; end $$;
  create trigger see_run before update on payout_runs for each row when (new.state = 'approved') execute function see_run();
  create trigger see_payout after insert on payouts for each row execute function see_payout()`

/**
 * All money, by currency, in one statement: the money paid out, owed, taken as fees and held is the money that the buyers paid, without
 * the money that went back to them.
 */
const ALL_MONEY = `
  with booked as (
    select currency, sum(minor) filter (where account !~ '^(processor:|payouts$|adjustments$)') as ours,
      sum(minor) filter (where account = 'payouts') as payouts, -sum(minor) filter (where account = 'adjustments') as adjusted
    from (
      select credit_account as account, currency, amount_minor as minor from transfers
      union all select debit_account, currency, -amount_minor from transfers) as sides
    group by 1),
  paid as (
    select currency, sum(amount_minor) filter (where state in ('approved', 'sent', 'paid')) as minor from payouts group by 1),
  buyers as (
    select currency, sum(minor) as minor from (
      select currency, amount_minor as minor from captures
      union all
      select c.currency, -r.amount_minor from refunds r join captures c using (processor, processor_capture_id)
        where r.state = 'succeeded'
      union all
      select c.currency, -coalesce(d.lost_minor, d.amount_minor) from disputes d join captures c using (processor, processor_capture_id)
        where d.state = 'lost') as moved
    group by 1)
  select currency, coalesce(b.payouts, 0)::text as "payoutsBooked", coalesce(p.minor, 0)::text as payouts, coalesce(b.ours, 0)::text as ours,
    coalesce(b.adjusted, 0)::text as adjusted, coalesce(k.minor, 0)::text as buyers,
    (coalesce(p.minor, 0) - coalesce(b.payouts, 0))::text || ' ' ||
      (coalesce(p.minor, 0) + coalesce(b.ours, 0) - coalesce(b.adjusted, 0) - coalesce(k.minor, 0))::text as off
  from booked b full join paid p using (currency) full join buyers k using (currency)`

interface Money {
  currency: string
  /** The amount that is too much or missing. */
  off: string
}

/** By how much the money of a currency does not add up, by currency. */
export async function moneyOff(client: World['client']): Promise<Map<string, string>> {
  return new Map((await client.query<Money>(ALL_MONEY)).rows.map(({ currency, off }) => [currency, off]))
}

/** The entries of each payout are those of its state. */
const ENTRIES = `
  select p.id, p.state, array_agg(t.kind order by t.kind) filter (where t.kind is not null) as kinds,
    bool_and(t.amount_minor = p.amount_minor) as "isAmount"
  from payouts p left join transfers t on t.cause = p.id and t.order_id is null where p.run_id = any($1) group by p.id`
const ENTRIES_OF: Record<string, string> = { failed: 'payout,payout_failed', reversed: 'payout,payout_reversed' }

/**
 * The most that an approval could pay: everything that it saw when it began, credits that came while it worked, and all payouts and
 * adjustments before it. The locks put these in one order, so of two payouts one has always seen the other.
 */
const APPROVED = `
  with mine as (
    select p.id, p.run_id, p.seller_id, p.currency, p.amount_minor, p.xmin::text::xid8 as made, r.snapshot as before, s.snapshot as at
    from payouts p join seen_by_run r on r.run_id = p.run_id join seen_by_payout s on s.payout_id = p.id
    where p.id = any($1))
  select m.id, m.amount_minor as amount, (
      select coalesce(sum(case when t.credit_account = 'seller:' || m.seller_id then t.amount_minor else -t.amount_minor end), 0)
      from transfers t
      where 'seller:' || m.seller_id in (t.credit_account, t.debit_account) and t.currency = m.currency and t.cause <> m.id
        and (pg_visible_in_snapshot(t.made, m.before) or (pg_visible_in_snapshot(t.made, m.at)
          and (t.order_id is null or t.credit_account = 'seller:' || m.seller_id))))::bigint as most,
    (select count(*)::int from payouts q join seen_by_payout s on s.payout_id = q.id
      where q.seller_id = m.seller_id and q.currency = m.currency and q.id <> m.id
        and not pg_visible_in_snapshot((select made from transfers where kind = 'payout' and cause = q.id), m.at)
        and not pg_visible_in_snapshot((select made from transfers where kind = 'payout' and cause = m.id), s.snapshot))
      as unseen
  from mine m`

export async function problemsOfPayouts(run: Run): Promise<string[]> {
  const { client } = run.world
  const money = await client.query<Money>(ALL_MONEY)
  const { rows } = await client.query<{ id: string; state: string; kinds: string[] | null; isAmount: boolean }>(ENTRIES, [run.payoutRuns]) // oxfmt-ignore
  const fresh = rows.map(({ id }) => id).filter((id) => !run.payouts.has(id))
  for (const id of fresh) run.payouts.add(id)
  const approved = fresh.length > 0 ? (await client.query(APPROVED, [fresh])).rows : []
  return [
    // a planted bug of an earlier history is not this one's fault
    ...money.rows
      .filter(({ currency, off }) => off !== (run.moneyOff.get(currency) ?? '0 0'))
      .map((row) => `the money does not add up: ${JSON.stringify(row)}`),
    ...rows
      .filter(({ state, kinds, isAmount }) => kinds?.join() !== (ENTRIES_OF[state] ?? 'payout') || !isAmount)
      .map(({ id, state, kinds }) => `${id} is ${state}, and booked: ${kinds?.join() ?? 'nothing'}`),
    ...approved
      .filter(({ amount, most }) => Number(amount) > Number(most))
      .map(({ id, amount, most }) => `${id}: paid out ${amount} of ${most}`),
    ...approved
      .filter(({ unseen }) => unseen > 0)
      .map(({ id }) => `${id}: made beside another payout of the same money`),
  ]
}

/** How often payouts ended in a state: histories without payouts prove nothing. */
export async function countPayouts({ world, payoutRuns }: { world: World; payoutRuns: string[] }): Promise<string[]> {
  const { rows } = await world.client.query<{ state: string }>(`select state from payouts where run_id = any($1)`, [payoutRuns]) // oxfmt-ignore
  return rows.map(({ state }) => `payout ${state}`)
}
