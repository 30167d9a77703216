import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { feeOf } from '../../kit/money.ts'
import { keptOf } from '../../ledger/passed-on.ts'
import { type Transfer, directAccount, sellerAccount } from '../../ledger/transfers.ts'
import type { PaymentSnapshot } from '../../processors/processor.ts'
import type { TransferFact } from '../../processors/seller-accounts.ts'
import { decide } from './decide.ts'
import type { PaymentRecord } from './payment-record.ts'

// The processor passes a sale on, in one transfer or several, of which some fail at first and some are reversed in parts. It reports each
// step at once, late, repeatedly, before an earlier one, or never. In the end it reports the final state.

const PRICE = 49_900
const FEE = feeOf(PRICE)

test('every order and repetition of reports about transfers ends in the same books, and each step is booked once', () => {
  fc.assert(
    fc.property(histories, ({ steps, reports }) => {
      const states = statesOf(steps)
      const heard = [...reports.map((at) => states[at % states.length]!), states.at(-1)!]
      const book = newBook()
      for (const snapshot of heard) {
        book.hear(snapshot)
        const causes = book.transfers.map(({ kind, cause }) => `${kind} ${cause}`)
        assert.equal(new Set(causes).size, causes.length)
        const { pass } = book.record
        // the note equals the books, at each moment
        assert.equal(balanceOf(book.transfers, directAccount('sel_1')), pass?.passedMinor ?? 0)
        assert.ok((pass?.passedMinor ?? 0) >= 0)
      }
      const last = states.at(-1)!
      const there = (last.transfers ?? [])
        .filter(({ account, state }) => account === 'acc_1' && state === 'passed')
        .reduce((sum, one) => sum + one.amountMinor - one.reversedMinor, 0)
      assert.equal(book.record.pass!.passedMinor, there)
      const returnedMinor = last.refunds.reduce((sum, one) => sum + one.amountMinor, 0)
      assert.equal(book.record.pass!.dueMinor, keptOf({ saleMinor: PRICE, feeMinor: FEE, returnedMinor }))
      // we owe the seller the part that is not at the seller's account, and a surplus there is the seller's debt
      assert.equal(balanceOf(book.transfers, sellerAccount('sel_1')), book.record.pass!.dueMinor - there)
    }),
    { numRuns: 2000 },
  )
})

test('an order without a linked account books nothing of a transfer', () => {
  const book = newBook({ payee: undefined })
  book.hear(statesOf([{ what: 'pass', which: 0 }]).at(-1)!)
  assert.deepEqual(
    book.transfers.map(({ kind }) => kind),
    ['sale', 'fee'],
  )
  assert.equal(book.record.pass, undefined)
})

const step = fc.oneof(
  fc.record({ what: fc.constantFrom('pass', 'fail', 'stranger'), which: fc.nat(1) }),
  fc.record({ what: fc.constant('reverse'), which: fc.nat(1), amount: fc.integer({ min: 1, max: 30_000 }) }),
  fc.record({ what: fc.constant('refund'), which: fc.nat(1), amount: fc.integer({ min: 1, max: 30_000 }) }),
)
type Step = { what: string; which: number; amount?: number }
const histories = fc.record({
  steps: fc.array(step, { maxLength: 10 }),
  reports: fc.array(fc.nat(20), { maxLength: 25 }),
})

/** How the payment stands at the processor after each step. */
function statesOf(steps: readonly Step[]): PaymentSnapshot[] {
  const made = { currency: 'INR', state: 'pending', reversedMinor: 0, madeAt: '2026-11-25T00:00:00.000Z' } as const
  const transfers: TransferFact[] = [
    { ...made, id: 'trf_1', account: 'acc_1', amountMinor: 30_000 },
    { ...made, id: 'trf_2', account: 'acc_1', amountMinor: PRICE - FEE - 30_000 },
  ]
  const payment: PaymentSnapshot = {
    processorPaymentId: 'order_1',
    state: 'captured',
    declines: 0,
    captures: [
      { id: 'pay_1', amountMinor: PRICE, currency: 'INR', rail: 'upi', capturedAt: '2026-11-25T00:00:00.000Z' },
    ],
    refunds: [],
    disputes: [],
  }
  const states = [structuredClone({ ...payment, transfers })]
  for (const { what, which, amount = 0 } of steps) {
    const one = transfers[which]!
    if (what === 'pass') one.state = 'passed'
    if (what === 'fail' && one.state !== 'passed') Object.assign(one, { state: 'failed', failure: 'no balance' })
    if (what === 'stranger') transfers.push({ ...made, id: `trf_${transfers.length + 1}`, account: 'acc_2', amountMinor: 100, state: 'passed' }) // oxfmt-ignore
    if (what === 'reverse' && one.state === 'passed')
      one.reversedMinor = Math.min(one.amountMinor, one.reversedMinor + amount)
    const left = PRICE - payment.refunds.reduce((sum, refund) => sum + refund.amountMinor, 0)
    if (what === 'refund' && left > 0)
      payment.refunds.push({
        id: `rfnd_${payment.refunds.length}`,
        captureId: 'pay_1',
        amountMinor: Math.min(left, amount),
      })
    states.push(structuredClone({ ...payment, transfers }))
  }
  return states
}

function newBook(different: Partial<PaymentRecord> = {}) {
  const book = {
    transfers: [] as Transfer[],
    record: {
      orderId: 'ord_1',
      sellerId: 'sel_1',
      state: 'pending',
      amountMinor: PRICE,
      currency: 'INR',
      feeMinor: FEE,
      taxMinor: 0,
      refundedMinor: 0,
      paymentId: 'pay_own',
      processor: 'razorpay',
      processorPaymentId: 'order_1',
      paymentState: 'open',
      declines: 0,
      captures: [],
      refunds: [],
      disputes: [],
      payee: 'acc_1',
      transfers: [],
      ...different,
    } as PaymentRecord,
    hear(snapshot: PaymentSnapshot) {
      const { next, effects } = decide(book.record, snapshot)
      book.record = next
      book.transfers.push(...effects.transfers)
    },
  }
  return book
}

const balanceOf = (transfers: readonly Transfer[], account: string): number =>
  transfers.reduce((sum, { debit, credit, amountMinor }) => sum + (credit === account ? amountMinor : 0) - (debit === account ? amountMinor : 0), 0) // oxfmt-ignore
