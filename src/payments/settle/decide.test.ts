import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { share } from '../../kit/money.ts'
import {
  DISPUTED,
  FEES,
  SUSPENSE,
  processorAccount,
  sellerAccount,
  taxAccount,
  taxOwedAccount,
} from '../../ledger/transfers.ts'
import { MOVES, type State, isDelivered } from '../../orders/states.ts'
import type { DisputeFact, PaymentSnapshot, RefundFact } from '../../processors/processor.ts'
import {
  balanceOf,
  type Book,
  CURRENCIES,
  disputedOf,
  expire,
  feeReturned,
  happen,
  hear,
  histories,
  type History,
  lasting,
  leftOf,
  newBook,
  refundedOf,
  sumOf,
  taxReturned,
  tell,
} from '../../../test/support/payment-histories.ts'
import type { PaymentRecord } from './payment-record.ts'

// A payment goes through a random history at its processor. The processor may report each step at once, late, repeatedly, before an
// earlier one, or never. In the end it reports the final state. The result of all decisions must not depend on the reports.

interface Invariant {
  atEachReport?(book: Book, reported: PaymentSnapshot): void
  atTheEnd?(told: ReturnType<typeof tell>): void
}

/** Each is made anew for a history. */
const INVARIANTS: Record<string, (history: History) => Invariant> = {
  'every order and repetition of a processor’s reports ends in the same state and the same books': (history) => ({
    atTheEnd({ book, payment }) {
      const atOnce = newBook(history.amountMinor)
      if (book.expired) expire(atOnce)
      hear(atOnce, payment)

      if (payment.captures.length === 0) {
        // only one thing may differ: whether the processor ever reported that the bank was at work
        assert.ok(['pending', 'processing', 'expired'].includes(book.rows.state), book.rows.state)
        assert.deepEqual(book.transfers, [])
        return
      }
      assert.equal(book.rows.state, atOnce.rows.state)
      assert.equal(book.rows.refundedMinor, atOnce.rows.refundedMinor)
      assert.equal(book.rows.paymentState, 'captured')
      assert.deepEqual(book.rows.captures, atOnce.rows.captures)
      assert.deepEqual(book.rows.disputes, atOnce.rows.disputes)
      assert.deepEqual(lasting(book.transfers), lasting(atOnce.transfers))
      // the order of the reports decides which part of the fee went back with which refund, but not the total
      assert.equal(feeReturned(book.transfers), feeReturned(atOnce.transfers))
      assert.equal(taxReturned(book.transfers), taxReturned(atOnce.transfers))
      for (const currency of CURRENCIES)
        for (const account of [SUSPENSE, sellerAccount('sel_1')])
          assert.equal(balanceOf(book.transfers, account, currency), balanceOf(atOnce.transfers, account, currency))
      assert.deepEqual(
        book.rows.refunds.filter(({ state }) => state === 'requested'),
        [],
      )
    },
  }),
  'no part of a history, in no order, gives the files before the right amount was captured': () => {
    let rightAmountTold = false
    return {
      atEachReport({ rows, transfers }, snapshot) {
        rightAmountTold ||= snapshot.captures.some(
          ({ amountMinor, currency }) => amountMinor === rows.amountMinor && currency === rows.currency,
        )
        if (isDelivered(rows.state)) assert.ok(rightAmountTold)
        if (!rightAmountTold) assert.equal(sumOf(transfers, 'sale'), 0)
      },
    }
  },
  'with any reports an order is sold at most once, nothing is booked twice, and every move is in the table': () => ({
    atEachReport({ rows, transfers, moves }) {
      assert.ok(rows.captures.filter(({ purpose }) => purpose === 'sale').length <= 1)
      assert.ok(transfers.filter(({ kind }) => kind === 'sale').length <= 1)
      const causes = transfers.map(({ kind, cause }) => `${kind} ${cause}`)
      assert.equal(new Set(causes).size, causes.length)
      for (const { from, move, to } of moves) {
        assert.ok((MOVES[move].from as readonly State[]).includes(from), `${move} from ${from}`)
        assert.equal(to, MOVES[move].to)
      }
    },
  }),
  'at every moment the books show who has the money, and no more of the fee goes back than was taken': () => ({
    atEachReport({ rows, transfers, heard }) {
      const sale = rows.captures.find(({ purpose }) => purpose === 'sale')
      const gone = (capture: { id: string }, ...states: DisputeFact['state'][]) =>
        refundedOf(heard, capture.id) + disputedOf(heard, capture.id, ...states)
      const fee = balanceOf(transfers, FEES, rows.currency)
      const disputed = rows.captures.map((capture) => disputedOf(heard, capture.id, 'open'))

      for (const transfer of transfers) assert.ok(transfer.amountMinor > 0 && transfer.debit !== transfer.credit)
      assert.ok(fee >= 0 && fee <= rows.feeMinor, `the fee is ${fee}`)
      if (!sale || gone(sale, 'lost') === 0) assert.equal(fee, sale ? rows.feeMinor : 0)
      if (sale && gone(sale, 'lost') >= rows.amountMinor) assert.equal(fee, 0)
      // the tax that the seller owes is that of the money that has not gone back, to the minor unit, and no money stands against it
      const tax = balanceOf(transfers, taxAccount(rows.sellerId), rows.currency)
      const backMinor = sale ? Math.min(gone(sale, 'lost'), rows.amountMinor) : rows.amountMinor
      assert.equal(tax, rows.taxMinor - share(rows.taxMinor, backMinor, rows.amountMinor))
      assert.equal(balanceOf(transfers, taxOwedAccount(rows.sellerId), rows.currency) + tax, 0)
      // suspended money that left twice is missing from the seller's account, and nowhere else
      const beside = (currency: string) =>
        heard.captures.filter((capture) => capture.currency === currency && capture.id !== sale?.id)
      const missing = (currency: string) =>
        beside(currency).reduce((sum, one) => sum + Math.max(0, gone(one, 'lost') - one.amountMinor), 0)
      for (const currency of CURRENCIES) {
        const ofSale = sale && currency === rows.currency ? rows.amountMinor - fee - gone(sale, 'open', 'lost') : 0
        const balance = balanceOf(transfers, sellerAccount(rows.sellerId), currency)
        assert.equal(balance, ofSale - missing(currency))
      }
      assert.equal(
        CURRENCIES.reduce((sum, currency) => sum + balanceOf(transfers, DISPUTED, currency), 0),
        disputed.reduce((sum, one) => sum + one, 0),
      )
      for (const currency of CURRENCIES) {
        const held = beside(currency).reduce((sum, one) => sum + one.amountMinor - gone(one, 'open', 'lost'), 0)
        assert.equal(balanceOf(transfers, SUSPENSE, currency), held + missing(currency))
      }
    },
  }),
  'a failed refund does not count, whether or not we had a report that it was made': (history) => ({
    atTheEnd({ book, payment }) {
      const neverMade = structuredClone(payment)
      neverMade.refunds = neverMade.refunds.filter(({ state }) => state !== 'failed')
      const without = newBook(history.amountMinor)
      if (book.expired) expire(without)
      hear(without, neverMade)
      assert.equal(book.rows.refundedMinor, without.rows.refundedMinor)
      assert.equal(
        book.rows.captures.filter(({ purpose }) => purpose === 'duplicate').length,
        without.rows.captures.filter(({ purpose }) => purpose === 'duplicate').length,
      )
      if (payment.captures.length > 0) assert.equal(book.rows.state, without.rows.state)
      assert.deepEqual(lasting(book.transfers), lasting(without.transfers))
      for (const { id, state } of payment.refunds)
        assert.equal(book.rows.refunds.find((one) => one.id === id)?.state, state ?? 'succeeded')
    },
  }),
  'buyer and seller get one mail about a refund, and the seller one about a failed refund': () => ({
    atTheEnd({ book, payment }) {
      const sale = book.rows.captures.find(({ purpose }) => purpose === 'sale')
      const ofSale = payment.refunds.filter(({ captureId }) => captureId === sale?.id)
      const mailsOf = (kind: string) => book.mails.filter((one) => one === kind).length
      assert.equal(mailsOf('refunded'), mailsOf('seller_refunded'))
      assert.ok(mailsOf('refunded') >= ofSale.filter(({ state }) => state !== 'failed').length)
      assert.ok(mailsOf('refunded') <= ofSale.length)
      assert.ok(mailsOf('seller_refund_failed') <= ofSale.filter(({ state }) => state === 'failed').length)
      assert.ok(mailsOf('refund_failed') <= mailsOf('seller_refund_failed'))
      assert.equal(mailsOf('receipt'), sale ? 1 : 0)
    },
  }),
  'a buyer gets a mail about each payment that failed after its bank had begun, while the order waits, and about no other':
    () => {
      const failureMails = (book: Book) => book.mails.filter((kind) => kind === 'payment_failed').length
      let before = { state: 'pending' as State, paymentState: 'open' as PaymentRecord['paymentState'], failureMails: 0 }
      return {
        atEachReport(book) {
          const { state, paymentState } = book.rows
          const failed =
            before.paymentState === 'processing' && (paymentState === 'open' || paymentState === 'canceled')
          const waits = state === 'pending' || state === 'processing'
          assert.equal(failureMails(book) - before.failureMails, failed && waits ? 1 : 0)
          before = { state, paymentState, failureMails: failureMails(book) }
        },
      }
    },
}

