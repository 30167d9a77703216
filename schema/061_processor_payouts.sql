-- The processor pays a seller's own account out to the seller's bank. These rows repeat what it says, so that sellers and their
-- bookkeepers find such payouts beside those of this service. They are no entries of the ledger: the money was never here.
create table processor_payouts (
  id text collate "C" primary key check (id ~ '^po_[0-9a-hjkmnp-tv-z]{26}$'),
  seller_id text collate "C" not null references sellers,
  -- With the account: `stripe@acct_1`.
  processor text collate "C" not null,
  processor_payout_id text collate "C" not null,
  currency text collate "C" not null check (currency ~ '^[A-Z]{3}$'),
  amount_minor bigint not null check (amount_minor > 0),
  -- `reversed`: the bank had it, and it came back.
  state text collate "C" not null check (state in ('sent', 'paid', 'failed', 'reversed')),
  created_at timestamptz not null,
  paid_at timestamptz,
  ended_at timestamptz,
  failure text check (length(failure) between 1 and 500),
  -- What the payout is made of has been read. Null: it has not, or the processor does not know.
  itemised_at timestamptz,
  unique (processor, processor_payout_id),
  check ((state in ('failed', 'reversed')) = (ended_at is not null))
);
create index processor_payouts_seller on processor_payouts (seller_id, created_at, id);

create table processor_payout_items (
  payout_id text collate "C" not null references processor_payouts,
  -- The processor's id of the movement.
  id text collate "C" not null,
  kind text collate "C" not null check (kind in ('sale', 'refund', 'dispute', 'other')),
  -- The processor's name of the movement, such as application_fee_refund.
  what text not null check (length(what) between 1 and 100),
  -- Null: it belongs to no order of this service.
  order_id text collate "C" references orders,
  amount_minor bigint not null,
  -- What the processor and this service took of it.
  fee_minor bigint not null,
  moved_at timestamptz not null,
  primary key (payout_id, id)
);
create index processor_payout_items_order on processor_payout_items (order_id) where order_id is not null;
