import type { RazorpayServer } from '../stand-ins/razorpay-server.ts'
import type { Order } from './books.ts'
import { isPassed, passedOf, reversedOf, transfersOf } from './route.ts'
import type { Run } from './run.ts'

// Invariants where Razorpay passes money on. The books are of a moment before that of the transfers at Razorpay.

const sum = (items: readonly { amountMinor: number }[]): number =>
  items.reduce((total, { amountMinor }) => total + amountMinor, 0)
const booked = ({ transfers }: Order, kind: string): number => sum(transfers.filter((one) => one.kind === kind))

/** At every moment, of one order. */
export function problemsOfPasses(run: Run, order: Order): string[] {
  const made = transfersOf(run, order.id)
  const withOrder = Map.groupBy(
    made.filter(({ source }) => run.world.razorpay.orders.has(source)),
    ({ source }) => String(source),
  )
  const net = order.amountMinor - order.feeMinor
  const there = passedOf(made) - reversedOf(made)
  return [
    ...[...withOrder.values()]
      .filter((same) => same.length > 1 || same[0]!['amount'] !== net)
      .map((same) => `its transfers are of ${same.map(({ amount }) => amount).join(', ')}, not of ${net}`),
    ...(there > net ? [`${there} are at the linked account, and the seller’s part is ${net}`] : []),
    ...problemsOfEntries(order, made),
  ].map((problem) => `${order.id}: ${problem}`)
}

/** The books say nothing that Razorpay has not done. */
function problemsOfEntries(order: Order, made: readonly Record<string, any>[]): string[] {
  const entries = order.transfers.filter(({ kind }) => kind === 'passed_on' || kind === 'passed_back')
  const [seller, direct] = [`seller:${order.sellerId}`, `direct:${order.sellerId}`]
  return [
    ...entries
      .filter(({ kind, debit, credit }) =>
        kind === 'passed_on' ? debit !== seller || credit !== direct : debit !== direct || credit !== seller,
      ) // oxfmt-ignore
      .map(({ kind, debit, credit }) => `${kind} goes from ${debit} to ${credit}`),
    ...entries.flatMap(({ kind, cause, amountMinor }) => {
      const id = cause.split(':')[2]
      const at = made.find((one) => one['id'] === id)
      if (kind === 'passed_on') return at && isPassed(at) && at['amount'] === amountMinor ? [] : [`passed on, and Razorpay has not: ${cause}`] // oxfmt-ignore
      const back = sum(entries.filter((one) => one.kind === kind && one.cause.split(':')[2] === id))
      return at && back <= at['amount_reversed'] ? [] : [`passed back, and Razorpay has not: ${cause}`]
    }),
  ]
}

/**
 * Looks at each refund of ours in the moment in which Razorpay takes it. By then the seller's part has come back, so that the operator
 * never pays for it. Returns a list of faults, which grows. A refund in the dashboard or a bank takes money before the
 * seller's part comes back.
 */
export function watchRefunds(razorpay: RazorpayServer): string[] {
  const found: string[] = []
  /** Transfers that go on after the capture, by another try or by hand. If a refund is under way then, their part comes back afterwards. */
  const late = new Set<string>()
  const { answer, route } = razorpay
  const { process } = route
  route.process = (id) => {
    const { status, source } = route.transfers.get(id)!
    if (status !== 'created' || !razorpay.orders.has(source)) late.add(id)
    process(id)
  }
  razorpay.answer = (request) => {
    const answered = answer(request)
    const [, id] = /^\/v1\/payments\/(pay_\w+)\/refund$/.exec(request.path) ?? []
    if (request.method === 'POST' && id)
      found.push(...problemsOfRefund(razorpay, razorpay.payments.get(id)!.order_id, late))
    return answered
  }
  return found
}

