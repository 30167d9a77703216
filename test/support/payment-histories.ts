import assert from 'node:assert/strict'
import fc from 'fast-check'
import { DISPUTED, type Transfer } from '../../src/ledger/transfers.ts'
import { feeOf } from '../../src/kit/money.ts'
import { MOVES, type Move, type State, isDelivered } from '../../src/orders/states.ts'
import { decide } from '../../src/payments/settle/decide.ts'
import type { PaymentRecord } from '../../src/payments/settle/payment-record.ts'
import { RAILS } from '../../src/processors/rails.ts'
import type { Capture, DisputeFact, PaymentSnapshot } from '../../src/processors/processor.ts'
import { taxOf } from '../../src/taxes/sale-tax.ts'

// Random histories of a payment at its processor, and the book that our decisions about its reports fill.

export const CURRENCIES = ['USD', 'EUR']

/** Hundredths. Most refunds are for the whole amount. */
const parts = fc.oneof(fc.constant(100), fc.integer({ min: 1, max: 100 }))

/** The steps of a history: events at the processor, reports, and our own actions. `which` picks one of the existing items. */
const steps = fc.oneof(
  fc.record({ step: fc.constantFrom('decline', 'process', 'fail', 'cancel', 'expire', 'send_back', 'give_up') }),
  fc.record({ step: fc.constant('capture'), amount: fc.constantFrom('right', 'right', 'right', 'other', 'foreign') }),
  fc.record({ step: fc.constant('refund'), which: fc.nat(), part: parts }),
  fc.record({ step: fc.constant('refund_fails'), which: fc.nat() }),
  fc.record({ step: fc.constant('request'), part: parts }),
  fc.record({ step: fc.constant('dispute'), which: fc.nat(), part: fc.integer({ min: 1, max: 100 }) }),
  fc.record({ step: fc.constant('close'), which: fc.nat(), outcome: fc.constant('won') }),
  // a bank can keep all of it, or give back a part or all
  fc.record({
    step: fc.constant('close'),
    which: fc.nat(),
    outcome: fc.constant('lost'),
    part: fc.constantFrom(0, 37, 100),
  }),
  fc.record({ step: fc.constant('give_back'), which: fc.nat(), part: fc.constantFrom(40, 100) }),
  { weight: 3, arbitrary: fc.record({ step: fc.constant('hear'), which: fc.nat() }) },
) as fc.Arbitrary<Step>

type Step =
  | { step: 'decline' | 'process' | 'fail' | 'cancel' | 'expire' | 'send_back' | 'give_up' }
  | { step: 'capture'; amount: 'right' | 'other' | 'foreign' }
  | { step: 'refund' | 'dispute' | 'give_back'; which: number; part: number }
  | { step: 'refund_fails'; which: number }
  | { step: 'request'; part: number }
  | { step: 'close'; which: number; outcome: 'won' }
  | { step: 'close'; which: number; outcome: 'lost'; part: number }
  | { step: 'hear'; which: number }

export const histories = fc.record({
  amountMinor: fc.oneof(fc.integer({ min: 1, max: 200 }), fc.integer({ min: 1, max: 999_999_999_999 })),
  rail: fc.constantFrom(...RAILS),
  // half of them begin with a sale, since most faults need one
  steps: fc.oneof(
    fc.array(steps, { maxLength: 30 }),
    fc.array(steps, { maxLength: 30 }).map((later): Step[] => [{ step: 'capture', amount: 'right' }, ...later]),
  ),
  after: fc.array(fc.nat(), { maxLength: 5 }),
})
export type History = typeof histories extends fc.Arbitrary<infer T> ? T : never

/** Our side: the rows as settle would write them, by the effects alone. */
export interface Book {
  rows: PaymentRecord
  transfers: Transfer[]
  mails: string[]
  moves: { from: State; move: Move; to: State }[]
  /** The furthest snapshot that was reported. */
  heard: PaymentSnapshot
  expired: boolean
}

