-- What a processor refuses to start payments for, and will refuse again until an account, a key or a setting changes. The seller and the
-- operator are told once a week: the row is found again by what was refused. An empty parameter: the processor named none.
create table payment_refusals (
  seller_id text collate "C" not null references sellers (id),
  processor text collate "C" not null,
  code text collate "C" not null check (length(code) <= 100),
  parameter text collate "C" not null check (length(parameter) <= 100),
  -- Of an amount, the product whose it is; empty for what all products have in common.
  product_id text collate "C" not null,
  times bigint not null default 1,
  first_at timestamptz not null default now(),
  last_at timestamptz not null default now(),
  told_at timestamptz not null default now(),
  primary key (seller_id, processor, code, parameter, product_id)
);

-- The ways of paying that an account offers, by the processor's names, as it said when it was last asked: so that a restart while the
-- processor is away, and every instance, knows them.
create table processor_ways (
  processor text collate "C" primary key,
  ways text[] not null,
  asked_at timestamptz not null default now()
);

-- A bank that takes a part of the price back leaves the order as a refund of a part does.
alter table order_events drop constraint order_events_what_check;
alter table order_events add constraint order_events_what_check check (what in (
  'payment_declined', 'payment_processing', 'paid', 'expired', 'refund_requested', 'refund_failed', 'partially_refunded',
  'refunded', 'duplicate_refunded', 'payment_returned', 'needs_review', 'disputed', 'dispute_won', 'charged_back',
  'partially_charged_back')) not valid;
