-- A seller's program hears of orders and products by webhooks, or pulls the same events. The statement that moves an order also writes
-- its event, so an event is there exactly when the move is.
alter table orders
  -- How many events the order has had. It numbers them without gaps, because the statement that counts has locked the order.
  add column event_count integer not null default 0;

-- What happened to a seller's orders and products, for 30 days. There is no foreign key to the orders: the statement that writes the
-- event has just changed that order, and orders are never removed.
create table events (
  id text collate "C" primary key check (id ~ '^evt_[0-9a-hjkmnp-tv-z]{26}$'),
  seller_id text collate "C" not null,
  type text collate "C" not null,
  -- The time inside the transaction, after the order was locked, so that the times of an order's events have the order of their numbers.
  at timestamptz not null default clock_timestamp(),
  order_id text collate "C",
  -- The number of the event among those of its order.
  sequence integer check (sequence > 0),
  -- The order or the product as it was, in the words of the statement that read it.
  data jsonb not null,
  -- The endpoint for which a test made it. Null: it happened.
  test_endpoint_id text collate "C",
  -- The place in the seller's list of events, given by the first reader after the commit. Times and ids do not order the list, because
  -- a transaction that began earlier can commit later, and its event would lie behind a reader who has gone on.
  position bigint,
  check ((order_id is null) = (sequence is null))
);
create sequence event_positions;
create unique index events_listed on events (seller_id, position) where position is not null;
create index events_unlisted on events (seller_id, at) where position is null and test_endpoint_id is null;

-- The addresses of sellers' programs. A row stays when its endpoint is removed: the statement that makes an order paid must never fail
-- because of an endpoint that goes at the same moment.
create table webhook_endpoints (
  id text collate "C" primary key check (id ~ '^we_[0-9a-hjkmnp-tv-z]{26}$'),
  seller_id text collate "C" not null references sellers,
  url text not null check (length(url) between 8 and 2048),
  -- Types of events, or * for all.
  events text[] not null check (cardinality(events) between 1 and 50),
  description text not null default '' check (length(description) <= 200),
  -- Encrypted with a key that is derived from the service's secret. Empty when the endpoint is removed.
  secret bytea not null,
  -- The secret before, which signs too until then.
  old_secret bytea,
  old_secret_until timestamptz,
  -- Why nothing is sent: `failing` for days, or `gone`, because the receiver said 410.
  paused text collate "C" check (paused in ('failing', 'gone')),
  paused_at timestamptz,
  -- The first failure after the last success.
  failing_since timestamptz,
  -- How many mails about the failures the seller has got.
  mails_sent integer not null default 0,
  -- The receiver has asked us to wait until then.
  held_until timestamptz not null default '-infinity',
  -- The process that sends to this endpoint, and for how long nobody else may.
  sender text,
  leased_until timestamptz not null default '-infinity',
  created_at timestamptz not null default now(),
  removed_at timestamptz,
  check ((paused is null) = (paused_at is null)),
  check ((old_secret is null) = (old_secret_until is null))
);
create index webhook_endpoints_seller on webhook_endpoints (seller_id) where removed_at is null;
create index webhook_endpoints_active on webhook_endpoints (id) where removed_at is null and paused is null;

-- One event for one endpoint, with all its tries. There are no foreign keys: a lock on the endpoint's row for each sale of a busy
-- seller would cost more than the row itself, and neither row is removed before the delivery.
create table webhook_deliveries (
  endpoint_id text collate "C" not null,
  event_id text collate "C" not null,
  state text collate "C" not null default 'waiting' check (state in ('waiting', 'delivered', 'failed')),
  -- When the next try is due. A delivery that is over has none.
  due_at timestamptz default now(),
  -- All tries so far, and how far the schedule is: a replay begins the schedule again.
  tries integer not null default 0,
  step integer not null default 0,
  -- How often it is sent again after a success, for a test that wants it twice.
  repeats integer not null default 0,
  created_at timestamptz not null default now(),
  delivered_at timestamptz,
  primary key (endpoint_id, event_id),
  check ((state = 'waiting') = (due_at is not null))
);
create index webhook_deliveries_due on webhook_deliveries (endpoint_id, due_at) where state = 'waiting';

-- What came of each try.
create table webhook_tries (
  endpoint_id text collate "C" not null,
  event_id text collate "C" not null,
  number integer not null check (number > 0),
  at timestamptz not null,
  took_ms integer not null,
  status integer,
  -- Null: the receiver took it.
  error text collate "C" check (error in ('dns', 'tls', 'timeout', 'refused', 'blocked', 'status', 'secret')),
  -- What went wrong, or the beginning of the receiver's answer.
  answer text not null default '',
  primary key (endpoint_id, event_id, number)
);
