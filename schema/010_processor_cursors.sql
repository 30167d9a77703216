-- Until when everything that a processor lists as having happened was seen and settled. A shop that was down walks on from there.
create table processor_cursors (
  processor text collate "C" primary key,
  seen_until timestamptz not null,
  -- When the list is walked next: whoever walks puts it off first, so that of several instances one does.
  due_at timestamptz not null
);
