-- The sandbox plays a processor and has, like one, a state of its own. No other slice reads it.
create table sandbox_payments (
  id text collate "C" primary key,
  start_key text collate "C" not null unique,
  payment jsonb not null,
  created_at timestamptz not null default now()
);
