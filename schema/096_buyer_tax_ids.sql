-- The tax id with which a buyer ordered as a business, pinned when the order was made. Kept for ten years, and never changed.
create table buyer_tax_ids (
  order_id text collate "C" primary key references orders,
  country text collate "C" not null check (country ~ '^[A-Z]{2}$'),
  tax_id text collate "C" not null check (length(tax_id) between 2 and 30),
  -- `valid`: the register of the EU (VIES) said so. `unchecked`: VIES was not asked, because the tax does not depend on it.
  verdict text collate "C" not null check (verdict in ('valid', 'unchecked')),
  -- VIES's proof that the seller has asked.
  consultation text collate "C",
  -- The seller's own VAT number, which an invoice with reverse charge must have.
  seller_tax_id text collate "C",
  -- When VIES said it, or when the order was made.
  checked_at timestamptz not null,
  noted_at timestamptz not null default now(),
  check (verdict = 'unchecked' or seller_tax_id is not null)
);
create index buyer_tax_ids_noted on buyer_tax_ids (noted_at);
create trigger buyer_tax_ids_append_only before update or delete on buyer_tax_ids
  for each row execute function keep_ten_years();
create trigger buyer_tax_ids_no_truncate before truncate on buyer_tax_ids
  for each statement execute function refuse_change();

-- Ids that VIES called valid for a seller within the last day, so that the price that a buyer saw is the price of the order.
create table vies_answers (
  seller_id text collate "C" not null references sellers,
  country text collate "C" not null,
  tax_id text collate "C" not null,
  consultation text collate "C",
  answered_at timestamptz not null default now(),
  primary key (seller_id, country, tax_id)
);
create index vies_answers_answered on vies_answers (answered_at);
