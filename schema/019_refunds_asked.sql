-- When a try to have the refund made last began. Until there was one the processor cannot have it, whatever it would say; and
-- while another try is under way nobody knows that it has not.
alter table refunds add column asked_at timestamptz;
-- Of those that are open nobody knows: they count as asked for.
update refunds set asked_at = created_at where state = 'requested';