test('every invariant holds, whatever a processor reports in whatever order', () => {
  fc.assert(
    fc.property(histories, (history) => {
      const invariants = Object.entries(INVARIANTS).map(([name, of]) => ({ name, ...of(history) }))
      const checkAll = (check: (one: Invariant) => void) => {
        for (const one of invariants)
          try {
            check(one)
          } catch (error) {
            throw new Error(`broken: ${one.name}`, { cause: error })
          }
      }
      const told = tell(history, (book, reported) => checkAll((one) => one.atEachReport?.(book, reported)))
      checkAll((one) => one.atTheEnd?.(told))
    }),
    { numRuns: 2000 },
  )
})

test('a refund that fails after all leaves the order to the dispute that came meanwhile', () => {
  for (const [state, end, lostMinor] of [
    ['open', 'disputed'],
    // the processor does not report that the bank gave back the refunded amount: the buyer must not have both money and files
    ['lost', 'charged_back'],
    ['lost', 'charged_back', 1900],
    ['lost', 'partially_refunded', 1800],
    ['lost', 'paid', 0],
    ['won', 'paid'],
  ] as const) {
    const { book, payment, made } = refunded()
    assert.equal(book.rows.state, 'refunded')
    payment.disputes.push({ id: 'dp_0', captureId: 'ch_0', amountMinor: 1900, state, lostMinor })
    hear(book, payment)
    assert.equal(book.rows.state, 'refunded')
    made.state = 'failed'
    hear(book, payment)
    assert.deepEqual([book.rows.state, book.rows.refundedMinor], [end, 0])
    const fee = { charged_back: 0, partially_refunded: 2, disputed: 38, paid: 38 }[end]
    assert.equal(balanceOf(book.transfers, FEES, 'USD'), fee)
  }
})

