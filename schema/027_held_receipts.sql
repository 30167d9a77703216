-- A receipt of a free order is not mailed where too many were: per mailbox, per network, per seller who is not trusted yet, and of all
-- such sellers in a day. The order is as good as any; this says that its buyer has no mail of it, so that the page can say so.
alter table orders add column receipt_held_at timestamptz;
