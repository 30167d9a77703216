-- A lost dispute over a part of the price used to take all the files. These orders get the state of the present rule, and their
-- buyers have the files again: less than the price went back, by refunds and lost disputes together. More can go back, so the
-- reconciler looks at them again, which it does not do for charged-back orders.
with parts as (
  select o.id, exists (select from disputes d join captures c using (processor, processor_capture_id)
      where d.order_id = o.id and d.state = 'open' and c.purpose = 'sale') as disputed
  from orders o
  where o.state = 'charged_back'
    and exists (select from disputes d where d.order_id = o.id and d.state = 'lost')
    and o.refunded_minor + (select coalesce(sum(coalesce(d.lost_minor, d.amount_minor)), 0)
      from disputes d join captures c using (processor, processor_capture_id)
      where d.order_id = o.id and d.state = 'lost' and c.purpose = 'sale') < o.amount_minor),
moved as (
  update orders o set state = case when p.disputed then 'disputed' else 'partially_refunded' end, due_at = now()
  from parts p where o.id = p.id returning o.id)
insert into order_events (order_id, what) select id, 'partially_charged_back' from moved;
