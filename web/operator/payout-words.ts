import { money } from '../ui/format.ts'
import type { OperatorPayout, Run, RunLine } from './payouts-api.ts'

type Tag = [label: string, tone: 'good' | 'quiet' | 'bad']

export const RUN_STATES: Record<Run['state'], Tag> = {
  proposed: ['Waits for approval', 'quiet'],
  approved: ['Approved', 'good'],
  cancelled: ['Cancelled', 'quiet'],
}

export const PAYOUT_STATES: Record<OperatorPayout['status'], Tag> = {
  approved: ['Approved', 'quiet'],
  sent: ['Sent', 'quiet'],
  paid: ['Paid', 'good'],
  failed: ['Failed', 'bad'],
  reversed: ['Came back', 'bad'],
}

/** Why a line of a run is not paid. */
const BLOCKS: Record<NonNullable<RunLine['blocked']>, string> = {
  negative_balance: 'Below zero: it is carried forward',
  below_minimum: 'Below the smallest payout',
  suspended: 'The shop is suspended',
  awaiting_approval: 'The shop awaits its approval',
  no_details: 'No account for this currency',
  details_changed: 'Account changed in the last 72 hours',
  account_refused: 'The last payout to this account came back',
  left_out: 'Left out by an operator',
}

/** Why a line is not paid. A seller with pending sales can have an amount below zero and owe nothing. */
export function blockWords({ blocked, balance, currency }: Pick<RunLine, 'blocked' | 'balance' | 'currency'>): string {
  if (blocked === null) return ''
  // absent while an instance of an earlier release answers
  if (blocked !== 'negative_balance' || balance === undefined) return BLOCKS[blocked]
  return balance < 0
    ? `The seller owes ${money(-balance, currency)}: it is carried forward`
    : 'More has gone out than is due yet: pending sales make up for it'
}

export const FORMATS = { sepa: 'SEPA (pain.001)', csv: 'CSV' } as const

/** “3 payouts”, “1 seller”. */
export const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`
