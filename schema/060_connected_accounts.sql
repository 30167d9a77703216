-- PAYOUTS=stripe-connect: a payment goes to the seller's own account at the processor, and this service takes only its fee.

-- A seller's accounts at a processor. The row exists before the request that makes the account, and its id is the idempotency key and
-- is written into the account: so a seller gets one account, however often the request repeats or the process dies.
create table connected_accounts (
  id text collate "C" primary key check (id ~ '^con_[0-9a-hjkmnp-tv-z]{26}$'),
  seller_id text collate "C" not null references sellers,
  processor text collate "C" not null,
  -- Null until the processor has answered.
  account text collate "C" check (account ~ '^acct_[A-Za-z0-9]{1,200}$'),
  -- As the processor reports it: the seller is still filling it in (open), it takes no payments for now (restricted), or it sells.
  state text collate "C" not null default 'open' check (state in ('open', 'restricted', 'active')),
  -- What the processor misses, in words for the seller.
  missing text[] not null default '{}',
  -- Whether the processor sends the account's money to the seller's bank.
  pays_out boolean not null default false,
  -- What the account's bank line begins with.
  statement_prefix text,
  read_at timestamptz,
  -- When the next reading is due: states change without a notification, and notifications get lost.
  due_at timestamptz not null default now(),
  -- The seller or the processor has ended our access. The row stays, for the orders that were made with the account.
  ended_at timestamptz,
  created_at timestamptz not null default now(),
  unique (processor, account),
  check (account is not null or state = 'open')
);
create unique index connected_accounts_one on connected_accounts (seller_id, processor) where ended_at is null;
create index connected_accounts_due on connected_accounts (due_at) where ended_at is null;

-- The account with which an order was made, as a processor's name with an account: `stripe@acct_1`. Null: the service's own account.
-- A seller who gets another account later leaves the orders of the first one there.
alter table orders add column connected_account text collate "C" check (connected_account ~ '^[a-z]+@acct_[A-Za-z0-9]{1,200}$');

-- Set while sellers need an account of their own: where that is so, and who sells without one. Each start of the service writes it.
create table account_rule (
  only_row boolean primary key default true check (only_row),
  is_needed boolean not null,
  -- The mailboxes whose products are the service's own.
  own_mailboxes text[] not null
);

-- The seller may not sell, because an account is needed and does not take payments yet. It stands in the row that each sale reads
-- anyway, so nobody pays for this check where no account is needed.
alter table sellers add column awaits_account boolean not null default false;

create function awaits_account(seller text, mailbox text) returns boolean language sql stable as $$
  select exists (select from account_rule where is_needed and mailbox <> all(own_mailboxes))
    and not exists (select from connected_accounts where seller_id = seller and state = 'active' and ended_at is null)
$$;
-- A new seller, and one with another mailbox, never sells for a moment without the account that is needed.
create function set_awaits_account() returns trigger language plpgsql as $$
begin
  new.awaits_account := awaits_account(new.id, new.email);
  return new;
end $$;
create trigger sellers_await_account before insert or update of email on sellers
  for each row execute function set_awaits_account();
-- The same transaction that changes an account changes what its seller may do.
create function account_changed() returns trigger language plpgsql as $$
begin
  update sellers s set awaits_account = awaits_account(s.id, s.email)
  where s.id = new.seller_id and s.awaits_account <> awaits_account(s.id, s.email);
  return null;
end $$;
create trigger connected_accounts_changed after insert or update of state, ended_at on connected_accounts
  for each row execute function account_changed();
