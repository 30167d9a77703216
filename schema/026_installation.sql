-- Which secret and which file storage belong to this database. An instance that has another secret signs links that the others
-- refuse, and one with another folder has none of the files: both look like a running service, so neither may start.
create table installation (
  only_row boolean primary key default true check (only_row),
  -- derived from SECRET by a one-way function; null: the next start enters its own
  secret_fingerprint text,
  -- the storage holds an object with the same text
  storage_id text not null,
  -- null: the object may not have been written yet
  storage_confirmed_at timestamptz
);
