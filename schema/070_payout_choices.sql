-- The bank refused a payout, or sent it back. No run proposes another one to the same account until the seller has saved the payout
-- details again, or the operator has said that the account is right. Payouts that had failed before this rule are paid again as before.
alter table payouts add column pay_again boolean not null default true;
alter table payouts alter column pay_again set default false;
create index payouts_returned on payouts (seller_id, currency, ended_at) where state in ('failed', 'reversed');

-- A line of a bank's statement is about another account than the one that the payouts are paid from.
alter table payout_statement_lines drop constraint payout_statement_lines_outcome_check;
alter table payout_statement_lines add constraint payout_statement_lines_outcome_check
  check (outcome in ('paid', 'failed', 'reversed', 'known_before', 'not_found', 'amount_differs', 'not_expected', 'other_account'));
drop index payout_statement_lines_odd;
create index payout_statement_lines_odd on payout_statement_lines (statement_hash)
  where outcome in ('not_found', 'amount_differs', 'not_expected', 'other_account');
