-- Whether the payments in this database are real ('live') or tries ('test'). Null: no start has looked yet.
alter table installation add column payments_mode text check (payments_mode in ('live', 'test'));
