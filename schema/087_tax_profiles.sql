-- What a seller says about tax. Without a row nothing is said about tax, and orders are as before.
create table tax_profiles (
  seller_id text collate "C" primary key references sellers,
  country text collate "C" not null check (country ~ '^[A-Z]{2}$'),
  -- The seller's own tax ids, as the seller writes them.
  tax_ids text[] not null default '{}' check (cardinality(tax_ids) <= 10),
  -- The seller pays the tax of other EU countries through the one-stop-shop.
  has_oss boolean not null,
  -- The seller charges no tax, for example as a small business.
  is_exempt boolean not null,
  -- The seller's prices contain the tax. False: the tax comes on top.
  is_inclusive boolean not null,
  -- Which of a country's rates applies to what the seller sells.
  category text collate "C" not null check (category ~ '^[a-z][a-z0-9-]{0,39}$'),
  updated_at timestamptz not null default now()
);

-- It stands in the row that each sale reads anyway, so an order without tax costs what it did.
alter table sellers add column charges_tax boolean not null default false;
create function charges_tax_changed() returns trigger language plpgsql as $$
begin
  update sellers set charges_tax = (tg_op <> 'DELETE')
  where id = coalesce(new.seller_id, old.seller_id) and charges_tax <> (tg_op <> 'DELETE');
  return null;
end $$;
create trigger tax_profiles_changed after insert or delete on tax_profiles
  for each row execute function charges_tax_changed();

-- The rates that the operator has loaded. A load replaces all of them; orders keep the rate they were made with.
create table tax_rates (
  country text collate "C" not null check (country ~ '^[A-Z]{2}$'),
  category text collate "C" not null check (category ~ '^[a-z][a-z0-9-]{0,39}$'),
  -- Percent.
  rate numeric(6, 3) not null check (rate >= 0 and rate < 100),
  valid_from date not null,
  -- The last day. Null: until further notice.
  valid_to date check (valid_to >= valid_from),
  primary key (country, category, valid_from)
);
