-- When what is due of an order or passed on last changed. The service asks about a difference for 90 days from then: a refund long after
-- the sale gets all its tries.
alter table passes add column if not exists changed_at timestamptz not null default now();
