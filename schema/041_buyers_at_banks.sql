-- When the time of its order was over, the buyer was at the bank to confirm this payment, and got more time. Once: a payment that the
-- buyer has left looks the same.
alter table payments add column waited_at timestamptz;
