-- Whether only the backfill has found the event in the processor's list, so far. False: a notification brought it. Rows from before this
-- column count as brought.
alter table processor_events add column backfilled boolean not null default false;