test('the deadline of an open dispute follows the bank, and moves nothing else', () => {
  const { book, payment } = refunded()
  const dispute: DisputeFact = { id: 'dp_0', captureId: 'ch_0', amountMinor: 500, state: 'open' }
  const disputed = (respondBy?: string) => {
    payment.disputes = [{ ...dispute, respondBy }]
    const transfers = book.transfers.length
    hear(book, payment)
    return [book.rows.disputes[0]!.respondBy, book.transfers.length - transfers]
  }
  disputed()
  assert.deepEqual(disputed('2030-01-01T00:00:00.000Z'), ['2030-01-01T00:00:00.000Z', 0])
  // PostgreSQL writes the same moment in another form
  book.rows.disputes[0]!.respondBy = '2030-01-01T00:00:00+00:00'
  assert.deepEqual(disputed('2030-01-01T00:00:00.000Z'), ['2030-01-01T00:00:00+00:00', 0])
  assert.deepEqual(disputed('2030-01-09T00:00:00.000Z'), ['2030-01-09T00:00:00.000Z', 0])
  assert.deepEqual(disputed(), ['2030-01-09T00:00:00.000Z', 0])
})

test('a lost dispute takes all that was held, or the amount that the processor reports, also later, in any order', () => {
  const refund = (amountMinor: number, id = 're_0') => ({ refunds: [{ id, captureId: 'ch_0', amountMinor }] })
  const failed = { refunds: [{ id: 're_0', captureId: 'ch_0', amountMinor: 400, state: 'failed' as const }] }
  const dispute = (state: DisputeFact['state'], amountMinor = 1000, more: Partial<DisputeFact> = {}) => ({
    disputes: [{ id: 'dp_0', captureId: 'ch_0', amountMinor, state, ...more }],
  })
  const second = (state: DisputeFact['state']) => dispute(state, 1000, { id: 'dp_1' })
  const rest = (state: DisputeFact['state']) => dispute(state, 700, { id: 'dp_1' })
  const lostAmount = (lostMinor: number, amountMinor = 1000) => dispute('lost', amountMinor, { lostMinor })
  type Step = Partial<PaymentSnapshot>
  const ways: [what: string, steps: Step[], end: [state: State, seller: number, processor: number, fees: number]][] = [
    ['refund, open, lost', [refund(400), dispute('open'), dispute('lost')], ['charged_back', -400, 400, 0]],
    ['refund, lost', [refund(400), dispute('lost')], ['charged_back', -400, 400, 0]],
    ['open, refund, lost', [dispute('open'), refund(400), dispute('lost')], ['charged_back', -400, 400, 0]],
    ['refund, open, won', [refund(400), dispute('open'), dispute('won')], ['partially_refunded', 588, -600, 12]],
    ['refund of all, lost', [refund(1000), dispute('open'), dispute('lost')], ['refunded', -1000, 1000, 0]],
    ['refund, a part lost', [refund(400), dispute('lost', 300)], ['partially_refunded', 294, -300, 6]],
    ['two lost', [dispute('lost', 700), second('open'), second('lost')], ['charged_back', -700, 700, 0]],
    ['one won, one lost', [refund(400), dispute('won'), second('lost')], ['charged_back', -400, 400, 0]],
    ['lost, the refund fails', [refund(400), dispute('lost'), failed], ['charged_back', 0, 0, 0]],
    [
      'a known amount lost, the refund fails',
      [refund(400), lostAmount(600), failed],
      ['partially_refunded', 392, -400, 8],
    ],
    ['lost, then refunded', [dispute('lost'), refund(400)], ['charged_back', -400, 400, 0]],
    ['refund, lost: all is gone', [refund(400), dispute('open'), lostAmount(1000)], ['charged_back', -400, 400, 0]],
    ['lost: a part is gone', [dispute('open'), lostAmount(600)], ['partially_refunded', 392, -400, 8]],
    ['lost: nothing is gone', [dispute('open'), lostAmount(0)], ['paid', 980, -1000, 20]],
    ['lost: more than was held', [dispute('open', 300), lostAmount(1000, 300)], ['partially_refunded', 686, -700, 14]],
    // money that comes back after the end
    ['a part back', [refund(400), dispute('open'), lostAmount(1000), lostAmount(600)], ['charged_back', 0, 0, 0]],
    ['lost without an amount, a part back', [refund(400), dispute('lost'), lostAmount(600)], ['charged_back', 0, 0, 0]],
    ['all back', [dispute('open'), lostAmount(1000), lostAmount(0)], ['paid', 980, -1000, 20]],
    [
      'all back, refunded in part',
      [refund(400), lostAmount(1000), lostAmount(0)],
      ['partially_refunded', 588, -600, 12],
    ],
    ['all back, refunded', [refund(1000), dispute('open'), lostAmount(1000), lostAmount(0)], ['refunded', 0, 0, 0]],
    ['all back, disputed again', [lostAmount(1000), second('open'), lostAmount(0)], ['disputed', -20, -1000, 20]],
    [
      'in two parts',
      [dispute('open'), lostAmount(1000), lostAmount(600), lostAmount(200)],
      ['partially_refunded', 784, -800, 16],
    ],
    [
      'an old snapshot again',
      [lostAmount(1000), lostAmount(600), lostAmount(1000), dispute('lost')],
      ['partially_refunded', 392, -400, 8],
    ],
    [
      'back, the refund fails',
      [refund(400), lostAmount(1000), lostAmount(600), failed],
      ['partially_refunded', 392, -400, 8],
    ],
    // a lost part of the price counts like a refunded part, until the parts add up to all of it
    ['a part lost', [dispute('open', 300), dispute('lost', 300)], ['partially_refunded', 686, -700, 14]],
    ['a part lost, and the rest', [dispute('lost', 300), rest('open'), rest('lost')], ['charged_back', 0, 0, 0]],
    ['a part lost, the rest open', [dispute('lost', 300), rest('open')], ['disputed', -14, -700, 14]],
    [
      'a part lost, the rest won',
      [dispute('lost', 300), rest('open'), rest('won')],
      ['partially_refunded', 686, -700, 14],
    ],
    ['two open, a part lost', [rest('open'), dispute('open', 300), dispute('lost', 300)], ['disputed', -14, -700, 14]],
    ['a part lost, the rest refunded', [dispute('lost', 300), refund(700)], ['charged_back', 0, 0, 0]],
    ['then the refund fails', [dispute('lost', 300), refund(400), failed], ['partially_refunded', 686, -700, 14]],
    ['then all of the rest fails', [dispute('lost', 600), refund(400), failed], ['partially_refunded', 392, -400, 8]],
    ['a part lost, all refunded', [dispute('lost', 300), refund(1000)], ['refunded', -300, 300, 0]],
    [
      'a part lost and back',
      [dispute('open', 300), lostAmount(300, 300), lostAmount(0, 300)],
      ['paid', 980, -1000, 20],
    ],
    [
      'both lost, one is back',
      [lostAmount(300, 300), rest('lost'), lostAmount(0, 300)],
      ['partially_refunded', 294, -300, 6],
    ],
    // a dispute ends with the amount that was held
    ['lost with less', [dispute('open'), dispute('lost', 600)], ['partially_refunded', 392, -400, 8]],
    ['lost with more', [dispute('open', 600), dispute('lost')], ['partially_refunded', 392, -400, 8]],
    ['won with less', [dispute('open'), dispute('won', 600)], ['paid', 980, -1000, 20]],
  ]
  for (const [what, steps, end] of ways) {
    const book = newBook(1000)
    const payment = structuredClone(book.heard)
    happen(payment, { step: 'capture', amount: 'right' }, { amountMinor: 1000, rail: 'card' })
    // after a full refund the buyer hears nothing of a loss
    const losses = new Set<string>()
    for (const { refunds = [], disputes = [] } of steps) {
      const without = <T extends { id: string }>(before: T[], now: T[]) =>
        before.filter(({ id }) => !now.some((one) => one.id === id))
      payment.refunds = [...without(payment.refunds, refunds), ...refunds]
      payment.disputes = [...without(payment.disputes, disputes), ...disputes]
      hear(book, payment)
      if (book.rows.state !== 'refunded')
        for (const { id, lostMinor } of book.rows.disputes) if (lostMinor > 0) losses.add(id)
    }
    const of = (account: string) => balanceOf(book.transfers, account, 'USD')
    const now = [book.rows.state, of(sellerAccount('sel_1')), of(processorAccount('sandbox')), of(FEES)]
    const open = payment.disputes.filter(({ state }) => state === 'open')
    const held = open.reduce((sum, { amountMinor }) => sum + amountMinor, 0)
    assert.deepEqual([...now, of(DISPUTED)], [...end, held], what)
    const mailsOf = (name: string) => book.mails.filter((kind) => kind === name).length
    assert.equal(mailsOf('dispute_lost'), losses.size, `${what}: the buyer gets one mail for each loss`)
    const back = book.transfers.filter(({ kind }) => kind === 'dispute_return').length
    assert.equal(
      mailsOf('seller_dispute_returned'),
      back,
      `${what}: the seller gets one mail about the money that came back`,
    )
  }
})

