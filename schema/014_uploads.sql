-- Files on their way here. What is whole becomes a row of files with the same id, in the statement that ends the upload.
create table uploads (
  id text collate "C" primary key check (id ~ '^file_[0-9a-hjkmnp-tv-z]{26}$'),
  product_id text collate "C" not null,
  seller_id text collate "C" not null,
  name text not null check (length(name) between 1 and 255),
  size_bytes bigint not null check (size_bytes >= 0),
  -- What the whole must hash to, as its sender says. Null: nobody said.
  sha256 text collate "C" check (sha256 ~ '^[0-9a-f]{64}$'),
  -- The file in whose place it comes.
  replaces text collate "C" references files on delete set null,
  -- Given up is before gone: its bytes are removed before its row, and nothing can finish it any more.
  state text collate "C" not null default 'open' check (state in ('open', 'finished', 'given_up')),
  created_at timestamptz not null default now(),
  -- Put off by whatever arrives.
  expires_at timestamptz not null default now() + interval '1 day',
  -- Who writes to it, over all instances. A lease: who dies loses it.
  lock_holder uuid,
  locked_until timestamptz,
  -- Somebody else waits: a connection that is dead, and does not know it, is then given up.
  lock_wanted boolean not null default false,
  foreign key (product_id, seller_id) references products (id, seller_id),
  check ((lock_holder is null) = (locked_until is null))
);
create index uploads_seller on uploads (seller_id) where state = 'open';
create index uploads_expires on uploads (expires_at);
