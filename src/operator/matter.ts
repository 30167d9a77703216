/** Matters for a person, by weight: those that lose money by waiting come first. */
export const MATTERS = [
  'needs_review',
  'disputed',
  'refund_failed',
  'withdrawal_unmatched',
  'reconciliation',
  'test_payments',
  'webhook_silence',
  'payments_refused',
  'tax_rate_missing',
  'payout_run',
  'payout_failed',
  'not_taken_back',
  'not_passed_on',
  'account_ended',
  'payouts_unsent',
  'payouts_unanswered',
  'mail_failed',
  'receipts_refused',
  'sellers_waiting',
] as const

export interface Matter {
  what: (typeof MATTERS)[number]
  says: string
  /** The step that helps. */
  advice: string
  /** The view of the operators' page that helps, behind its "#". Null: none does. */
  view: string | null
  at: Date | null
}

/** A buyer who pays with a card for tests gets the files. The service may run so for tries. */
export const TEST_PAYMENTS: Matter = {
  what: 'test_payments',
  says: 'The payments of this public service are tests: buyers get files and no money moves, while the books owe it to the sellers.',
  advice: 'Approve no payouts. Before you sell, set live keys and begin with a new database, see docs/payments.md.',
  view: null,
  at: null,
}
