-- A bank can give up a part of a dispute: money that was refunded before comes back, and the dispute is still called lost. Null: it
-- is not lost, or was lost before this column, and then all of it is gone.
alter table disputes add column lost_minor bigint check (lost_minor between 0 and amount_minor);