/** Runs a history and reports it in its random order. The final state is always reported, and old reports follow it. */
export function tell(
  { amountMinor, rail, steps, after }: History,
  watch: (book: Book, reported: PaymentSnapshot) => void = () => {},
) {
  const book = newBook(amountMinor)
  const payment = structuredClone(book.heard)
  const snapshots: PaymentSnapshot[] = [structuredClone(payment)]
  const listen = (snapshot: PaymentSnapshot) => {
    hear(book, snapshot)
    watch(book, snapshot)
  }
  /** Plays the job that makes requested refunds. It may run often with the same key, and refunds once. */
  const sendBack = (): boolean => {
    const asked = book.rows.refunds.find(({ state }) => state === 'requested')
    if (!asked) return false
    const { key, captureId, amountMinor } = asked
    const tries = payment.refunds.filter((one) => one.key === key)
    // after a failure some adapters ask again, and others report it
    const asksAgain = Number(key.slice(4)) % 2 === 0 && tries.length < 3
    if (tries.length > 0 && (!asksAgain || tries.some(({ state }) => state !== 'failed'))) return true
    const capture = payment.captures.find(({ id }) => id === captureId)!
    if (amountMinor > leftOf(payment, capture)) asked.state = 'failed'
    else payment.refunds.push({ id: `re_${payment.refunds.length}`, captureId, amountMinor, key })
    return true
  }
  /** Gives a refund up although the processor has made it. */
  const giveUp = () => {
    const asked = book.rows.refunds.find(({ state }) => state === 'requested')
    if (asked && sendBack()) asked.state = 'failed'
  }

  for (const step of steps) {
    if (step.step === 'hear') listen(snapshots[step.which % snapshots.length]!)
    else if (step.step === 'expire') expire(book)
    else if (step.step === 'send_back') sendBack()
    else if (step.step === 'give_up') giveUp()
    else if (step.step === 'request') request(book, step.part)
    else happen(payment, step, { amountMinor, rail })
    if (step.step !== 'hear') snapshots.push(structuredClone(payment))
  }
  do listen(structuredClone(payment))
  while (sendBack())
  for (const which of after) listen(snapshots[which % snapshots.length]!)
  return { book, payment }
}

/** Makes one step at the processor, if it is possible. */
export function happen(
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
    case 'refund_fails': {
      const made = refunds.filter(({ state }) => state !== 'failed')
      if (made.length > 0) made[step.which % made.length]!.state = 'failed'
      break
    }
    case 'dispute': {
      // a buyer can dispute refunded money, and a bank can take it a second time
      const part = chosen && Math.max(1, Math.floor((chosen.amountMinor * step.part) / 100))
      if (part) disputes.push({ id: `dp_${disputes.length}`, captureId: chosen.id, amountMinor: part, state: 'open' })
      break
    }
    case 'close': {
      const open = disputes.filter(({ state }) => state === 'open')
      const one = open[step.which % open.length]
      if (one) one.state = step.outcome
      if (one && step.outcome === 'lost') one.lostMinor = Math.floor((one.amountMinor * step.part) / 100)
      break
    }
    case 'give_back': {
      // money comes back after the loss, in one part or more
      const lost = disputes.filter(({ state }) => state === 'lost')
      const one = lost[step.which % lost.length]
      if (one) one.lostMinor! -= Math.floor((one.lostMinor! * step.part) / 100)
    }
  }
}

