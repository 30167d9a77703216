import { type Cell, type Columns, Decimal } from '../../kit/csv.ts'
import type { PayoutSums, StatedOrder, StatedPayout } from './statement.ts'

/** A line of a payout's CSV: an order, or money that belongs to no order. The nets of all lines add up to the payout. */
export interface StatementLine {
  line: 'carried_over' | 'order' | 'other' | 'stays_for_next'
  at: Date | null
  orderId: string | null
  what: string
  order: StatedOrder | undefined
  netMinor: number
}

const bare = (line: StatementLine['line'], what: string, netMinor: number, at: Date | null = null): StatementLine => ({
  line,
  at,
  orderId: null,
  what,
  order: undefined,
  netMinor,
})

const orderLine = (order: StatedOrder): StatementLine => ({
  line: 'order',
  at: order.soldAt,
  orderId: order.orderId,
  what: order.product,
  order,
  netMinor: order.netMinor,
})

/** The amount carried over comes first; adjustments and the amount that stays come last. */
export async function* linesOf(
  { carriedMinor, leftMinor, others }: PayoutSums,
  orders: AsyncIterable<readonly StatedOrder[]>,
): AsyncGenerator<StatementLine[]> {
  if (carriedMinor !== 0) yield [bare('carried_over', 'Carried over from earlier payouts', carriedMinor)]
  for await (const page of orders) yield page.map(orderLine)
  const last = others.map(({ at, what, amountMinor }) => bare('other', what, amountMinor, at))
  if (leftMinor !== 0) last.push(bare('stays_for_next', 'Left for the next payout', -leftMinor))
  yield last
}

export function lineColumns({ id, currency }: StatedPayout): Columns<StatementLine> {
  const amount =
    (pick: (order: StatedOrder) => number) =>
    (line: StatementLine): Cell =>
      line.order ? new Decimal(pick(line.order), currency) : null
  return {
    payout_id: () => id,
    line: ({ line }) => line,
    date: ({ at }) => at && at.toISOString(),
    order_id: ({ orderId }) => orderId,
    description: ({ what }) => what,
    currency: () => currency,
    sale: amount(({ saleMinor }) => saleMinor),
    fee: amount(({ feeMinor }) => feeMinor),
    refunds: amount(({ refundMinor }) => refundMinor),
    disputes: amount(({ disputeMinor }) => disputeMinor),
    net_minor: ({ netMinor }) => netMinor,
    net: ({ netMinor }) => new Decimal(netMinor, currency),
  }
}

const time = (at: Date | null): Cell => at && at.toISOString()

export const PAYOUT_COLUMNS: Columns<StatedPayout> = {
  payout_id: ({ id }) => id,
  created_at: ({ createdAt }) => time(createdAt),
  status: ({ state }) => state,
  currency: ({ currency }) => currency,
  amount_minor: ({ amountMinor }) => amountMinor,
  amount: ({ amountMinor, currency }) => new Decimal(amountMinor, currency),
  destination: ({ destination }) => destination,
  reference: ({ reference }) => reference,
  sent_at: ({ sentAt }) => time(sentAt),
  paid_at: ({ paidAt }) => time(paidAt),
  ended_at: ({ endedAt }) => time(endedAt),
  failure: ({ failure }) => failure,
  bank_reference: ({ bankReference }) => bankReference,
}
