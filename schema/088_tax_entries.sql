-- The tax within a sale, in the books: `tax:SELLER` is what the seller owes the tax office, `tax-owed:SELLER` its counterpart. The money
-- itself is the seller's as before: no entry of these kinds touches an account of money.
alter table transfers drop constraint transfers_kind_check;
alter table transfers add constraint transfers_kind_check check (kind in (
  'sale', 'fee', 'refund', 'fee_refund', 'held', 'returned', 'dispute_hold', 'dispute_release', 'dispute_loss',
  'refund_failed', 'fee_again', 'return_failed', 'dispute_return', 'held_loss', 'held_loss_back',
  'passed_on', 'passed_back', 'payout', 'payout_failed', 'payout_reversed', 'adjustment', 'tax', 'tax_refund', 'tax_again')) not valid;
