-- What the register of the EU said about a buyer's tax id. `unavailable` says nothing about the id, and is asked again later.
create table tax_id_checks (
  invoice_id text collate "C" primary key references invoices,
  country text collate "C" not null check (country ~ '^[A-Z]{2}$'),
  tax_id text collate "C" not null check (length(tax_id) between 2 and 30),
  state text collate "C" not null default 'unchecked' check (state in ('valid', 'invalid', 'unavailable', 'unchecked')),
  -- VIES's proof that the seller has asked.
  consultation text collate "C",
  tries integer not null default 0,
  checked_at timestamptz,
  -- When it is asked next. Null: not again.
  due_at timestamptz
);
create index tax_id_checks_due on tax_id_checks (due_at) where due_at is not null;
