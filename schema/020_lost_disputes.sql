-- A bank can lose interest in a part of what it disputed: what had been refunded before comes back, and the dispute is called lost
-- all the same. Null: it is not lost, or was before this was noted, and then all of it is gone.
alter table disputes add column lost_minor bigint check (lost_minor between 0 and amount_minor);
