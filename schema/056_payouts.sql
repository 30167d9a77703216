-- What is owed to sellers goes out to their banks. The books note it without an order: the cause of such an entry is the id of the
-- payout or of the adjustment.
alter table transfers drop constraint transfers_kind_check;
alter table transfers add constraint transfers_kind_check check (kind in (
  'sale', 'fee', 'refund', 'fee_refund', 'held', 'returned', 'dispute_hold', 'dispute_release', 'dispute_loss',
  'refund_failed', 'fee_again', 'return_failed', 'dispute_return', 'held_loss', 'held_loss_back',
  'payout', 'payout_failed', 'payout_reversed', 'adjustment'));
alter table transfers alter column order_id drop not null;
alter table transfers add constraint transfers_order_check
  check ((order_id is null) = (kind in ('payout', 'payout_failed', 'payout_reversed', 'adjustment')));

-- A run proposes payouts to many sellers. It reserves nothing: only its approval makes payouts, of what can still be paid then.
create table payout_runs (
  id text collate "C" primary key,
  state text collate "C" not null default 'proposed' check (state in ('proposed', 'approved', 'cancelled')),
  -- The week or month of the schedule that the run is for, so that it is proposed once. Null: an operator has asked for the run.
  period text collate "C" unique check (length(period) <= 20),
  -- The moment at which the proposal counted what is due.
  cutoff_at timestamptz not null,
  created_at timestamptz not null default now(),
  -- The operator's mailbox, "machine", or "schedule".
  created_by text not null check (length(created_by) between 1 and 254),
  approved_at timestamptz,
  approved_by text check (length(approved_by) between 1 and 254),
  cancelled_at timestamptz,
  cancelled_by text check (length(cancelled_by) between 1 and 254),
  check ((state = 'approved') = (approved_at is not null) and (approved_at is null) = (approved_by is null)),
  check ((state = 'cancelled') = (cancelled_at is not null) and (cancelled_at is null) = (cancelled_by is null))
);
create index payout_runs_created on payout_runs (created_at, id);

-- Who would get how much, and why not. It is what the operator reviews, and never changes.
create table payout_run_lines (
  run_id text collate "C" not null references payout_runs,
  seller_id text collate "C" not null references sellers,
  currency text collate "C" not null check (currency ~ '^[A-Z]{3}$'),
  -- What can be paid; negative where the seller owes.
  amount_minor bigint not null,
  -- Why it is not paid, such as no_details. Null: it is.
  blocked text collate "C" check (blocked ~ '^[a-z_]{3,40}$'),
  primary key (run_id, seller_id, currency),
  check (blocked is not null or amount_minor > 0)
);

-- Money on its way to a seller, or arrived. The approval makes the row, the ledger's entry reserves the amount in the same transaction.
create table payouts (
  id text collate "C" primary key,
  run_id text collate "C" not null references payout_runs,
  seller_id text collate "C" not null references sellers,
  currency text collate "C" not null check (currency ~ '^[A-Z]{3}$'),
  amount_minor bigint not null check (amount_minor > 0),
  state text collate "C" not null default 'approved' check (state in ('approved', 'sent', 'paid', 'failed', 'reversed')),
  -- The payout details as they were at the approval: sealed, and masked for people.
  destination bytea not null,
  destination_shown text not null,
  -- Identifies the payout at the bank, as EndToEndId.
  reference text collate "C" not null unique check (reference ~ '^[A-Z0-9]{8,35}$'),
  -- What was due at this moment, with this holding period, is in the payout. The seller's statement counts it again.
  cutoff_at timestamptz not null,
  hold_days integer not null check (hold_days >= 0),
  created_at timestamptz not null default now(),
  sent_at timestamptz,
  paid_at timestamptz,
  -- The failure or the reversal.
  ended_at timestamptz,
  failure text check (length(failure) between 1 and 500),
  unique (run_id, seller_id, currency),
  check ((state in ('failed', 'reversed')) = (ended_at is not null)),
  check ((ended_at is null) = (failure is null)),
  check (state not in ('paid', 'reversed') or paid_at is not null),
  check (state = 'approved' or state = 'failed' or sent_at is not null)
);
create index payouts_seller on payouts (seller_id, created_at, id);
create index payouts_created on payouts (created_at, id);
create index payouts_open on payouts (seller_id, currency) include (amount_minor) where state in ('approved', 'sent');

-- The operator corrects what is owed to a seller, who reads the reason.
create table adjustments (
  id text collate "C" primary key,
  seller_id text collate "C" not null references sellers,
  currency text collate "C" not null check (currency ~ '^[A-Z]{3}$'),
  -- Positive: to the seller.
  amount_minor bigint not null check (amount_minor <> 0),
  reason text not null check (length(reason) between 1 and 500),
  created_at timestamptz not null default now(),
  created_by text not null check (length(created_by) between 1 and 254),
  -- SHA-256 of the seller with the Idempotency-Key, and of the request: a repeated request books once. Null: it had no key.
  idempotency_key bytea unique,
  request_hash bytea,
  check ((idempotency_key is null) = (request_hash is null))
);
create index adjustments_seller on adjustments (seller_id, created_at);
create trigger adjustments_append_only before update or delete on adjustments
  for each row execute function refuse_change();
create trigger adjustments_no_truncate before truncate on adjustments
  for each statement execute function refuse_change();
