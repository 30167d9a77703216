-- When the processor accepted the refund. From then on only the processor ends it: a seller would repeat a refund that is called
-- failed too early, and the money would go out twice.
alter table refunds add column taken_at timestamptz;