test('a second capture that went back and is lost to a bank too is its seller’s loss, until it comes back', () => {
  for (const [state, lostMinor, lost] of [
    ['won', undefined, 0],
    ['lost', 0, 0],
    ['lost', 700, 700],
    ['lost', 1900, 1900],
    ['lost', undefined, 1900],
  ] as const) {
    const { book, payment } = refunded()
    happen(payment, { step: 'capture', amount: 'right' }, { amountMinor: 1900, rail: 'card' })
    payment.refunds.push({ id: 're_1', captureId: 'ch_1', amountMinor: 1900 })
    payment.disputes.push({ id: 'dp_0', captureId: 'ch_1', amountMinor: 1900, state: 'open' })
    hear(book, payment)
    assert.deepEqual(
      [SUSPENSE, DISPUTED].map((account) => balanceOf(book.transfers, account, 'USD')),
      [-1900, 1900],
    )
    const holds = () =>
      [SUSPENSE, DISPUTED, FEES, sellerAccount('sel_1'), processorAccount('sandbox')].map((account) =>
        balanceOf(book.transfers, account, 'USD'),
      )
    Object.assign(payment.disputes[0]!, { state, lostMinor })
    hear(book, payment)
    assert.deepEqual(holds(), [0, 0, 0, 0 - lost, lost])
    // the refund failed, so the money left only once, and a part of that comes back too
    payment.refunds[1]!.state = 'failed'
    hear(book, payment)
    assert.deepEqual(holds(), [1900 - lost, 0, 0, 0, lost - 1900])
    if (lost > 0) payment.disputes[0]!.lostMinor = 100
    hear(book, payment)
    const left = Math.min(lost, 100)
    assert.deepEqual(holds(), [1900 - left, 0, 0, 0, left - 1900])
    assert.equal(book.rows.state, 'refunded')
  }
})

