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
  -- The agreed terms: later changes to the product do not change an order.
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
  -- When the reconciler looks at the order next. Null: nothing more is expected.
  due_at timestamptz,
  -- Until this time no instance asks the processor about it for a buyer (sync=1).
  sync_after timestamptz not null default '-infinity',
  -- SHA-256 of the buyer's Idempotency-Key and of the request; removed after a day.
  idempotency_key bytea,
  request_hash bytea,
  foreign key (product_id, seller_id) references products (id, seller_id),
  -- An order has paid_at exactly in the states with money.
  check ((state in ('paid', 'partially_refunded', 'refunded', 'disputed', 'charged_back')) = (paid_at is not null)),
  check (state <> 'refunded' or refunded_minor = amount_minor),
  check ((idempotency_key is null) = (request_hash is null))
);
create unique index orders_idempotency_key on orders (idempotency_key) where idempotency_key is not null;
create index orders_due on orders (due_at) where due_at is not null;

-- The events of an order, for the waiting buyer. Its creation is the order's own created_at.
create table order_events (
  id bigint generated always as identity primary key,
  order_id text collate "C" not null references orders,
  at timestamptz not null default now(),
  what text collate "C" not null check (what in (
    'payment_declined', 'payment_processing', 'paid', 'expired', 'partially_refunded', 'refunded', 'duplicate_refunded',
    'needs_review', 'disputed', 'dispute_won', 'charged_back'))
);
create index order_events_order on order_events (order_id, id);
