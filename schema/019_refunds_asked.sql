-- When the last try to have the refund made began. Before the first try the processor cannot have it, and while another try is
-- under way it is not known whether the processor has it.
alter table refunds add column asked_at timestamptz;
-- It is not known for refunds that are open now, so they count as tried.
update refunds set asked_at = created_at where state = 'requested';
