import { KIND_OF } from '../../src/invoices/document.ts'
import { MOVES, type State } from '../../src/orders/states.ts'
import type { Order } from './books.ts'
import { problemsOfTransfers, said } from './entries.ts'
import type { BankPayment } from './bank-records.ts'

// Invariants that hold at every moment. Pure: they compare the service's rows before and now with the banks' data now, which is as
// much or more. Each returns a text about each fault.

const SOLD: ReadonlySet<State> = new Set(['paid', 'partially_refunded', 'refunded', 'disputed', 'charged_back'])

export function problemsOf(order: Order, before: Order | undefined, truth: readonly BankPayment[]): string[] {
  return [
    ...problemsOfRows(order),
    ...problemsOfSale(order),
    ...problemsOfFee(order),
    ...problemsOfTax(order),
    ...problemsOfTransfers(order),
    ...problemsOfRefunds(order, truth),
    ...problemsOfMoney(order, truth),
    ...problemsOfMails(order),
    ...problemsOfInvoices(order),
    ...problemsOfTimeline(order),
    ...problemsOfEvents(order),
    ...(before ? problemsOfTime(order, before) : []),
  ].map((problem) => `${order.id}: ${problem}`)
}

const sum = (items: readonly { amountMinor: number }[]): number =>
  items.reduce((total, { amountMinor }) => total + amountMinor, 0)
const lostOf = (disputes: readonly { lostMinor: number | null }[]): number =>
  disputes.reduce((total, { lostMinor }) => total + (lostMinor ?? 0), 0)
const isFreeAndPaid = ({ amountMinor, isPaid }: Order): boolean => amountMinor === 0 && isPaid
const saleOf = ({ captures }: Order) => captures.find(({ purpose }) => purpose === 'sale')

/** Each thing is there once; a payment that brought money is over, and of the others one at most is under way. */
function problemsOfRows({ payments, captures, refunds, disputes, currency }: Order): string[] {
  const known = [payments.map(({ processorPaymentId: id }) => ({ id })), payments, captures, refunds, disputes]
  const twice = known.some((rows: readonly { id: string | null }[]) => {
    const ids = rows.flatMap(({ id }) => id ?? [])
    return new Set(ids).size < ids.length
  })
  const live = payments.filter(({ state }) => state !== 'captured' && state !== 'canceled')
  const paid = new Set(captures.map(({ paymentId }) => paymentId))
  return [
    ...(twice ? ['something is there twice'] : []),
    ...(live.length > 1 ? [`${live.length} payments are under way`] : []),
    ...payments
      .filter(({ id, state }) => paid.has(id) !== (state === 'captured'))
      .map(({ id, state }) => `payment ${id} is ${state}`),
    ...(/^[A-Z]{3}$/.test(currency) ? [] : [`${currency} is no currency`]),
  ]
}

/** An order is sold once, exactly when its state says so. */
function problemsOfSale(order: Order): string[] {
  const sales = order.captures.filter(({ purpose }) => purpose === 'sale')
  const booked = order.transfers.filter(({ kind }) => kind === 'sale')
  const isSold = SOLD.has(order.state)
  // a free product is sold without money
  const sold = isSold && order.amountMinor > 0 ? 1 : 0
  return [
    ...(sales.length === sold && booked.length === sold && order.isPaid === isSold
      ? []
      : [`${order.state} with ${sales.length} sales, ${booked.length} booked, paid: ${order.isPaid}`]),
    // a capture beside a sale is one too many; one that is no sale waits for a person, for good
    ...order.captures
      .filter(({ purpose }) => purpose !== 'sale' && purpose !== (sold ? 'duplicate' : 'mismatch'))
      .map(({ id, purpose }) => `${order.state}, and ${id} is ${purpose}`),
    ...sales
      .filter(({ amountMinor, currency }) => amountMinor !== order.amountMinor || currency !== order.currency)
      .map(({ amountMinor, currency }) => `sold for ${amountMinor} ${currency}, not what was agreed`),
  ]
}

/** 2 %, half to even; the part that goes back is never more than was taken, and all of it when all of the money went back. */
function problemsOfFee(order: Order): string[] {
  const { amountMinor, feeMinor, transfers, disputes } = order
  const sale = saleOf(order)
  const of = (kind: string) => sum(transfers.filter((one) => one.kind === kind))
  const [quotient, rest] = [Math.floor(amountMinor / 50), amountMinor % 50]
  const fee = rest > 25 || (rest === 25 && quotient % 2 === 1) ? quotient + 1 : quotient
  const given = of('fee_refund') - of('fee_again')
  const back = Math.min(
    amountMinor,
    order.refundedMinor + lostOf(disputes.filter(({ captureId }) => captureId === sale?.id)),
  )
  const share = amountMinor === 0 ? 0 : (fee * back) / amountMinor
  return [
    ...(feeMinor === fee && of('fee') === (sale ? fee : 0)
      ? []
      : [`the fee is ${feeMinor}, taken ${of('fee')}, not ${fee}`]),
    ...(Math.abs(given - share) < 1 && given >= 0 && given <= fee && (back < amountMinor || given === fee)
      ? []
      : [`of the fee ${fee}, ${given} went back, of the money ${back} of ${amountMinor}`]),
  ]
}

