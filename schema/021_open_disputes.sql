-- An order was looked at for the last time a month after it was paid, or when all of it had gone back, also while a bank had not
-- decided yet. Where nobody told the end of such a dispute, what was held for it would be held for ever: all of them are looked at
-- again.
update orders o set due_at = now()
where due_at is null and exists (select from disputes d where d.order_id = o.id and d.state = 'open');
