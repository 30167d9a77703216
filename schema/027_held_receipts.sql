-- A receipt of a free order is not mailed after too many: for each mailbox, each network, each untrusted seller, and all untrusted
-- sellers in a day. The order itself is complete; this column lets its page say that no mail was sent.
alter table orders add column receipt_held_at timestamptz;
