-- Unfinished uploads. The statement that ends a complete one makes a row of files with the same id.
create table uploads (
  id text collate "C" primary key check (id ~ '^file_[0-9a-hjkmnp-tv-z]{26}$'),
  product_id text collate "C" not null,
  seller_id text collate "C" not null,
  name text not null check (length(name) between 1 and 255),
  size_bytes bigint not null check (size_bytes >= 0),
  -- The SHA-256 from the client, which the whole file must have. Null: none was given.
  sha256 text collate "C" check (sha256 ~ '^[0-9a-f]{64}$'),
  -- The file that this one replaces.
  replaces text collate "C" references files on delete set null,
  -- An upload is given up before it is removed: its bytes go before its row, and nothing can finish it any more.
  state text collate "C" not null default 'open' check (state in ('open', 'finished', 'given_up')),
  created_at timestamptz not null default now(),
  -- Each request with bytes moves it forward.
  expires_at timestamptz not null default now() + interval '1 day',
  -- The writer, across all instances. It is a lease, which a dead process loses.
  lock_holder uuid,
  locked_until timestamptz,
  -- Another writer waits, so a connection that is dead without knowing it is given up.
  lock_wanted boolean not null default false,
  foreign key (product_id, seller_id) references products (id, seller_id),
  check ((lock_holder is null) = (locked_until is null))
);
create index uploads_seller on uploads (seller_id) where state = 'open';
create index uploads_expires on uploads (expires_at);
