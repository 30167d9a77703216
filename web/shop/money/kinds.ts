interface Kind {
  name: string
  /** The line of an order's sum that counts it. */
  group: 'sale' | 'fee' | 'refund' | 'fee_back' | 'dispute' | 'payout'
}

/** Every kind of transfer that touches a seller's balance, in plain words. */
export const KINDS: Record<string, Kind> = {
  sale: { name: 'Sale', group: 'sale' },
  fee: { name: 'Fee, 2%', group: 'fee' },
  refund: { name: 'Refund to the buyer', group: 'refund' },
  refund_failed: { name: 'Refund failed, money back to you', group: 'refund' },
  fee_refund: { name: 'Share of the fee, back to you', group: 'fee_back' },
  fee_again: { name: 'Share of the fee, taken again', group: 'fee_back' },
  dispute_hold: { name: 'Put on hold: the buyer’s bank asks for it', group: 'dispute' },
  dispute_release: { name: 'Released: the buyer’s bank no longer asks for it', group: 'dispute' },
  dispute_return: { name: 'Back from a lost dispute', group: 'dispute' },
  held_loss: { name: 'Taken by the buyer’s bank, and sent back before', group: 'dispute' },
  held_loss_back: { name: 'Not taken twice after all', group: 'dispute' },
  passed_on: { name: 'Passed on to your own account', group: 'payout' },
  passed_back: { name: 'Taken back from your own account', group: 'payout' },
  payout: { name: 'Payout', group: 'payout' },
  payout_failed: { name: 'Payout refused by the bank, money back to you', group: 'payout' },
  payout_reversed: { name: 'Payout sent back by the bank', group: 'payout' },
  adjustment: { name: 'Adjustment by the operator of the service', group: 'payout' },
}

/** Also names a kind that this page does not know, because the service may be newer. */
export const kindName = (kind: string): string => KINDS[kind]?.name ?? kind.replaceAll('_', ' ')

const GROUPS: [Kind['group'], string][] = [
  ['sale', 'Sale'],
  ['fee', 'Fee, 2%'],
  ['refund', 'Refunded'],
  ['fee_back', 'Fee returned'],
  ['dispute', 'Disputed'],
]

/** The sums of an order's transfers, line by line. Lines with a sum of zero are left out. */
export function sumsByKind(transfers: { kind: string; amount: number }[]) {
  return GROUPS.flatMap(([group, name]) => {
    const minor = transfers.reduce((sum, { kind, amount }) => (KINDS[kind]?.group === group ? sum + amount : sum), 0)
    return minor === 0 ? [] : [{ group, name, minor }]
  })
}
