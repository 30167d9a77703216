import type { RunFile } from '../payouts/export.ts'
import type { FoundPayout, RunLine, RunRow } from '../payouts/run-views.ts'
import type { OperatorPayout, Run, RunDetail } from './payout-schema.ts'

export const runView = ({ id, sums, cutoffAt: _, ...run }: RunRow): Run => ({
  runId: id,
  ...run,
  createdAt: run.createdAt.toISOString(),
  approvedAt: iso(run.approvedAt),
  cancelledAt: iso(run.cancelledAt),
  sums: sums.map(({ proposedMinor, payoutsMinor, ...sum }) => ({
    ...sum,
    proposedAmount: proposedMinor,
    payoutsAmount: payoutsMinor,
  })),
})

export const runDetailView = (run: RunRow, files: readonly RunFile[], lines: readonly RunLine[]): RunDetail => ({
  ...runView(run),
  files: files.map(({ amountMinor, exportedAt, ...file }) => ({
    ...file,
    amount: amountMinor,
    exportedAt: iso(exportedAt),
  })),
  lines: lines.map(
    ({
      sellerId,
      sellerName,
      sellerEmail,
      currency,
      amountMinor,
      blocked,
      balanceMinor,
      owes,
      destination,
      payout,
    }) => ({
      sellerId,
      name: sellerName,
      email: sellerEmail,
      currency,
      amount: amountMinor,
      blocked,
      ...(balanceMinor !== null && { balance: balanceMinor }),
      owes: owes.map((debt) => ({ currency: debt.currency, amount: debt.amountMinor })),
      destination,
      payout: payout && {
        payoutId: payout.id,
        amount: payout.amountMinor,
        status: payout.state,
        exported: payout.isExported,
        toSuspended: payout.isToSuspended,
        failure: payout.failure,
      },
    }),
  ),
})

export const payoutView = (row: FoundPayout): OperatorPayout => ({
  payoutId: row.id,
  runId: row.runId,
  seller: { id: row.sellerId, name: row.sellerName, email: row.sellerEmail },
  amount: row.amountMinor,
  currency: row.currency,
  status: row.state,
  destination: row.destination,
  reference: row.reference,
  exported: row.isExported,
  createdAt: row.createdAt.toISOString(),
  sentAt: iso(row.sentAt),
  paidAt: iso(row.paidAt),
  endedAt: iso(row.endedAt),
  failure: row.failure,
  holdsBack: row.holdsBack,
})

const iso = (at: Date | null) => at && at.toISOString()
