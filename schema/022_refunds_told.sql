-- When the seller was told that nobody knows whether the processor has made a refund: once, however often it is asked about.
alter table refunds add column told_at timestamptz;
