-- A buyer withdraws from a contract (Directive 2011/83/EU, Article 11a, as Directive (EU) 2023/2673 added it). The statement is kept as it
-- was made, and the mail that acknowledges it repeats it.
create table withdrawals (
  id text collate "C" primary key check (id ~ '^wdr_[0-9a-hjkmnp-tv-z]{26}$'),
  -- SHA-256 of the client's key: a repeat of the request is the same statement.
  request_key bytea not null unique check (octet_length(request_key) = 32),
  name text not null check (length(name) between 1 and 200),
  email text collate "C" not null check (length(email) <= 254),
  -- What identifies the contract, in the buyer's words: an order number, or what was bought and when.
  contract text not null check (length(contract) between 1 and 500),
  received_at timestamptz not null default now()
);
create index withdrawals_received on withdrawals (received_at);
create trigger withdrawals_append_only before update on withdrawals
  for each row execute function refuse_change();

-- The orders that a statement may be about. A job writes them after the answer, so that no answer tells whether an order exists.
create table withdrawal_orders (
  withdrawal_id text collate "C" not null references withdrawals on delete cascade,
  order_id text collate "C" not null references orders,
  seller_id text collate "C" not null references sellers,
  -- The statement has the number of the order. Otherwise it has only its address.
  is_named boolean not null,
  -- The statement has the address of the order.
  has_address boolean not null,
  -- The seller needs no reminder any more.
  done_at timestamptz,
  primary key (withdrawal_id, order_id)
);
create index withdrawal_orders_order on withdrawal_orders (order_id);
create index withdrawal_orders_open on withdrawal_orders (seller_id) where done_at is null;

-- When the orders of a statement were looked up. Without a row they will be.
create table withdrawal_lookups (
  withdrawal_id text collate "C" primary key references withdrawals on delete cascade,
  found integer not null check (found >= 0),
  looked_up_at timestamptz not null default now()
);
