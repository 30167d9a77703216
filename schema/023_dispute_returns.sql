-- What a bank gives back of a dispute after it was lost, and what it takes of held money that had gone back before: the books are
-- never changed, so each is an entry of its own.
alter table transfers drop constraint transfers_kind_check;
alter table transfers add constraint transfers_kind_check check (kind in (
  'sale', 'fee', 'refund', 'fee_refund', 'held', 'returned', 'dispute_hold', 'dispute_release', 'dispute_loss',
  'refund_failed', 'fee_again', 'return_failed', 'dispute_return', 'held_loss', 'held_loss_back'));
