import type pg from 'pg'
import { type Db, inTransaction, patiently } from '../kit/database.ts'
import { Refusal } from '../kit/errors.ts'
import { type Adjustment, type NewAdjustment, adjust } from '../payouts/adjust.ts'
import { type AppliedStatement, applyStatement } from '../payouts/apply-bank-statement.ts'
import { type ExportParts, type ExportedFile, type WantedFile, exportFile } from '../payouts/export.ts'
import { readStatement } from '../payouts/files/bank-statement.ts'
import { type RunLineId, leaveOut } from '../payouts/leave-out.ts'
import { type MovedPayout, type ToMove, movePayout, sendRun } from '../payouts/moves.ts'
import { payAgain } from '../payouts/refused-account.ts'
import { type NewPayout, type PayoutRules, approveRun, cancelRun, proposeRun } from '../payouts/runs.ts'
import { type Action, note, noteEach } from './log.ts'

// The actions of operators on payouts. Each writes its entry of the log in the same transaction.

export interface PayoutWork extends ExportParts {
  db: Db
  /** A run reads the whole ledger, on a connection of its own. */
  database: pg.PoolConfig
  rules: PayoutRules
}

/** Sums of payouts by currency, for the log. */
function sumsOf(payouts: readonly Pick<MovedPayout, 'currency' | 'amountMinor'>[]): Record<string, number> {
  const sums: Record<string, number> = {}
  for (const { currency, amountMinor } of payouts) sums[currency] = (sums[currency] ?? 0) + amountMinor
  return sums
}

/** Proposes a run to all sellers. Refuses `nothing_to_pay_out`. */
export const proposeAsOperator = ({ database, rules }: PayoutWork, actor: string): Promise<string> =>
  patiently(database, (db) =>
    inTransaction(db, async (tx) => {
      const runId = await proposeRun(tx, rules, { by: actor })
      if (!runId) throw new Refusal('nothing_to_pay_out', 'Nothing is due to any seller.')
      await note(tx, actor, 'payout_run_proposed', runId)
      return runId
    }),
  )

/** Approves a run. Refuses as approveRun(). */
export const approveAsOperator = (
  { database, rules }: PayoutWork,
  actor: string,
  { runId, selection }: { runId: string; selection?: string | undefined },
): Promise<NewPayout[]> =>
  patiently(database, (db) =>
    approveRun(db, rules, { runId, by: actor, selection }, (tx, payouts) =>
      note(tx, actor, 'payout_run_approved', runId, { payouts: payouts.length, sums: sumsOf(payouts) }),
    ),
  )

export const cancelAsOperator = ({ db }: PayoutWork, actor: string, runId: string): Promise<void> =>
  inTransaction(db, async (tx) => {
    await cancelRun(tx, { runId, by: actor })
    await note(tx, actor, 'payout_run_cancelled', runId)
  })

/** Gives a bank file of a run. Each time is in the log, because the file has names and account numbers. */
export const exportAsOperator = (
  { db, ...parts }: PayoutWork,
  actor: string,
  wanted: WantedFile,
): Promise<ExportedFile> =>
  inTransaction(db, async (tx) => {
    const file = await exportFile(tx, parts, { ...wanted, by: actor })
    const { format, payouts, amountMinor, isRepeat } = file
    const detail = { currency: wanted.currency, format, payouts, amountMinor, isRepeat }
    await note(tx, actor, 'payout_file_exported', wanted.runId, detail)
    return file
  })

/** Marks the exported payouts of a run as sent. Returns how many: a repeat marks none. */
export const sendAsOperator = (
  { db }: PayoutWork,
  actor: string,
  { runId, currency }: { runId: string; currency?: string | undefined },
): Promise<number> =>
  inTransaction(db, async (tx) => {
    const sent = await sendRun(tx, runId, currency)
    if (sent.length > 0) await note(tx, actor, 'payout_run_sent', runId, { payouts: sent.length, sums: sumsOf(sent) })
    return sent.length
  })

