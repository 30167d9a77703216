-- What a program has proposed and the seller has yet to decide. The seller confirms it on a page, once; the program never carries it out.
create table confirmations (
  id text collate "C" primary key,
  seller_id text collate "C" not null references sellers on delete cascade,
  -- The key that proposed it. Its row goes some time after its end, and nothing that an ended key proposed can be confirmed.
  key_id text collate "C" not null,
  key_name text not null check (length(key_name) <= 100),
  last_four text collate "C" not null,
  tool text collate "C" not null check (length(tool) <= 60),
  -- The request that a confirmation makes, with the version of what it changes.
  method text collate "C" not null check (length(method) <= 10),
  path text collate "C" not null check (length(path) <= 500),
  body jsonb not null check (length(body::text) <= 70000),
  if_match text collate "C" check (length(if_match) <= 200),
  -- What the page shows: exactly what the request does, when it was proposed.
  shown jsonb not null,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null,
  -- Set before the request is made. So a process that ends in between has made it at most once.
  decision text collate "C" check (decision in ('confirmed', 'declined')),
  decided_at timestamptz,
  -- The status of the request's answer. Null: none was given yet, or the process ended before.
  status smallint check (status between 100 and 599),
  check ((decision is null) = (decided_at is null)),
  check (status is null or decision = 'confirmed')
);
create index confirmations_open on confirmations (seller_id) where decision is null;
create index confirmations_created_at on confirmations (created_at);
