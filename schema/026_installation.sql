-- The secret and the file storage of this database. An instance with another secret signs links that the others refuse, and one
-- with another folder has none of the files: both look like a running service, so neither may start.
create table installation (
  only_row boolean primary key default true check (only_row),
  -- derived from SECRET by a one-way function; null: the next start stores that of its own secret
  secret_fingerprint text,
  -- the storage holds an object with the same text
  storage_id text not null,
  -- null: the object may not have been written yet
  storage_confirmed_at timestamptz
);
