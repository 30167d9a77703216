-- When its order's time was over, the buyer was at the bank to confirm this payment, and got more time. Only once, because a
-- payment that the buyer has abandoned looks the same.
alter table payments add column waited_at timestamptz;
