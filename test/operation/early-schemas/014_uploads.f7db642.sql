create table uploads (
  id text collate "C" primary key check (id ~ '^file_[0-9a-hjkmnp-tv-z]{26}$'),
  product_id text collate "C" not null,
  seller_id text collate "C" not null,
  name text not null check (length(name) between 1 and 255),
  size_bytes bigint not null check (size_bytes >= 0),
  sha256 text collate "C" check (sha256 ~ '^[0-9a-f]{64}$'),
  replaces text collate "C" references files on delete set null,
  state text collate "C" not null default 'open' check (state in ('open', 'finished', 'given_up')),
  created_at timestamptz not null default now(),
  expires_at timestamptz not null default now() + interval '1 day',
  lock_holder uuid,
  locked_until timestamptz,
  lock_wanted boolean not null default false,
  foreign key (product_id, seller_id) references products (id, seller_id),
  check ((lock_holder is null) = (locked_until is null))
);
create index uploads_seller on uploads (seller_id) where state = 'open';
create index uploads_expires on uploads (expires_at);
create index products_of_seller on products (seller_id);
