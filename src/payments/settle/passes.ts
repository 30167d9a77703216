import { keptOf, passedBack, passedOn } from '../../ledger/passed-on.ts'
import type { PaymentSnapshot } from '../../processors/processor.ts'
import type { TransferFact } from '../../processors/seller-accounts.ts'
import { lostOf, saleOf } from './captured-money.ts'
import { type Draft, type PaymentRecord, entryFor } from './payment-record.ts'

/**
 * Books the money that the processor has passed on to the seller's account, and the money that came back from there. Until money is
 * passed on, it is owed to the seller. A transfer that failed is owed until it is passed on after all. Transfers only go forward, so a
 * report that is late or repeated changes nothing. A transfer to another account is not this seller's: the reconciliation finds it.
 */
export function decidePasses(draft: Draft, { transfers = [] }: PaymentSnapshot): void {
  const { record, effects } = draft
  if (record.payee === undefined) return
  const known = (record.transfers ??= [])
  for (const transfer of transfers) {
    if (transfer.account !== record.payee || transfer.currency !== record.currency) continue
    const before = known.find(({ id }) => id === transfer.id)
    if (before && !isNews(before, transfer)) continue
    book(draft, before, transfer)
    const now = { id: transfer.id, state: transfer.state, amountMinor: transfer.amountMinor, reversedMinor: transfer.reversedMinor } // oxfmt-ignore
    if (before) Object.assign(before, now)
    else known.push(now)
    effects.transfersAt.push(transfer)
  }
  notePass(draft)
}

type KnownTransfer = NonNullable<PaymentRecord['transfers']>[number]

function isNews(before: KnownTransfer, now: TransferFact): boolean {
  if (before.state === 'passed') return now.state === 'passed' && now.reversedMinor > before.reversedMinor
  // a late report that calls a failed one pending again is repaired by the next one
  return now.state !== before.state
}

function book({ record, effects }: Draft, before: KnownTransfer | undefined, now: TransferFact): void {
  if (now.state !== 'passed') return
  const { currency } = record
  if (before?.state !== 'passed')
    effects.transfers.push(...passedOn({ ...entryFor(record, 'transfer', now.id), amountMinor: now.amountMinor, currency })) // oxfmt-ignore
  const backMinor = now.reversedMinor - (before?.reversedMinor ?? 0)
  // money comes back in parts: the amount that is back by then gives each part its own cause
  if (backMinor > 0)
    effects.transfers.push(...passedBack({ ...entryFor(record, 'reversal', `${now.id}:${now.reversedMinor}`), amountMinor: backMinor, currency })) // oxfmt-ignore
}

/** An order without money has nothing to pass on. */
function notePass({ record, effects }: Draft): void {
  if (record.captures.length === 0) return
  const passedMinor = record.transfers!.reduce(
    (sum, one) => (one.state === 'passed' ? sum + one.amountMinor - one.reversedMinor : sum),
    0,
  )
  const dueMinor = dueOf(record)
  if (record.pass?.dueMinor === dueMinor && record.pass.passedMinor === passedMinor) return
  record.pass = { dueMinor, passedMinor }
  effects.pass = record.pass
}

/** The seller's part of the order's sale: nothing while its money is held, and less with each refund and lost dispute. */
function dueOf(record: PaymentRecord): number {
  const sale = saleOf(record)
  if (!sale) return 0
  const returnedMinor = record.refundedMinor + lostOf(record, sale.id)
  return keptOf({ saleMinor: record.amountMinor, feeMinor: record.feeMinor, returnedMinor })
}
