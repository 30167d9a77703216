create table payment_refusals (
  seller_id text collate "C" not null references sellers (id),
  processor text collate "C" not null,
  code text collate "C" not null check (length(code) <= 100),
  parameter text collate "C" not null check (length(parameter) <= 100),
  times bigint not null default 1,
  first_at timestamptz not null default now(),
  last_at timestamptz not null default now(),
  told_at timestamptz not null default now(),
  primary key (seller_id, processor, code, parameter)
);
create table processor_ways (
  processor text collate "C" primary key,
  ways text[] not null,
  asked_at timestamptz not null default now()
);
alter table order_events drop constraint order_events_what_check;
alter table order_events add constraint order_events_what_check check (what in (
  'payment_declined', 'payment_processing', 'paid', 'expired', 'refund_requested', 'refund_failed', 'partially_refunded',
  'refunded', 'duplicate_refunded', 'payment_returned', 'needs_review', 'disputed', 'dispute_won', 'charged_back',
  'partially_charged_back')) not valid;
