-- Up to this time the backfill has read and settled a processor's list. A shop that was down continues from there.
create table processor_cursors (
  processor text collate "C" primary key,
  seen_until timestamptz not null,
  -- When the next backfill is due. A backfill moves it forward first, so that only one of several instances runs it.
  due_at timestamptz not null
);

-- The results of each nightly reconciliation, so that any instance can report them.
create table proofs (
  at timestamptz primary key default now(),
  differences integer not null check (differences >= 0),
  -- The number of processors or payments that could not be asked about.
  not_asked integer not null check (not_asked >= 0)
);