const MARKS = {
  paid: { move: 'confirm', action: 'payout_paid' },
  failed: { move: 'fail', action: 'payout_failed' },
  reversed: { move: 'reverse', action: 'payout_reversed' },
} as const satisfies Record<string, { move: Parameters<typeof movePayout>[1]; action: Action }>
export type Mark = keyof typeof MARKS

/** Marks a payout as the bank reports it. False: it was so before. Refuses as movePayout(). */
export const markAsOperator = (
  { db }: PayoutWork,
  actor: string,
  { mark, ...wanted }: ToMove & { mark: Mark },
): Promise<boolean> =>
  inTransaction(db, async (tx) => {
    const { move, action } = MARKS[mark]
    const { id, reason } = wanted
    const moved = await movePayout(tx, move, wanted)
    if (moved) await note(tx, actor, action, id, { ...told(moved), ...(reason !== undefined && { reason }) })
    return moved !== undefined
  })

/** Leaves a seller out of a run that waits, or takes the seller in again. False: it was so before. Refuses as leaveOut(). */
export const leaveOutAsOperator = (
  { db }: PayoutWork,
  actor: string,
  { isOut, ...line }: RunLineId & { isOut: boolean },
): Promise<boolean> =>
  inTransaction(db, async (tx) => {
    const isChanged = await leaveOut(tx, line, isOut)
    const { runId, sellerId, currency } = line
    if (isChanged) await note(tx, actor, isOut ? 'payout_left_out' : 'payout_taken_in', runId, { sellerId, currency })
    return isChanged
  })

/** Notes that the account of a payout that failed or came back is right. False: it was so before. Refuses as payAgain(). */
export const payAgainAsOperator = ({ db }: PayoutWork, actor: string, payoutId: string): Promise<boolean> =>
  inTransaction(db, async (tx) => {
    const paid = await payAgain(tx, payoutId)
    if (paid) await note(tx, actor, 'payout_account_confirmed', payoutId, { ...paid })
    return paid !== undefined
  })

const told = ({ sellerId, currency, amountMinor }: MovedPayout) => ({ sellerId, currency, amountMinor })

/** Reads a bank's statement and notes it in the log, in one transaction. Refuses `statement_not_readable`, `statement_already_read`. */
export async function readStatementAsOperator(
  { db, paidFrom }: Pick<PayoutWork, 'db' | 'paidFrom'>,
  actor: string,
  bytes: Buffer,
): Promise<AppliedStatement> {
  const statement = await readStatement(bytes)
  return inTransaction(db, async (tx) => {
    const applied = await applyStatement(tx, statement, { by: actor, paidFrom })
    const counts: Record<string, number> = {}
    for (const { outcome } of applied.lines) counts[outcome] = (counts[outcome] ?? 0) + 1
    const { format, others, moved } = applied
    await note(tx, actor, 'payout_statement_read', statement.sha256.toString('hex'), { format, others, ...counts })
    await noteEach(tx, actor, 'payout_failed', moved.failed.map(({ id: subject, ...detail }) => ({ subject, detail }))) // oxfmt-ignore
    await noteEach(tx, actor, 'payout_reversed', moved.reversed.map(({ id: subject, ...detail }) => ({ subject, detail }))) // oxfmt-ignore
    return applied
  })
}

/** Corrects the money owed to a seller. Refuses as adjust(). */
export const adjustAsOperator = (
  { db }: PayoutWork,
  actor: string,
  wanted: Omit<NewAdjustment, 'by'>,
): Promise<Adjustment> =>
  inTransaction(db, async (tx) => {
    const { adjustment, isRepeat } = await adjust(tx, { ...wanted, by: actor })
    const { id, currency, amountMinor, reason } = adjustment
    if (!isRepeat) await note(tx, actor, 'seller_adjusted', wanted.sellerId, { id, currency, amountMinor, reason })
    return adjustment
  })
