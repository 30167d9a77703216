-- An attempt to pay an order: one payment at one processor. The row exists before the request to the processor, and its id is the
-- idempotency key, so a repeat after a crash or a lost answer finds the same payment.
create table payments (
  id text collate "C" primary key check (id ~ '^pay_[0-9a-hjkmnp-tv-z]{26}$'),
  order_id text collate "C" not null references orders,
  processor text collate "C" not null,
  processor_payment_id text collate "C",
  state text collate "C" not null default 'starting' check (state in ('starting', 'open', 'processing', 'captured', 'canceled')),
  declines integer not null default 0,
  created_at timestamptz not null default now(),
  unique (processor, processor_payment_id),
  check ((state = 'starting') = (processor_payment_id is null))
);
create index payments_order on payments (order_id);
-- With two attempts under way at once a buyer could pay twice.
create unique index payments_one_live on payments (order_id) where state in ('starting', 'open', 'processing');

-- Money that arrived. An order is sold once: other captures are held and sent back, or a person looks at them.
create table captures (
  processor text collate "C" not null,
  processor_capture_id text collate "C" not null,
  payment_id text collate "C" not null references payments,
  order_id text collate "C" not null references orders,
  purpose text collate "C" not null check (purpose in ('sale', 'duplicate', 'mismatch')),
  amount_minor bigint not null check (amount_minor > 0),
  currency text collate "C" not null,
  rail text collate "C" not null,
  captured_at timestamptz not null,
  primary key (processor, processor_capture_id)
);
create unique index captures_one_sale on captures (order_id) where purpose = 'sale';
create index captures_order on captures (order_id);

create table refunds (
  id text collate "C" primary key check (id ~ '^ref_[0-9a-hjkmnp-tv-z]{26}$'),
  processor text collate "C" not null,
  processor_capture_id text collate "C" not null,
  processor_refund_id text collate "C",
  order_id text collate "C" not null references orders,
  amount_minor bigint not null check (amount_minor > 0),
  reason text collate "C" not null check (reason in ('duplicate', 'processor')),
  state text collate "C" not null check (state in ('requested', 'succeeded')),
  created_at timestamptz not null default now(),
  foreign key (processor, processor_capture_id) references captures,
  unique (processor, processor_refund_id)
);
create index refunds_order on refunds (order_id);

create table disputes (
  processor text collate "C" not null,
  processor_dispute_id text collate "C" not null,
  processor_capture_id text collate "C" not null,
  order_id text collate "C" not null references orders,
  amount_minor bigint not null check (amount_minor > 0),
  state text collate "C" not null check (state in ('open', 'won', 'lost')),
  primary key (processor, processor_dispute_id),
  foreign key (processor, processor_capture_id) references captures
);
create index disputes_order on disputes (order_id);

-- Every notification, once, written in the transaction that applies it. A processor repeats a notification that is not here.
create table processor_events (
  processor text collate "C" not null,
  event_id text collate "C" not null,
  type text collate "C" not null,
  processor_payment_id text collate "C",
  outcome text collate "C" not null check (outcome in ('applied', 'repeat', 'unknown_payment', 'ignored')),
  received_at timestamptz not null default now(),
  primary key (processor, event_id)
);
