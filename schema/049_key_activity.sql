-- Every request of a key that changes something, written before the change. So no change is missing here, whatever happens after it.
create table key_activity (
  id bigint generated always as identity primary key,
  seller_id text collate "C" not null references sellers on delete cascade,
  -- The key as it was. Its row goes some time after its end.
  key_id text collate "C" not null,
  key_name text not null check (length(key_name) <= 100),
  last_four text collate "C" not null,
  at timestamptz not null default now(),
  method text collate "C" not null check (length(method) <= 10),
  path text collate "C" not null check (length(path) <= 500),
  -- The status of the answer. Null: none was given yet, or the process ended before.
  status smallint check (status between 100 and 599)
);
create index key_activity_seller on key_activity (seller_id, id);
create index key_activity_at on key_activity (at);
