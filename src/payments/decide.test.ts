import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { feeOf } from '../kit/money.ts'
import { DISPUTED, FEES, HELD, type Transfer, sellerAccount } from '../ledger/transfers.ts'
import { MOVES, type Move, RAILS, type State, isDelivered } from '../orders/states.ts'
import { type Known, decide } from './decide.ts'
import type { Capture, DisputeFact, PaymentSnapshot } from './processor.ts'

// A processor's payment lives through a random history. Each step of it may be told to us at once, late, again and again,
// before an earlier one, or never; in the end we hear how things stand. What we make of it must not depend on the telling.

test('every order and repetition of what a processor tells ends in the same state and the same books', () => {
  fc.assert(
    fc.property(histories, (history) => {
      const { book, payment } = tell(history)
      const atOnce = newBook(history.amountMinor)
      if (book.expired) expire(atOnce)
      hear(atOnce, payment)

      if (payment.captures.length === 0) {
        // whether we ever heard that the bank was at work is all that may differ
        assert.ok(['pending', 'processing', 'expired'].includes(book.rows.state), book.rows.state)
        assert.deepEqual(book.transfers, [])
        return
      }
      assert.equal(book.rows.state, atOnce.rows.state)
      assert.equal(book.rows.refundedMinor, atOnce.rows.refundedMinor)
      assert.equal(book.rows.paymentState, 'captured')
      assert.deepEqual(book.rows.captures, atOnce.rows.captures)
      assert.deepEqual(book.rows.disputes, atOnce.rows.disputes)
      assert.deepEqual(withoutFees(book.transfers), withoutFees(atOnce.transfers))
      // which part of the fee went back with which refund depends on what came first, the whole of it does not
      assert.equal(sumOf(book.transfers, 'fee_refund'), sumOf(atOnce.transfers, 'fee_refund'))
    }),
    { numRuns: 2000 },
  )
})

test('no part of a history, in no order, gives the files before the right amount was captured', () => {
  fc.assert(
    fc.property(histories, (history) => {
      let rightAmountTold = false
      tell(history, ({ rows, transfers }, snapshot) => {
        rightAmountTold ||= snapshot.captures.some(
          ({ amountMinor, currency }) => amountMinor === rows.amountMinor && currency === rows.currency,
        )
        if (isDelivered(rows.state)) assert.ok(rightAmountTold)
        if (!rightAmountTold) assert.equal(sumOf(transfers, 'sale'), 0)
      })
    }),
    { numRuns: 700 },
  )
})

test('whatever is told, an order is sold at most once, nothing is booked twice, and every move is one of the table', () => {
  fc.assert(
    fc.property(histories, (history) => {
      tell(history, ({ rows, transfers, moves }) => {
        assert.ok(rows.captures.filter(({ purpose }) => purpose === 'sale').length <= 1)
        assert.ok(transfers.filter(({ kind }) => kind === 'sale').length <= 1)
        const causes = transfers.map(({ kind, cause }) => `${kind} ${cause}`)
        assert.equal(new Set(causes).size, causes.length)
        for (const { from, move, to } of moves) {
          assert.ok((MOVES[move].from as readonly State[]).includes(from), `${move} from ${from}`)
          assert.equal(to, MOVES[move].to)
        }
      })
    }),
    { numRuns: 700 },
  )
})

