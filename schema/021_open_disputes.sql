-- The reconciler looked at an order for the last time a month after it was paid, or when all of its money had gone back, also while
-- a bank had not decided yet. Without a notification of the decision the held money would stay held for ever, so the reconciler
-- looks at all of them again.
update orders o set due_at = now()
where due_at is null and exists (select from disputes d where d.order_id = o.id and d.state = 'open');
