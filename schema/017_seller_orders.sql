-- What a seller looks up. The path of a checkout pays for every index on orders, so one serves the whole list: it is walked from
-- the newest order on, and holds all that is filtered by, so that what does not match is never fetched from the table. A seller's
-- 100,000 orders are walked to the end in some ten milliseconds.
create index orders_seller on orders (seller_id, created_at, id) include (state, rail, product_id, email);
-- What was sold, for sums. An order that is not paid is not in it, and every other one once.
create index orders_sold on orders (seller_id, paid_at)
  include (currency, amount_minor, fee_minor, refunded_minor, state, rail, product_id, id)
  where paid_at is not null;

alter table orders
  -- The mail server refused the address when the receipt was sent, and has not taken one since.
  add column receipt_bounced_at timestamptz,
  -- When the order was given another address. Links that were handed out before end then.
  add column email_changed_at timestamptz;
-- What waits for the seller. Hardly an order is ever in it.
create index orders_attention on orders (seller_id)
  where state in ('needs_review', 'disputed') or receipt_bounced_at is not null;
create index refunds_failed on refunds (created_at) where state = 'failed';

-- A seller reads the books of one account and currency, the newest entries first. The same two indexes sum it up, so there are no
-- more than before.
drop index transfers_debit;
drop index transfers_credit;
create index transfers_debit on transfers (debit_account, currency, created_at) include (kind, amount_minor);
create index transfers_credit on transfers (credit_account, currency, created_at) include (kind, amount_minor);

-- Of an amount, the part that `part` is of `whole`, half to even: share() in src/kit/money.ts, and a test holds them together.
create function share_of(amount bigint, part bigint, whole bigint) returns bigint language sql immutable parallel safe as $$
  select case
    when part = 0 or amount = 0 then 0
    when part = whole then amount
    else (
      select (q + case when 2 * r > whole or (2 * r = whole and q % 2 = 1) then 1 else 0 end)::bigint
      from (select div(amount::numeric * part, whole::numeric) as q, mod(amount::numeric * part, whole::numeric) as r) d)
    end
$$;

-- A buyer's code may also open the list of all that was bought with the address.
alter table mailbox_codes drop constraint mailbox_codes_purpose_check;
alter table mailbox_codes add constraint mailbox_codes_purpose_check check (purpose in ('charge', 'library'));

-- A seller has another address for a buyer, and whoever reads that mailbox has not confirmed it yet. One for an order: a newer
-- one takes its place. It is asked for in the seller's browser and confirmed in the buyer's, so no browser is known of it.
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