test('at every moment the books say who has the money, and no more of the fee goes back than was taken', () => {
  fc.assert(
    fc.property(histories, (history) => {
      tell(history, ({ rows, transfers, heard }) => {
        const sale = rows.captures.find(({ purpose }) => purpose === 'sale')
        const gone = (capture: { id: string }, ...states: DisputeFact['state'][]) =>
          refundedOf(heard, capture.id) + disputedOf(heard, capture.id, ...states)
        const fee = balanceOf(transfers, FEES, rows.currency)
        const disputed = rows.captures.map((capture) => disputedOf(heard, capture.id, 'open'))

        for (const transfer of transfers) assert.ok(transfer.amountMinor > 0 && transfer.debit !== transfer.credit)
        assert.ok(fee >= 0 && fee <= rows.feeMinor, `the fee is ${fee}`)
        if (!sale || gone(sale, 'lost') === 0) assert.equal(fee, sale ? rows.feeMinor : 0)
        if (sale && gone(sale, 'lost') >= rows.amountMinor) assert.equal(fee, 0)
        assert.equal(
          balanceOf(transfers, sellerAccount(rows.sellerId), rows.currency),
          sale ? rows.amountMinor - fee - gone(sale, 'open', 'lost') : 0,
        )
        assert.equal(
          CURRENCIES.reduce((sum, currency) => sum + balanceOf(transfers, DISPUTED, currency), 0),
          disputed.reduce((sum, one) => sum + one, 0),
        )
        for (const currency of CURRENCIES) {
          const held = heard.captures
            .filter((capture) => capture.currency === currency && capture.id !== sale?.id)
            .reduce((sum, capture) => sum + capture.amountMinor - gone(capture, 'open', 'lost'), 0)
          assert.equal(balanceOf(transfers, HELD, currency), held)
        }
      })
    }),
    { numRuns: 700 },
  )
})

const CURRENCIES = ['USD', 'EUR']

/** What can happen at the processor, and what we can hear and do meanwhile. Numbers choose among what is there. */
const steps = fc.oneof(
  fc.record({ step: fc.constantFrom('decline', 'process', 'fail', 'cancel', 'expire', 'send_back') }),
  fc.record({ step: fc.constant('capture'), amount: fc.constantFrom('right', 'right', 'right', 'other', 'foreign') }),
  fc.record({ step: fc.constant('refund'), which: fc.nat(), part: fc.integer({ min: 1, max: 100 }) }),
  fc.record({ step: fc.constant('dispute'), which: fc.nat(), part: fc.integer({ min: 1, max: 100 }) }),
  fc.record({ step: fc.constant('close'), which: fc.nat(), outcome: fc.constantFrom('won', 'lost') }),
  { weight: 3, arbitrary: fc.record({ step: fc.constant('hear'), which: fc.nat() }) },
) as fc.Arbitrary<Step>

type Step =
  | { step: 'decline' | 'process' | 'fail' | 'cancel' | 'expire' | 'send_back' }
  | { step: 'capture'; amount: 'right' | 'other' | 'foreign' }
  | { step: 'refund' | 'dispute'; which: number; part: number }
  | { step: 'close'; which: number; outcome: 'won' | 'lost' }
  | { step: 'hear'; which: number }

const histories = fc.record({
  amountMinor: fc.oneof(fc.integer({ min: 1, max: 200 }), fc.integer({ min: 1, max: 999_999_999_999 })),
  rail: fc.constantFrom(...RAILS),
  // half of them begin with a sale, since most that can go wrong comes after it
  steps: fc.oneof(
    fc.array(steps, { maxLength: 30 }),
    fc.array(steps, { maxLength: 30 }).map((later): Step[] => [{ step: 'capture', amount: 'right' }, ...later]),
  ),
  after: fc.array(fc.nat(), { maxLength: 5 }),
})
type History = typeof histories extends fc.Arbitrary<infer T> ? T : never

/** Our side: the rows that settle would have written, and nothing but what the effects say. */
interface Book {
  rows: Known
  transfers: Transfer[]
  moves: { from: State; move: Move; to: State }[]
  /** The furthest that we were told. */
  heard: PaymentSnapshot
  expired: boolean
}

