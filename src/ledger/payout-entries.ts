import { sql } from 'kysely'

/**
 * Each payout has its entry, to the right amount and between the right accounts, and each entry its payout. A payout that failed or
 * came back has a second entry, which takes the first one back.
 */
export const ODD_PAYOUTS = sql`
  with known as (
    select k.kind, p.id, p.currency, p.amount_minor,
      case k.kind when 'payout' then 'seller:' || p.seller_id else 'payouts' end as debit,
      case k.kind when 'payout' then 'payouts' else 'seller:' || p.seller_id end as credit
    from payouts p cross join (values ('payout', null), ('payout_failed', 'failed'), ('payout_reversed', 'reversed')) as k(kind, state)
    where k.state is null or k.state = p.state),
  booked as (
    select * from transfers where kind in ('payout', 'payout_failed', 'payout_reversed'))
  select case when b.cause is null then 'payout_not_booked' when k.id is null then 'booked_without_payout'
      else 'payout_booked_differently' end,
    coalesce(k.kind, b.kind) || ' ' || coalesce(k.id, b.cause), null, coalesce(k.currency, b.currency), k.amount_minor, b.amount_minor
  from known k full join booked b on b.kind = k.kind and b.cause = k.id
  where b.cause is null or k.id is null
    or (k.amount_minor, k.currency, k.debit, k.credit) is distinct from (b.amount_minor, b.currency, b.debit_account, b.credit_account)`

/** The same for adjustments. */
export const ODD_ADJUSTMENTS = sql`
  with known as (
    select a.id, a.currency, abs(a.amount_minor) as minor,
      case when a.amount_minor > 0 then 'adjustments' else 'seller:' || a.seller_id end as debit,
      case when a.amount_minor > 0 then 'seller:' || a.seller_id else 'adjustments' end as credit
    from adjustments a),
  booked as (select * from transfers where kind = 'adjustment')
  select case when b.cause is null then 'adjustment_not_booked' when k.id is null then 'booked_without_adjustment'
      else 'adjustment_booked_differently' end,
    'adjustment ' || coalesce(k.id, b.cause), null, coalesce(k.currency, b.currency), k.minor, b.amount_minor
  from known k full join booked b on b.cause = k.id
  where b.cause is null or k.id is null
    or (k.minor, k.currency, k.debit, k.credit) is distinct from (b.amount_minor, b.currency, b.debit_account, b.credit_account)`

/** A bank file holds exactly the payouts that are noted as in it. */
export const ODD_FILES = sql`
  select 'bank_file_differs', f.id, null, f.currency, f.amount_minor, coalesce(sum(p.amount_minor), 0)
  from payout_files f left join payouts p on p.file_id = f.id and p.run_id = f.run_id and p.currency = f.currency
  group by f.id having count(p.id) <> f.payouts or coalesce(sum(p.amount_minor), 0) <> f.amount_minor
  union all
  select 'payout_in_another_file', p.id, null, p.currency, p.amount_minor, null
  from payouts p left join payout_files f on f.id = p.file_id and f.run_id = p.run_id and f.currency = p.currency
  where p.file_id is not null and f.id is null`

/**
 * Lines of banks' statements that are about no payout, or another amount, or money that should not have moved. One that a person has
 * dealt with stays in the books, so only those of the latest statements are listed.
 */
export const ODD_STATEMENT_LINES = sql`
  select 'bank_' || l.outcome, l.reference, null, l.currency, p.amount_minor, l.amount_minor
  from payout_statement_lines l join payout_statements s on s.hash = l.statement_hash
  left join payouts p on p.id = l.payout_id
  where l.outcome in ('not_found', 'amount_differs', 'not_expected', 'other_account') and s.uploaded_at > now() - interval '15 days'`
