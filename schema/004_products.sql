create table products (
  id text collate "C" primary key check (id ~ '^prod_[0-9a-hjkmnp-tv-z]{26}$'),
  seller_id text collate "C" not null references sellers,
  name text not null check (length(name) between 1 and 200),
  description text not null default '' check (length(description) <= 5000),
  status text collate "C" not null default 'draft' check (status in ('draft', 'active', 'archived')),
  price_minor bigint not null check (price_minor between 1 and 999999999999),
  currency text collate "C" not null check (currency ~ '^[A-Z]{3}$'),
  -- The text after the operator's prefix on a bank statement, in characters that every card network allows.
  statement_suffix text collate "C" not null check (statement_suffix ~ '^[A-Z0-9][A-Z0-9 .-]{0,20}$'),
  image_url text check (length(image_url) <= 2000),
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  -- An order references both columns, so one foreign key checks both.
  unique (id, seller_id)
);

-- A file's row and bytes never change, so a buyer keeps the bought version. Removing a file from a product sets removed_at, and
-- earlier buyers still have it.
create table files (
  id text collate "C" primary key check (id ~ '^file_[0-9a-hjkmnp-tv-z]{26}$'),
  product_id text collate "C" not null references products,
  name text not null check (length(name) between 1 and 255),
  size_bytes bigint not null check (size_bytes >= 0),
  sha256 text collate "C" not null check (sha256 ~ '^[0-9a-f]{64}$'),
  content_type text collate "C" not null,
  created_at timestamptz not null default now(),
  removed_at timestamptz
);
create index files_product on files (product_id, id);