/** Lets the history happen and tells it in its own disorder; the end is told for certain, and then old news again. */
function tell(
  { amountMinor, rail, steps, after }: History,
  watch: (book: Book, told: PaymentSnapshot) => void = () => {},
) {
  const book = newBook(amountMinor)
  const payment = structuredClone(book.heard)
  const told: PaymentSnapshot[] = [structuredClone(payment)]
  const listen = (snapshot: PaymentSnapshot) => {
    hear(book, snapshot)
    watch(book, snapshot)
  }
  const refused = new Set<string>()
  /** The job that sends back what came twice: of the same key as often as it likes, and once. */
  const sendBack = (): boolean => {
    const asked = book.rows.refunds.find(({ key, state }) => state === 'requested' && !refused.has(key))
    if (!asked) return false
    const { key, captureId, amountMinor } = asked
    if (payment.refunds.some((one) => one.key === key)) return true
    if (
      amountMinor >
      leftOf(
        payment,
        payment.captures.find(({ id }) => id === captureId)!,
      )
    )
      refused.add(key)
    else payment.refunds.push({ id: `re_${payment.refunds.length}`, captureId, amountMinor, key })
    return true
  }

  for (const step of steps) {
    if (step.step === 'hear') listen(told[step.which % told.length]!)
    else if (step.step === 'expire') expire(book)
    else if (step.step === 'send_back') sendBack()
    else happen(payment, step, { amountMinor, rail })
    if (step.step !== 'hear') told.push(structuredClone(payment))
  }
  do listen(structuredClone(payment))
  while (sendBack())
  for (const which of after) listen(told[which % told.length]!)
  return { book, payment }
}

/** One step in the life of a payment at its processor, if it can be. */
function happen(
  payment: PaymentSnapshot,
  step: Exclude<Step, { step: 'hear' }>,
  { amountMinor, rail }: Pick<History, 'amountMinor' | 'rail'>,
): void {
  const { captures, refunds, disputes } = payment
  const chosen = 'which' in step ? captures[step.which % captures.length] : undefined
  switch (step.step) {
    case 'decline':
      if (captures.length === 0) payment.declines++
      break
    case 'process':
      if (payment.state === 'open') Object.assign(payment, { state: 'processing', rail })
      break
    case 'fail':
      if (payment.state === 'processing') Object.assign(payment, { state: 'open', declines: payment.declines + 1 })
      break
    case 'cancel':
      if (payment.state === 'open') payment.state = 'canceled'
      break
    case 'capture':
      captures.push({
        id: `ch_${captures.length}`,
        amountMinor: step.amount === 'other' ? amountMinor + 1 : amountMinor,
        currency: step.amount === 'foreign' ? 'EUR' : 'USD',
        rail,
        capturedAt: '2026-01-01T00:00:00.000Z',
      })
      payment.state = 'captured'
      break
    case 'refund': {
      const left = chosen ? leftOf(payment, chosen) : 0
      const part = Math.max(1, Math.floor((left * step.part) / 100))
      if (chosen && left > 0) refunds.push({ id: `re_${refunds.length}`, captureId: chosen.id, amountMinor: part })
      break
    }
    case 'dispute': {
      // a buyer can dispute what was refunded, and a bank can take it once more
      const left = chosen && (chosen === captures[0] ? chosen.amountMinor : leftOf(payment, chosen))
      const part = Math.max(1, Math.floor((left! * step.part) / 100))
      if (chosen && left! > 0)
        disputes.push({ id: `dp_${disputes.length}`, captureId: chosen.id, amountMinor: part, state: 'open' })
      break
    }
    case 'close': {
      const open = disputes.filter(({ state }) => state === 'open')
      if (open.length > 0) open[step.which % open.length]!.state = step.outcome
    }
  }
}

function newBook(amountMinor: number): Book {
  return {
    rows: {
      orderId: 'ord_1',
      sellerId: 'sel_1',
      state: 'pending',
      amountMinor,
      currency: 'USD',
      feeMinor: feeOf(amountMinor),
      refundedMinor: 0,
      paymentId: 'pay_1',
      processor: 'sandbox',
      processorPaymentId: 'pi_1',
      paymentState: 'open',
      declines: 0,
      captures: [],
      refunds: [],
      disputes: [],
    },
    transfers: [],
    moves: [],
    heard: { processorPaymentId: 'pi_1', state: 'open', declines: 0, captures: [], refunds: [], disputes: [] },
    expired: false,
  }
}