/** The seller owes the tax of the money that has not gone back: that of the order less its share, to the minor unit. */
function problemsOfTax(order: Order): string[] {
  const { amountMinor, transfers, disputes } = order
  const sale = saleOf(order)
  const of = (kind: string) => sum(transfers.filter((one) => one.kind === kind))
  const tax = sale ? (order.taxMinor ?? 0) : 0
  const lost = lostOf(disputes.filter(({ captureId }) => captureId === sale?.id))
  const back = Math.min(amountMinor, order.refundedMinor + lost)
  const given = of('tax_refund') - of('tax_again')
  const share = amountMinor === 0 ? 0 : (tax * back) / amountMinor
  return [
    ...(of('tax') === tax ? [] : [`the tax is ${order.taxMinor}, and ${of('tax')} is booked`]),
    ...(Math.abs(given - share) < 1 && given >= 0 && given <= tax && (back < amountMinor || given === tax)
      ? []
      : [`of the tax ${tax}, ${given} went back, of the money ${back} of ${amountMinor}`]),
  ]
}

/** Never more goes back than came in, and each of our refunds is requested once. */
function problemsOfRefunds(
  { captures, refunds, refundedMinor, ...order }: Order,
  truth: readonly BankPayment[],
): string[] {
  const sale = captures.find(({ purpose }) => purpose === 'sale')
  const made = (id: string | undefined) =>
    sum(refunds.filter(({ captureId, state }) => captureId === id && state === 'succeeded'))
  const keys = truth.flatMap((payment) =>
    payment.refunds.flatMap(({ key, state }) => (key !== undefined && state !== 'failed' ? [key] : [])),
  )
  return [
    ...captures
      .filter(({ id, amountMinor }) => made(id) > amountMinor)
      .map(({ id, amountMinor }) => `${made(id)} of ${amountMinor} of ${id} went back`),
    ...(made(sale?.id) === refundedMinor ? [] : [`${made(sale?.id)} went back, and the order says ${refundedMinor}`]),
    ...(refundedMinor <= order.amountMinor ? [] : ['more went back than was paid']),
    ...(new Set(keys).size === keys.length ? [] : [`one refund was made twice: ${keys.join(', ')}`]),
    ...keys.filter((key) => !refunds.some((one) => one.key === key)).map((key) => `refund ${key} is not ours`),
  ]
}

/** All money in the books is at the bank, and came by a payment that we started for this order. */
function problemsOfMoney(order: Order, truth: readonly BankPayment[]): string[] {
  const missing = (what: string, id: string | null) => `the bank knows no such ${what} as ${id}`
  return [
    ...order.captures.flatMap(({ id, processor, paymentId, amountMinor, currency }) => {
      const started = order.payments.find((payment) => payment.id === paymentId)?.processorPaymentId
      const payment = truth.find((one) => one.processor === processor && one.id === started)
      const at = payment?.captures.find((one) => one.id === id)
      return at?.amountMinor === amountMinor && at.currency === currency && payment?.orderId === order.id
        ? []
        : [missing('capture', id)]
    }),
    ...order.refunds
      .filter(({ state }) => state === 'succeeded')
      .filter(({ id, captureId, amountMinor }) => {
        const at = truth.flatMap(({ refunds }) => refunds).find((one) => one.id === id)
        return at?.captureId !== captureId || at.amountMinor !== amountMinor || at.state === 'pending'
      })
      .map(({ id }) => missing('refund', id)),
    ...order.disputes
      .filter(({ id, captureId, amountMinor, state, lostMinor }) => {
        const at = truth.flatMap(({ disputes }) => disputes).find((one) => one.id === id)
        // a bank can give back more than we have heard of
        const gone = state === 'lost' && (at?.lostMinor ?? 0) > (lostMinor ?? 0)
        const ended = (at?.state !== state && state !== 'open') || gone
        return at?.captureId !== captureId || at.amountMinor !== amountMinor || ended
      })
      .map(({ id }) => missing('dispute', id)),
  ]
}

