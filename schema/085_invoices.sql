-- A seller who has switched invoices on, with what the law wants on them. Without a row nothing is issued.
create table invoice_profiles (
  seller_id text collate "C" primary key references sellers,
  -- Begins every number of this seller, and is no other seller's. It stays, also when invoices are switched off.
  prefix text collate "C" not null unique check (prefix ~ '^[A-HJKMNP-TV-Z][0-9A-HJKMNP-TV-Z]{3,9}$'),
  is_on boolean not null,
  legal_name text not null check (length(legal_name) between 1 and 200),
  address text[] not null check (cardinality(address) between 1 and 5),
  city text not null check (length(city) between 1 and 100),
  postcode text not null check (length(postcode) <= 20),
  country text collate "C" not null check (country ~ '^[A-Z]{2}$'),
  -- [{country, id}], each checked by its digits.
  tax_ids jsonb not null default '[]' check (jsonb_typeof(tax_ids) = 'array' and pg_column_size(tax_ids) < 2000),
  -- What stands below the sums, such as the reason why no tax is charged.
  note text check (length(note) between 1 and 500),
  changed_at timestamptz not null default now()
);

-- The last number of each series of a seller and a year (UTC). A transaction takes its numbers by an update of the row, so another
-- one waits for its end, and a number that was taken in vain comes again: no gap and no repeat.
create table invoice_counters (
  seller_id text collate "C" not null references sellers,
  kind text collate "C" not null check (kind in ('invoice', 'credit_note', 'correction')),
  year integer not null,
  last integer not null check (last > 0),
  -- So that a later number is never dated before an earlier one.
  last_at timestamptz not null,
  primary key (seller_id, kind, year)
);

-- Invoices, credit notes and corrected invoices. `data` is all that the document shows, as it was when it was issued.
create table invoices (
  id text collate "C" primary key check (id ~ '^inv_[0-9a-hjkmnp-tv-z]{26}$'),
  seller_id text collate "C" not null references sellers,
  order_id text collate "C" not null references orders,
  kind text collate "C" not null check (kind in ('invoice', 'credit_note', 'correction')),
  -- `returned`: money of a credit note came again, because a refund failed or a bank gave back what a lost dispute took.
  reason text collate "C" not null check (reason in ('sale', 'refund', 'chargeback', 'returned', 'buyer_details')),
  -- What caused it: with the order and the reason it is there once.
  cause text collate "C" not null,
  -- The invoice of the sale. Null exactly for that invoice itself.
  refers_to text collate "C" references invoices,
  year integer not null,
  sequence integer not null check (sequence > 0),
  number text collate "C" not null unique,
  issued_at timestamptz not null,
  amount_minor bigint not null check (amount_minor > 0),
  currency text collate "C" not null check (currency ~ '^[A-Z]{3}$'),
  -- The tax within the amount. Null: nothing is said about tax.
  tax_minor bigint check (tax_minor between 0 and amount_minor),
  data jsonb not null,
  unique (seller_id, kind, year, sequence),
  unique (order_id, reason, cause),
  check ((reason = 'sale') = (refers_to is null)),
  check (kind = case when reason in ('sale', 'returned') then 'invoice' when reason = 'buyer_details' then 'correction' else 'credit_note' end)
);
create unique index invoices_one_sale on invoices (order_id) where reason = 'sale';
create index invoices_order on invoices (order_id, id);
create index invoices_seller on invoices (seller_id, id desc);
-- An invoice that was issued is never changed: a further document corrects it.
create trigger invoices_append_only before update or delete on invoices
  for each row execute function refuse_change();
create trigger invoices_no_truncate before truncate on invoices
  for each statement execute function refuse_change();
