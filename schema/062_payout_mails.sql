-- What became of a payout, for the mail about it to its seller. The transaction that moves the payout writes it, and the transaction
-- that enqueues the mail removes it.
create table untold_payouts (
  payout_id text collate "C" not null references payouts,
  what text collate "C" not null check (what in ('sent', 'failed', 'reversed')),
  primary key (payout_id, what)
);
