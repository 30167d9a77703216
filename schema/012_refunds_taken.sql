-- When the processor said that it has taken the refund. From then on only its own word ends it: one that is called failed
-- too early is asked for again, and goes out twice.
alter table refunds add column taken_at timestamptz;
