-- needs: 043_outbox_retention
-- Some early migrations were changed after databases had been made with them. This gives those databases what the others have.
-- It changes nothing in a database that was made later.
create table if not exists proofs (
  at timestamptz primary key default now(),
  differences integer not null check (differences >= 0),
  not_asked integer not null check (not_asked >= 0)
);

drop index if exists products_of_seller;
alter table orders add column if not exists address_kept_at timestamptz;

do $$
declare
  has_column constant text := 'select exists (select from information_schema.columns
    where table_schema = current_schema() and table_name = $1 and column_name = $2)';
  has_index constant text := 'select exists (select from pg_indexes
    where schemaname = current_schema() and indexname = $1 and position($2 in indexdef) > 0)';
  found boolean;
begin
  if exists (select from information_schema.columns where table_schema = current_schema()
      and table_name = 'one_time_codes' and column_name = 'email' and collation_name = 'C') then
    alter table one_time_codes alter column email type text collate "default";
  end if;

  -- a mailbox had one code, and not one for each browser
  execute has_index into found using 'mailbox_codes_pkey', '(email)';
  if found then
    alter table mailbox_codes
      drop constraint mailbox_codes_pkey, drop constraint mailbox_codes_id_key, add primary key (id);
  end if;

  execute has_index into found using 'transfers_debit', '(debit_account, created_at)';
  if found then
    drop index transfers_debit, transfers_credit;
    create index transfers_debit on transfers (debit_account, currency, created_at) include (kind, amount_minor);
    create index transfers_credit on transfers (credit_account, currency, created_at) include (kind, amount_minor);
  end if;
  execute has_index into found using 'orders_sold', 'product_id)';
  if found then
    drop index orders_sold;
    create index orders_sold on orders (seller_id, paid_at)
      include (currency, amount_minor, fee_minor, refunded_minor, state, rail, product_id, id) where paid_at is not null;
  end if;

  -- the answer "keep my order" stood with the change of the address, and ended with it
  execute has_column into found using 'email_changes', 'kept_at';
  if found then
    update orders o set address_kept_at = c.kept_at from email_changes c where c.order_id = o.id and c.kept_at is not null;
    alter table email_changes drop column kept_at;
  end if;

  execute has_column into found using 'payment_refusals', 'product_id';
  if not found then
    alter table payment_refusals add column product_id text collate "C" not null default '';
    alter table payment_refusals
      alter column product_id drop default, drop constraint payment_refusals_pkey,
      add primary key (seller_id, processor, code, parameter, product_id);
    -- the reconciler looks at these again, as it does where a later 040 gave them back to their buyers
    update orders o set due_at = now()
    where o.state in ('disputed', 'partially_refunded')
      and exists (select from order_events e where e.order_id = o.id and e.what = 'partially_charged_back');
  end if;

  if not exists (select from pg_constraint where conname = 'account_events_what_check'
      and position('support_email_changed' in pg_get_constraintdef(oid)) > 0) then
    alter table account_events drop constraint account_events_what_check;
    alter table account_events add constraint account_events_what_check check (what in ('identity_linked',
      'identity_added', 'identity_unlinked', 'password_changed', 'email_changed', 'support_email_changed'));
  end if;
end
$$;