test('a refund that failed, was requested again and then made is booked once, also when the first report comes late', () => {
  const { book, payment, made } = refunded({ key: 'ref_1' })
  const early = structuredClone(payment)
  made.state = 'failed'
  payment.refunds.push({ ...made, id: 're_1', state: undefined })
  for (const snapshot of [payment, early, payment, early]) hear(book, snapshot)
  assert.deepEqual([book.rows.state, book.rows.refundedMinor], ['refunded', 1900])
  assert.equal(sumOf(book.transfers, 'refund') - sumOf(book.transfers, 'refund_failed'), 1900)
  assert.equal(balanceOf(book.transfers, sellerAccount('sel_1'), 'USD'), 0)
  assert.deepEqual(
    book.mails.filter((kind) => kind.includes('failed')),
    [],
    'nothing that a person must do',
  )
})

test('a duplicate capture that could not be sent back by hand is sent back by the service', () => {
  const { book, payment } = refunded()
  happen(payment, { step: 'capture', amount: 'right' }, { amountMinor: 1900, rail: 'card' })
  payment.refunds.push({ id: 're_1', captureId: 'ch_1', amountMinor: 1900, state: 'failed' })
  hear(book, payment)
  assert.deepEqual(
    book.rows.refunds
      .filter(({ state }) => state === 'requested')
      .map(({ captureId, amountMinor }) => [captureId, amountMinor]),
    [['ch_1', 1900]],
  )
})

