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
  update orders o set state = case when p.disputed then 'disputed' else 'partially_refunded' end
  from parts p where o.id = p.id returning o.id)
insert into order_events (order_id, what) select id, 'partially_charged_back' from moved;
