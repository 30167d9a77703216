-- Money that a bank gives back of a lost dispute, and held money that a bank takes after it had gone back. Entries never change, so
-- each is an entry of its own.
alter table transfers drop constraint transfers_kind_check;
alter table transfers add constraint transfers_kind_check check (kind in (
  'sale', 'fee', 'refund', 'fee_refund', 'held', 'returned', 'dispute_hold', 'dispute_release', 'dispute_loss',
  'refund_failed', 'fee_again', 'return_failed', 'dispute_return', 'held_loss', 'held_loss_back'));
