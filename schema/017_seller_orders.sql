-- The sellers' lists. A checkout pays for every index on orders, so one index serves the whole list: a query walks it from the
-- newest order on, and it has all filtered columns, so no row that does not match is read from the table. Walking a seller's
-- 100,000 orders to the end takes some ten milliseconds.
create index orders_seller on orders (seller_id, created_at, id) include (state, rail, product_id, email);
-- Paid orders, for sums. Unpaid orders are not in it, and every other one is in it once.
create index orders_sold on orders (seller_id, paid_at)
  include (currency, amount_minor, fee_minor, refunded_minor, state, rail, product_id, id)
  where paid_at is not null;

alter table orders
  -- The mail server refused the address when the receipt was sent, and has not accepted one since.
  add column receipt_bounced_at timestamptz,
  -- When the order got another address. Links from before end then.
  add column email_changed_at timestamptz;
-- The orders that wait for the seller, which are very few.
create index orders_attention on orders (seller_id)
  where state in ('needs_review', 'disputed') or receipt_bounced_at is not null;
create index refunds_failed on refunds (created_at) where state = 'failed';

-- A seller reads the entries of one account and currency, newest first. The same two indexes also sum them, so the number of
-- indexes does not grow.
drop index transfers_debit;
drop index transfers_credit;
create index transfers_debit on transfers (debit_account, currency, created_at) include (kind, amount_minor);
create index transfers_credit on transfers (credit_account, currency, created_at) include (kind, amount_minor);

-- The share of an amount that `part` is of `whole`, half to even: share() in src/kit/money.ts, and a test compares them.
create function share_of(amount bigint, part bigint, whole bigint) returns bigint language sql immutable parallel safe as $$
  select case
    when part = 0 or amount = 0 then 0
    when part = whole then amount
    else (
      select (q + case when 2 * r > whole or (2 * r = whole and q % 2 = 1) then 1 else 0 end)::bigint
      from (select div(amount::numeric * part, whole::numeric) as q, mod(amount::numeric * part, whole::numeric) as r) d)
    end
$$;

-- A buyer's code can also open the list of all orders of the address.
alter table mailbox_codes drop constraint mailbox_codes_purpose_check;
alter table mailbox_codes add constraint mailbox_codes_purpose_check check (purpose in ('charge', 'library'));

-- A seller has named another address for a buyer, and its reader has not confirmed it yet. An order has one such change, which a
-- newer one replaces. The seller's browser requests it and the buyer's browser confirms it, so it belongs to no browser.
create table email_changes (
  order_id text collate "C" primary key references orders,
  id uuid not null unique,
  email text not null check (email = lower(btrim(email)) and length(email) between 3 and 254),
  -- HMAC of order, address and code.
  code_hash bytea not null check (octet_length(code_hash) = 32),
  wrong_tries integer not null default 0 check (wrong_tries between 0 and 5),
  created_at timestamptz not null default now(),
  expires_at timestamptz not null
);
create index email_changes_expires on email_changes (expires_at);
