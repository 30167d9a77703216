-- 2 % of an amount in minor units, half to even: src/kit/money.ts says the same, and a test holds them together.
create function fee_of(amount_minor bigint) returns bigint language sql immutable parallel safe as $$
  select amount_minor / 50 + case
    when amount_minor % 50 > 25 then 1
    when amount_minor % 50 = 25 then (amount_minor / 50) % 2
    else 0 end
$$;

create table orders (
  id text collate "C" primary key check (id ~ '^ord_[0-9a-hjkmnp-tv-z]{26}$'),
  product_id text collate "C" not null,
  seller_id text collate "C" not null,
  email text not null check (length(email) between 3 and 254),
  -- What was agreed: later changes to the product do not reach an order.
  product_name text not null,
  amount_minor bigint not null check (amount_minor between 1 and 999999999999),
  currency text collate "C" not null check (currency ~ '^[A-Z]{3}$'),
  fee_minor bigint not null check (fee_minor = fee_of(amount_minor)),
  statement_descriptor text collate "C" not null check (statement_descriptor ~ '^[A-Z0-9 .-]{5,22}$'),
  state text collate "C" not null default 'pending' check (state in (
    'pending', 'processing', 'paid', 'partially_refunded', 'refunded', 'disputed', 'charged_back', 'expired', 'needs_review')),
  rail text collate "C" check (rail in ('card', 'debit', 'bank_transfer', 'upi', 'apple_pay', 'google_pay', 'wallet')),
  refunded_minor bigint not null default 0 check (refunded_minor between 0 and amount_minor),
  created_at timestamptz not null default now(),
  paid_at timestamptz,
  expires_at timestamptz not null,
  -- When the reconciler looks at the order next; null once nothing is to be expected any more.
  due_at timestamptz,
  -- Until when nobody may ask the processor about it on a buyer's behalf (sync=1), over all instances.
  sync_after timestamptz not null default '-infinity',
  -- SHA-256 of the buyer's Idempotency-Key and of what was asked with it; forgotten after a day.
  idempotency_key bytea,
  request_hash bytea,
  foreign key (product_id, seller_id) references products (id, seller_id),
  -- Money arrived exactly in the states that say so.
  check ((state in ('paid', 'partially_refunded', 'refunded', 'disputed', 'charged_back')) = (paid_at is not null)),
  check (state <> 'refunded' or refunded_minor = amount_minor),
  check ((idempotency_key is null) = (request_hash is null))
);
create unique index orders_idempotency_key on orders (idempotency_key) where idempotency_key is not null;
create index orders_due on orders (due_at) where due_at is not null;

-- What happened to an order, for the person who waits. Its creation is the order's own created_at.
create table order_events (
  id bigint generated always as identity primary key,
  order_id text collate "C" not null references orders,
  at timestamptz not null default now(),
  what text collate "C" not null check (what in (
    'payment_declined', 'payment_processing', 'paid', 'expired', 'partially_refunded', 'refunded', 'duplicate_refunded',
    'needs_review', 'disputed', 'dispute_won', 'charged_back'))
);
create index order_events_order on order_events (order_id, id);