function problemsOfRefund(
  { orders, payments, refunds, route }: RazorpayServer,
  orderId: string,
  late: ReadonlySet<string>,
): string[] {
  const made = route.of(orderId)
  if (made.length === 0) return []
  const captured = [...payments.values()].filter((one) => one.order_id === orderId && one.captured)
  const ids = new Set(captured.map(({ id }) => id))
  const ours = [...refunds.values()].filter((one) => ids.has(one.payment_id) && one.receipt && one.status !== 'failed')
  const total = (items: readonly Record<string, any>[]): number => items.reduce((all, { amount }) => all + amount, 0)
  const amountMinor = orders.get(orderId)!.amount
  const left = Math.min(amountMinor, Math.max(0, total(captured) - total(ours)))
  const most = keptOf({ amountMinor, feeMinor: amountMinor - made[0]!['amount'] }, amountMinor - left)
  const known = made.filter(({ id }) => !late.has(id))
  const there = passedOf(known) - reversedOf(known)
  return there <= most ? [] : [`${orderId}: ${total(ours)} go back to the buyer, and ${there} are still at the linked account, not ${most}`] // oxfmt-ignore
}

/** The seller's part when so much went back: the rest without its share of the fee, which is rounded half to even. */
function keptOf({ amountMinor, feeMinor }: Pick<Order, 'amountMinor' | 'feeMinor'>, returnedMinor: number): number {
  const gone = Math.min(returnedMinor, amountMinor)
  const exact = feeMinor * gone
  const [quotient, rest] = [Math.floor(exact / amountMinor), exact % amountMinor]
  const up = rest * 2 > amountMinor || (rest * 2 === amountMinor && quotient % 2 === 1)
  return amountMinor - gone - (feeMinor - quotient - (up ? 1 : 0))
}

/** When everything has happened: the books are Razorpay's, and nothing is there that does not belong there. */
export function problemsOfPassesAtTheEnd(run: Run, order: Order): string[] {
  const made = transfersOf(run, order.id)
  const [passed, reversed] = [passedOf(made), reversedOf(made)]
  const sale = order.captures.find(({ purpose }) => purpose === 'sale')
  const lost = order.disputes.reduce((all, one) => all + (one.captureId === sale?.id ? (one.lostMinor ?? 0) : 0), 0)
  const due = sale ? keptOf(order, order.refundedMinor + lost) : 0
  // the seller is owed money that came back for a refund that failed then, and money that is not passed on
  const isOwed =
    made.some((one) => !isPassed(one)) ||
    order.refunds.some(({ state }) => state !== 'succeeded') ||
    order.transfers.some(({ kind }) => kind === 'dispute_return') ||
    made.some(({ id }) => run.latePasses.has(id))
  return [
    ...(booked(order, 'passed_on') === passed && booked(order, 'passed_back') === reversed
      ? []
      : [`passed on ${booked(order, 'passed_on')} and back ${booked(order, 'passed_back')}, at Razorpay ${passed} and ${reversed}`]), // oxfmt-ignore
    ...(passed - reversed <= due ? [] : [`${passed - reversed} are at the linked account, and ${due} belong there`]),
    ...(passed - reversed === due || isOwed || passed === 0
      ? []
      : [`${passed - reversed} are at the linked account, and ${due} should be`]),
  ].map((problem) => `${order.id}, at the end: ${problem}`)
}

/** The money that the operator paid by bank, and gave the seller. */
const BY_BANK = `
  select (select coalesce(sum(amount_minor), 0) from payouts where currency = 'INR' and state in ('approved', 'sent', 'paid'))::text as "byBank",
    (select coalesce(sum(amount_minor), 0) from transfers where kind = 'adjustment' and currency = 'INR')::text as adjusted`

/** All that was paid to the seller, by bank and by Razorpay, is never more than the seller's part of the money that buyers paid. */
export async function paidTooMuch({ world: { client, razorpay } }: Run): Promise<string[]> {
  const { rows } = await client.query<{ byBank: string; adjusted: string }>(BY_BANK)
  const [byBank, adjusted] = [Number(rows[0]!.byBank), Number(rows[0]!.adjusted)]
  const all = [...razorpay.route.transfers.values()]
  const byRazorpay = passedOf(all) - reversedOf(all)
  const paid = new Set([...razorpay.payments.values()].flatMap((one) => (one.captured ? [one.order_id] : [])))
  const sold = all.reduce((total, { source, amount }) => (paid.has(source) ? total + amount : total), 0)
  return byBank + byRazorpay <= sold + adjusted
    ? []
    : [`paid twice: ${byBank} by bank and ${byRazorpay} by Razorpay, of ${sold} and ${adjusted}`]
}
