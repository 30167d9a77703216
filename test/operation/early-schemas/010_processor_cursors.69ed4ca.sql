create table processor_cursors (
  processor text collate "C" primary key,
  seen_until timestamptz not null,
  due_at timestamptz not null
);
