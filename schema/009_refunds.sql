-- Sellers refund. Refunds can fail at once, or days after the processor called them done, when the buyer's bank has sent the money
-- back to it.
alter table refunds drop constraint refunds_state_check, drop constraint refunds_reason_check;
alter table refunds
  -- A failed refund may have no id at the processor, because it was never made.
  add constraint refunds_state_check check (state in ('requested', 'succeeded', 'failed')),
  -- The origin: the seller here, a person in the processor's dashboard, or we, because of a duplicate capture.
  add constraint refunds_reason_check check (reason in ('seller', 'processor', 'duplicate')),
  add constraint refunds_known_check check (state <> 'succeeded' or processor_refund_id is not null),
  -- The seller's own words; no buyer reads them.
  add column note text check (length(note) between 1 and 500),
  -- SHA-256 of the seller with the Idempotency-Key, and of the request. Kept for good, because this is money.
  add column idempotency_key bytea unique,
  add column request_hash bytea,
  add constraint refunds_asked_check check ((idempotency_key is null) = (request_hash is null));
-- Every read of an order's status asks whether all of its money is on its way back.
create index refunds_requested on refunds (order_id) where state = 'requested';

-- Entries of their own book back a refund that failed after it was booked.
alter table transfers drop constraint transfers_kind_check;
alter table transfers add constraint transfers_kind_check check (kind in (
  'sale', 'fee', 'refund', 'fee_refund', 'held', 'returned', 'dispute_hold', 'dispute_release', 'dispute_loss',
  'refund_failed', 'fee_again', 'return_failed'));

alter table order_events drop constraint order_events_what_check;
alter table order_events add constraint order_events_what_check check (what in (
  'payment_declined', 'payment_processing', 'paid', 'expired', 'refund_requested', 'refund_failed', 'partially_refunded',
  'refunded', 'duplicate_refunded', 'payment_returned', 'needs_review', 'disputed', 'dispute_won', 'charged_back'));