/** An order that is paid and refunded, and all of it was reported. */
function refunded({ key }: { key?: string } = {}) {
  const book = newBook(1900)
  const payment = structuredClone(book.heard)
  happen(payment, { step: 'capture', amount: 'right' }, { amountMinor: 1900, rail: 'card' })
  hear(book, payment)
  if (key) book.rows.refunds.push({ id: null, key, captureId: 'ch_0', amountMinor: 1900, state: 'requested' })
  const made: RefundFact = { id: 're_0', captureId: 'ch_0', amountMinor: 1900, ...(key && { key }) }
  payment.refunds.push(made)
  hear(book, payment)
  return { book, payment, made }
}

test('a whole sale that goes back in many odd parts, some of which fail on the way, returns exactly the fee taken', () => {
  const manyParts = fc.array(fc.record({ share: fc.integer({ min: 1, max: 100 }), fails: fc.boolean() }), {
    maxLength: 20,
  })
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 999_999_999_999 }), manyParts, (amountMinor, shares) => {
      const book = newBook(amountMinor)
      const payment = structuredClone(book.heard)
      happen(payment, { step: 'capture', amount: 'right' }, { amountMinor, rail: 'card' })
      const goBack = (part: number, fails: boolean) => {
        const made = { id: `re_${payment.refunds.length}`, captureId: 'ch_0', amountMinor: part }
        payment.refunds.push(made)
        hear(book, payment)
        if (!fails) return
        Object.assign(made, { state: 'failed' })
        hear(book, payment)
      }
      for (const { share, fails } of shares) {
        const part = Math.floor((leftOf(payment, payment.captures[0]!) * share) / 100)
        if (part > 0) goBack(part, fails)
      }
      const left = leftOf(payment, payment.captures[0]!)
      if (left > 0) goBack(left, false)
      assert.deepEqual([book.rows.state, book.rows.refundedMinor], ['refunded', amountMinor])
      for (const account of [FEES, SUSPENSE, sellerAccount('sel_1')])
        assert.equal(balanceOf(book.transfers, account, 'USD'), 0)
    }),
    { numRuns: 700 },
  )
})