export function newBook(amountMinor: number): Book {
  return {
    rows: {
      orderId: 'ord_1',
      sellerId: 'sel_1',
      state: 'pending',
      amountMinor,
      currency: 'USD',
      feeMinor: feeOf(amountMinor),
      taxMinor: taxOf(amountMinor, 19, true, 'USD'),
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
    mails: [],
    moves: [],
    heard: { processorPaymentId: 'pi_1', state: 'open', declines: 0, captures: [], refunds: [], disputes: [] },
    expired: false,
  }
}

export function hear(book: Book, snapshot: PaymentSnapshot): void {
  const { rows } = book
  const before = structuredClone({ rows, snapshot })
  const { next, effects } = decide(rows, snapshot)
  assert.deepEqual({ rows, snapshot }, before, 'decide changes neither the record nor the snapshot')
  for (const { move, to } of effects.moves) {
    book.moves.push({ from: rows.state, move, to })
    rows.state = to
  }
  if (effects.refundedMinor !== undefined) rows.refundedMinor = effects.refundedMinor
  if (effects.payment) Object.assign(rows, { paymentState: effects.payment.state, declines: effects.payment.declines })
  rows.captures.push(
    ...effects.captures.map(({ id, purpose, amountMinor, currency }) => ({ id, purpose, amountMinor, currency })),
  )
  for (const one of effects.returns) rows.refunds.push({ id: null, key: newKey(rows), state: 'requested', ...one })
  for (const { id, row, captureId, amountMinor, state = 'succeeded' } of effects.refunds) {
    const before =
      rows.refunds.find((one) => one.id === id) ?? rows.refunds.find((one) => one.key === row && one.id === null)
    if (before) Object.assign(before, { id, amountMinor, state })
    else rows.refunds.push({ id, key: newKey(rows), captureId, amountMinor, state })
  }
  for (const { id, captureId, amountMinor, state, lostMinor = 0, respondBy } of effects.disputes) {
    const before = rows.disputes.find((one) => one.id === id)
    const now = { state, lostMinor, ...(respondBy && { respondBy }) }
    if (before) Object.assign(before, now)
    else rows.disputes.push({ id, captureId, amountMinor, ...now })
  }
  assert.deepEqual(withoutKeys(next), withoutKeys(rows), 'next is the record as the effects leave it')
  book.transfers.push(...effects.transfers)
  book.mails.push(...effects.mails.map(({ kind }) => kind))
  if (isFurther(snapshot, book.heard)) book.heard = snapshot
}

/** A record without the values that only the database decides: the ids of new refunds, and the requests for returns. */
const withoutKeys = (record: PaymentRecord) => ({
  ...record,
  refunds: record.refunds.filter(({ state }) => state !== 'requested').map(({ key: _, ...refund }) => refund),
})

const newKey = ({ refunds }: PaymentRecord) => `ref_${refunds.length}`

/** Stores a refund that the seller asks for, never more than our rows say is left. */
function request({ rows }: Book, percent: number): void {
  const sale = rows.captures.find(({ purpose }) => purpose === 'sale')
  if (!sale || !isDelivered(rows.state)) return
  const taken = rows.refunds
    .filter(({ captureId, state }) => captureId === sale.id && state !== 'failed')
    .reduce((sum, { amountMinor }) => sum + amountMinor, 0)
  const lost = rows.disputes
    .filter(({ captureId }) => captureId === sale.id)
    .reduce((sum, { lostMinor }) => sum + lostMinor, 0)
  const left = rows.amountMinor - taken - lost
  const amountMinor = Math.min(left, Math.max(1, Math.floor((rows.amountMinor * percent) / 100)))
  if (amountMinor > 0)
    rows.refunds.push({ id: null, key: newKey(rows), captureId: sale.id, amountMinor, state: 'requested' })
}

/** Expires an unpaid order, as the clock does. */
export function expire(book: Book): void {
  if (!(MOVES.expire.from as readonly State[]).includes(book.rows.state)) return
  book.rows.state = 'expired'
  book.expired = true
}

const factsIn = ({ captures, refunds, disputes }: PaymentSnapshot) =>
  captures.length +
  refunds.reduce((sum, { state }) => sum + (state === 'failed' ? 2 : 1), 0) +
  disputes.reduce(
    (sum, { state, amountMinor, lostMinor = 0 }) =>
      sum + (state === 'open' ? 1 : 2) + (state === 'lost' ? 1 - lostMinor / amountMinor : 0),
    0,
  )
const isFurther = (one: PaymentSnapshot, other: PaymentSnapshot) => factsIn(one) > factsIn(other)

export const refundedOf = ({ refunds }: PaymentSnapshot, captureId: string) =>
  refunds
    .filter((one) => one.captureId === captureId && one.state !== 'failed')
    .reduce((sum, { amountMinor }) => sum + amountMinor, 0)
export const disputedOf = ({ disputes }: PaymentSnapshot, captureId: string, ...states: DisputeFact['state'][]) =>
  disputes
    .filter((one) => one.captureId === captureId && states.includes(one.state))
    .reduce((sum, { amountMinor, lostMinor = amountMinor }) => sum + lostMinor, 0)

/** The part of a capture that a processor would still refund. For the first capture it includes disputed money. */
export function leftOf(payment: PaymentSnapshot, { id, amountMinor }: Capture): number {
  const disputed = id === payment.captures[0]?.id ? 0 : disputedOf(payment, id, 'open', 'lost')
  return amountMinor - refundedOf(payment, id) - disputed
}

export const sumOf = (transfers: readonly Transfer[], kind: Transfer['kind']) =>
  transfers.filter((one) => one.kind === kind).reduce((sum, { amountMinor }) => sum + amountMinor, 0)

export const balanceOf = (transfers: readonly Transfer[], account: string, currency: string) =>
  transfers
    .filter((one) => one.currency === currency)
    .reduce(
      (sum, { debit, credit, amountMinor }) =>
        sum + (credit === account ? amountMinor : 0) - (debit === account ? amountMinor : 0),
      0,
    )

export const feeReturned = (transfers: readonly Transfer[]) =>
  sumOf(transfers, 'fee_refund') - sumOf(transfers, 'fee_again')

export const taxReturned = (transfers: readonly Transfer[]) =>
  sumOf(transfers, 'tax_refund') - sumOf(transfers, 'tax_again')

/** The booked transfers without returned fees and taxes, without money that left twice, and without failed refunds and their reversals. */
export const lasting = (booked: readonly Transfer[]) => {
  const transfers = withoutReturns(booked)
  const undone = new Set(
    transfers.filter(({ kind }) => /^re.*_failed$/.test(kind)).map(({ kind, cause }) => `${UNDOES[kind]} ${cause}`),
  )
  return transfers
    .filter(({ kind, cause }) => !/^fee_|^tax_|^held_|_failed$/.test(kind) && !undone.has(`${kind} ${cause}`))
    .sort((a, b) => (`${a.kind} ${a.cause}` < `${b.kind} ${b.cause}` ? -1 : 1))
}
/** The transfers as if banks had returned at once the money of lost disputes that they returned later. */
function withoutReturns(transfers: readonly Transfer[]): Transfer[] {
  const causeOf = ({ cause }: Transfer) => cause.split(':', 3).join(':')
  const returned = Map.groupBy(
    transfers.filter(({ kind }) => kind === 'dispute_return'),
    causeOf,
  )
  const rest = transfers.filter(({ kind }) => kind !== 'dispute_return').map((one) => ({ ...one }))
  for (const [cause, [first, ...more]] of returned) {
    const amountMinor = more.reduce((sum, one) => sum + one.amountMinor, first!.amountMinor)
    const loss = rest.find((one) => one.kind === 'dispute_loss' && one.cause === cause)!
    loss.amountMinor -= amountMinor
    const release = rest.find((one) => one.kind === 'dispute_release' && one.cause === cause)
    if (release) release.amountMinor += amountMinor
    else rest.push({ ...first!, kind: 'dispute_release', cause, debit: DISPUTED, amountMinor })
  }
  return rest.filter(({ amountMinor }) => amountMinor > 0)
}
const UNDOES: Partial<Record<Transfer['kind'], Transfer['kind']>> = {
  refund_failed: 'refund',
  return_failed: 'returned',
}
