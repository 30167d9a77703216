-- When the seller got the mail that the processor has not confirmed a refund: once, however often the processor is asked.
alter table refunds add column told_at timestamptz;
