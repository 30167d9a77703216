-- Until when everything that a processor lists as having happened was seen and settled. A shop that was down walks on from there.
create table processor_cursors (
  processor text collate "C" primary key,
  seen_until timestamptz not null,
  -- When the list is walked next: whoever walks puts it off first, so that of several instances one does.
  due_at timestamptz not null
);

-- What each nightly proof has found: any instance can be asked for it, whichever of them did the work.
create table proofs (
  at timestamptz primary key default now(),
  differences integer not null check (differences >= 0),
  -- Of processors or payments, how many could not be asked about.
  not_asked integer not null check (not_asked >= 0)
);