function hear(book: Book, snapshot: PaymentSnapshot): void {
  const { rows } = book
  const effects = decide(structuredClone(rows), structuredClone(snapshot))
  for (const { move, to } of effects.moves) {
    book.moves.push({ from: rows.state, move, to })
    rows.state = to
  }
  if (effects.refundedMinor !== undefined) rows.refundedMinor = effects.refundedMinor
  if (effects.payment) Object.assign(rows, { paymentState: effects.payment.state, declines: effects.payment.declines })
  rows.captures.push(
    ...effects.captures.map(({ id, purpose, amountMinor, currency }) => ({ id, purpose, amountMinor, currency })),
  )
  for (const one of effects.returns)
    rows.refunds.push({ id: null, key: `ref_${rows.refunds.length}`, state: 'requested', ...one })
  for (const { id, key, captureId, amountMinor } of effects.refunds) {
    const ours = rows.refunds.find((one) => one.key === key && one.state === 'requested')
    if (ours) Object.assign(ours, { id, state: 'succeeded' })
    else rows.refunds.push({ id, key: `ref_${rows.refunds.length}`, captureId, amountMinor, state: 'succeeded' })
  }
  for (const { id, captureId, amountMinor, state } of effects.disputes) {
    const before = rows.disputes.find((one) => one.id === id)
    if (before) before.state = state
    else rows.disputes.push({ id, captureId, amountMinor, state })
  }
  book.transfers.push(...effects.transfers)
  if (isFurther(snapshot, book.heard)) book.heard = snapshot
}

/** What the clock does to an order that nobody has paid. */
function expire(book: Book): void {
  if (!(MOVES.expire.from as readonly State[]).includes(book.rows.state)) return
  book.rows.state = 'expired'
  book.expired = true
}

const factsIn = ({ captures, refunds, disputes }: PaymentSnapshot) =>
  captures.length + refunds.length + disputes.reduce((sum, { state }) => sum + (state === 'open' ? 1 : 2), 0)
const isFurther = (one: PaymentSnapshot, other: PaymentSnapshot) => factsIn(one) > factsIn(other)

const refundedOf = ({ refunds }: PaymentSnapshot, captureId: string) =>
  refunds.filter((one) => one.captureId === captureId).reduce((sum, { amountMinor }) => sum + amountMinor, 0)
const disputedOf = ({ disputes }: PaymentSnapshot, captureId: string, ...states: DisputeFact['state'][]) =>
  disputes
    .filter((one) => one.captureId === captureId && states.includes(one.state))
    .reduce((sum, { amountMinor }) => sum + amountMinor, 0)

/** What of a capture a processor would still send back: of a first one all that was not refunded, disputed or not. */
function leftOf(payment: PaymentSnapshot, { id, amountMinor }: Capture): number {
  const disputed = id === payment.captures[0]?.id ? 0 : disputedOf(payment, id, 'open', 'lost')
  return amountMinor - refundedOf(payment, id) - disputed
}

const sumOf = (transfers: readonly Transfer[], kind: Transfer['kind']) =>
  transfers.filter((one) => one.kind === kind).reduce((sum, { amountMinor }) => sum + amountMinor, 0)

const balanceOf = (transfers: readonly Transfer[], account: string, currency: string) =>
  transfers
    .filter((one) => one.currency === currency)
    .reduce(
      (sum, { debit, credit, amountMinor }) =>
        sum + (credit === account ? amountMinor : 0) - (debit === account ? amountMinor : 0),
      0,
    )

const withoutFees = (transfers: readonly Transfer[]) =>
  transfers
    .filter(({ kind }) => kind !== 'fee_refund')
    .sort((a, b) => (`${a.kind} ${a.cause}` < `${b.kind} ${b.cause}` ? -1 : 1))
