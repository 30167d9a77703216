create index orders_seller on orders (seller_id, created_at, id) include (state, rail, product_id, email);
create index orders_sold on orders (seller_id, paid_at)
  include (currency, amount_minor, fee_minor, refunded_minor, state, rail, product_id)
  where paid_at is not null;
alter table orders
  add column receipt_bounced_at timestamptz,
  add column email_changed_at timestamptz;
create index orders_attention on orders (seller_id)
  where state in ('needs_review', 'disputed') or receipt_bounced_at is not null;
create index refunds_failed on refunds (created_at) where state = 'failed';
drop index transfers_debit;
drop index transfers_credit;
create index transfers_debit on transfers (debit_account, created_at) include (kind, currency, amount_minor);
create index transfers_credit on transfers (credit_account, created_at) include (kind, currency, amount_minor);
create function share_of(amount bigint, part bigint, whole bigint) returns bigint language sql immutable parallel safe as $$
  select case
    when part = 0 or amount = 0 then 0
    when part = whole then amount
    else (
      select (q + case when 2 * r > whole or (2 * r = whole and q % 2 = 1) then 1 else 0 end)::bigint
      from (select div(amount::numeric * part, whole::numeric) as q, mod(amount::numeric * part, whole::numeric) as r) d)
    end
$$;
alter table mailbox_codes drop constraint mailbox_codes_purpose_check;
alter table mailbox_codes add constraint mailbox_codes_purpose_check check (purpose in ('charge', 'library'));
create table email_changes (
  order_id text collate "C" primary key references orders,
  id uuid not null unique,
  email text not null check (email = lower(btrim(email)) and length(email) between 3 and 254),
  code_hash bytea not null check (octet_length(code_hash) = 32),
  wrong_tries integer not null default 0 check (wrong_tries between 0 and 5),
  created_at timestamptz not null default now(),
  expires_at timestamptz not null
);
create index email_changes_expires on email_changes (expires_at);
