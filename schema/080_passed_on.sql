-- PAYOUTS=razorpay-route: the buyer pays at the service's own account, and the processor passes the price without the fee on to the
-- seller's account below it.

-- An older program that runs beside this one locks orders before it writes transfers. In the other order the two could wait for each
-- other. All migrations of one upgrade are one transaction, so the ones after this have both tables too.
lock table orders, transfers in access exclusive mode;

-- The books: `passed_on` takes what is owed to the seller to the seller's own account, `passed_back` brings it back before a refund.
-- The rows so far hold the narrower form, so nothing has to be read again.
alter table transfers drop constraint transfers_kind_check;
alter table transfers add constraint transfers_kind_check check (kind in (
  'sale', 'fee', 'refund', 'fee_refund', 'held', 'returned', 'dispute_hold', 'dispute_release', 'dispute_loss',
  'refund_failed', 'fee_again', 'return_failed', 'dispute_return', 'held_loss', 'held_loss_back',
  'passed_on', 'passed_back', 'payout', 'payout_failed', 'payout_reversed', 'adjustment')) not valid;

alter table orders drop constraint orders_connected_account_check;
alter table orders add constraint orders_connected_account_check
  check (connected_account ~ '^[a-z]+@acct?_[A-Za-z0-9]{1,200}$') not valid;

alter table connected_accounts drop constraint connected_accounts_account_check;
alter table connected_accounts add constraint connected_accounts_account_check check (account ~ '^acct?_[A-Za-z0-9]{1,200}$');
-- What the account is activated for, as a thing of its own with its own id. Null: the processor has no such thing, or was not asked yet.
alter table connected_accounts add column product text collate "C" check (product ~ '^acc_prd_[A-Za-z0-9]{1,40}$');

-- An account at another processor than the one that pays sellers now does not let its seller sell.
alter table account_rule add column processor text collate "C" not null default 'stripe';
create or replace function awaits_account(seller text, mailbox text) returns boolean language sql stable as $$
  select exists (select from account_rule where is_needed and mailbox <> all(own_mailboxes))
    and not exists (select from connected_accounts c join account_rule r on r.processor = c.processor
      where c.seller_id = seller and c.state = 'active' and c.ended_at is null)
$$;

-- The transfers at the processor, as it last reported them.
create table processor_transfers (
  processor text collate "C" not null,
  processor_transfer_id text collate "C" not null,
  order_id text collate "C" not null references orders,
  -- `passed` is final. What failed can still be passed on: the processor tries again for days.
  state text collate "C" not null check (state in ('pending', 'passed', 'failed')),
  amount_minor bigint not null check (amount_minor > 0),
  currency text collate "C" not null check (currency ~ '^[A-Z]{3}$'),
  -- So much of it is back. It only grows.
  reversed_minor bigint not null default 0 check (reversed_minor between 0 and amount_minor),
  -- The processor's reason.
  failure text check (length(failure) between 1 and 300),
  -- The settlement by which the seller's bank gets it, once there is one.
  settlement text collate "C",
  made_at timestamptz not null,
  primary key (processor, processor_transfer_id),
  check (state = 'passed' or reversed_minor = 0)
);
create index processor_transfers_order on processor_transfers (order_id);
create index processor_transfers_made on processor_transfers (processor, made_at);

-- What of an order belongs at the seller's account by the books, and what lies there. Where the two differ, the service asks again, and
-- the operator sees it.
create table passes (
  order_id text collate "C" primary key references orders,
  due_minor bigint not null check (due_minor >= 0),
  passed_minor bigint not null check (passed_minor >= 0),
  -- When the processor is asked next, while the two differ.
  look_at timestamptz not null default now() + interval '1 minute',
  looks integer not null default 0,
  -- A request that takes money back is under way until then: the processor has no key for it, so there is one at a time.
  taking_until timestamptz,
  created_at timestamptz not null default now()
);
create index passes_odd on passes (look_at) where due_minor <> passed_minor;