function problemsOfMails(order: Order): string[] {
  const sold = saleOf(order) || isFreeAndPaid(order) ? 1 : 0
  return order.receiptJobs === sold && order.receipts <= sold
    ? []
    : [`${order.receiptJobs} receipts promised and ${order.receipts} sent, and sold ${sold} times`]
}

/** A sale with a price has one invoice, and all documents together add up to the money that the seller has of it. */
function problemsOfInvoices({ invoices, refundedMinor, disputes, amountMinor, ...order }: Order): string[] {
  const sale = saleOf({ ...order, invoices, refundedMinor, disputes, amountMinor })
  const of = (kind: string) => sum(invoices.filter((one) => one.kind === kind))
  const back = refundedMinor + lostOf(disputes.filter(({ captureId }) => captureId === sale?.id))
  const expected = sale ? amountMinor - Math.min(amountMinor, back) : 0
  const sales = invoices.filter(({ reason }) => reason === 'sale')
  return [
    ...(sales.length === (sale ? 1 : 0) ? [] : [`${sales.length} invoices of ${sale ? 'one sale' : 'no sale'}`]),
    ...(sales.every((one) => one.amountMinor === amountMinor)
      ? []
      : ['an invoice over an amount other than the price']),
    ...invoices
      .filter(({ kind, reason }) => KIND_OF[reason] !== kind)
      .map(({ kind, reason }) => `a ${kind} because of ${reason}`),
    ...(of('invoice') - of('credit_note') === expected
      ? []
      : [`invoices ${of('invoice')}, credit notes ${of('credit_note')}, and the seller has ${expected}`]),
  ]
}

function problemsOfTimeline(order: Order): string[] {
  const { state, captures, timeline } = order
  const times = (what: string) => timeline.filter((one) => one === what).length
  const sales = captures.filter(({ purpose }) => purpose === 'sale').length
  // an order gets to these once, and says so; a refund that failed can bring it back to where it would be without
  const silent = timeline.includes('refund_failed')
  const once = [
    ...(['expired', 'needs_review', 'refunded', 'charged_back'] as const).filter(
      (one) => one === state && times(one) < 1 && !silent,
    ),
    ...(['expired', 'needs_review'] as const).filter((one) => times(one) > 1),
    // a bank that returned money can take it again, and a failed refund can be made again
    ...(times('charged_back') > 1 + times('dispute_won') + times('refund_failed') ? ['charged_back'] : []),
    ...(times('paid') === (isFreeAndPaid(order) ? 1 : sales) ? [] : ['paid']),
  ]
  return once.map((what) => `${state}, and ${times(what)} times ${what} in its timeline: ${timeline.join(', ')}`)
}

/** Every move of the order made one event, of the move's type and in its turn, and the last event shows the order as it is. */
function problemsOfEvents({ state, refundedMinor, events, shownRefundedMinor }: Order): string[] {
  const told = events.map(({ type, state: shown }) => `${type} (${shown})`).join(', ')
  const moves = Object.values(MOVES)
  const isMove = (from: State, { type, state: to }: Order['events'][number]) =>
    from === to || moves.some((move) => move.event === type && move.to === to && (move.from as readonly State[]).includes(from)) // oxfmt-ignore
  const wrong = events.find(
    (event, at) => event.sequence !== at + 1 || !isMove(events[at - 1]?.state ?? 'pending', event),
  )
  const last = events.at(-1)
  const isShown = last ? last.state === state && shownRefundedMinor === refundedMinor : state === 'pending'
  return [
    ...(wrong ? [`event ${wrong.sequence} does not follow: ${told}`] : []),
    ...(isShown ? [] : [`${state} with ${refundedMinor} back, and the events say ${told}`]),
  ]
}

/** Books and timelines only grow, and an order goes only where the table of moves lets it. */
function problemsOfTime(order: Order, before: Order): string[] {
  const lines = new Set(order.transfers.map(said))
  return [
    ...before.transfers
      .map(said)
      .filter((one) => !lines.has(one))
      .map((one) => `no longer booked: ${one}`),
    ...(before.timeline.every((what, at) => what === order.timeline[at])
      ? []
      : [`the past is another: ${before.timeline.join(', ')} → ${order.timeline.join(', ')}`]),
    ...(reachable(before.state).has(order.state) ? [] : [`from ${before.state} to ${order.state}`]),
    ...(['amountMinor', 'currency', 'feeMinor', 'taxMinor'] as const)
      .filter((name) => before[name] !== order[name])
      .map((name) => `${name} has changed`),
  ]
}

/** The states that an order can have reached since then, by several moves. */
function reachable(state: State): Set<State> {
  const found = new Set<State>([state])
  for (const from of found)
    for (const move of Object.values(MOVES)) if ((move.from as readonly State[]).includes(from)) found.add(move.to)
  return found
}
