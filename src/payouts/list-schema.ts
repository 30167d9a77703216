import { Type } from 'typebox'
import { CsvFormat } from '../kit/csv.ts'
import { idPattern } from '../kit/ids.ts'
import { Amount, Currency, NextCursor, PageQuery, Time } from '../kit/schema.ts'
import { PAYOUT_STATES } from './moves.ts'
import { NEXT_BLOCKS } from './next.ts'
import type { PayoutSums, StatedOrder, StatedPayout } from './statement/statement.ts'

export const PayoutParams = Type.Object({ payoutId: Type.String({ pattern: idPattern('po') }) })
export const PayoutQuery = Type.Object({ ...PageQuery, format: CsvFormat })
export const PayoutsQuery = Type.Object({
  ...PageQuery,
  format: CsvFormat,
  currency: Type.Optional(Type.String({ pattern: '^[A-Z]{3}$', description: 'Only payouts in this currency.' })),
  status: Type.Optional(Type.Enum([...PAYOUT_STATES], { description: 'Only payouts in this state.' })),
})

export const Payout = Type.Object({
  payoutId: Type.String(),
  status: Type.Enum([...PAYOUT_STATES], {
    description:
      '`approved`: the amount is reserved, and the operator sends it next. `sent`: given to the bank. `paid`: the bank confirmed it. `failed`: the bank refused it, the operator never sent it (then there is no `sentAt`), or it was `cancelled`. `reversed`: it came back after it had been paid. After the last two the money is in your balance again: at the processor, if a processor paid it.',
  }),
  by: Type.Enum(['manual', 'stripe-connect', 'razorpay-route'], {
    description:
      '`manual`: the operator paid by bank. Otherwise the processor that the value names paid from your own account there.',
  }),
  amount: Amount,
  currency: Currency,
  destination: Type.String({ description: 'Where it goes, masked.' }),
  reference: Type.String({
    description: 'The reference on your bank statement, or the id at the processor for a payout by a processor.',
  }),
  bankReference: Type.Optional(
    Type.String({
      description:
        'The number by which your bank shows a payout by a processor: the UTR in India, elsewhere the trace id. Absent while it is not known.',
    }),
  ),
  createdAt: Time,
  sentAt: Type.Optional(Time),
  paidAt: Type.Optional(Time),
  endedAt: Type.Optional(Type.String({ description: 'When it failed or came back. ISO 8601 in UTC.' })),
  failure: Type.Optional(
    Type.String({ description: 'Why it failed or came back. Absent where the processor does not say why.' }),
  ),
  cancelled: Type.Optional(
    Type.Boolean({ description: 'True: it was cancelled at the processor, and no bank refused it. Otherwise absent.' }),
  ),
})
export type Payout = Type.Static<typeof Payout>
export const Payouts = Type.Object({ items: Type.Array(Payout), nextCursor: NextCursor })

const change = (description: string) => Type.Integer({ description: `${description}, in minor units.` })

const OrderOfPayout = Type.Object({
  orderId: Type.String(),
  soldAt: Time,
  product: Type.String({ description: 'The name when the order was made.' }),
  sale: Amount,
  fee: change('Negative where the fee was taken, positive where a share of it came back'),
  refunds: change('Negative'),
  disputes: change('Disputed money: negative when a bank holds or takes it, positive when a bank gives it back'),
  net: change('The sum'),
})

/** `carried + sales + fees + refunds + disputes + the others = amount + left`. */
export const PayoutDetail = Type.Object({
  ...Payout.properties,
  from: Type.Union([Time, Type.Null()], {
    description:
      'The end of the payout before. Null: this is the first one in its currency, or a processor paid it and does not say where it begins.',
  }),
  until: Type.String({
    description:
      'The payout has the money that was available at this moment. Of a payout by a processor: when it was made. ISO 8601 in UTC.',
  }),
  carried: change('The rest that earlier payouts did not pay. Negative where they could not cover a debt'),
  sales: Amount,
  fees: change('Without the shares that came back, and with the processor’s own fees where a processor paid it'),
  refunds: change('Negative'),
  disputes: change('Disputed money: negative when a bank holds or takes it, positive when a bank gives it back'),
  others: Type.Array(Type.Object({ at: Time, what: Type.String(), amount: change('Negative where money was taken') }), {
    description:
      'Adjustments by the operator, and payouts that came back to your balance. Of a payout by a processor: its movements that belong to no order here, summed by kind, such as payments from elsewhere, and `at` is the latest of them.',
  }),
  left: change(
    'What stays for the next payout. `carried + sales + fees + refunds + disputes + others = amount + left`',
  ),
  orderCount: Type.Integer(),
  orders: Type.Array(OrderOfPayout, {
    description:
      'A page of the orders with money in this payout, in the order in which they were made. A refund can be in a later payout than its sale.',
  }),
  nextCursor: NextCursor,
})
export type PayoutDetail = Type.Static<typeof PayoutDetail>

export const payoutView = (payout: StatedPayout): Payout => ({
  payoutId: payout.id,
  status: payout.state,
  by: payout.by,
  amount: payout.amountMinor,
  currency: payout.currency,
  destination: payout.destination,
  reference: payout.reference,
  createdAt: payout.createdAt.toISOString(),
  ...(payout.sentAt && { sentAt: payout.sentAt.toISOString() }),
  ...(payout.paidAt && { paidAt: payout.paidAt.toISOString() }),
  ...(payout.endedAt && { endedAt: payout.endedAt.toISOString() }),
  ...(payout.bankReference !== null && { bankReference: payout.bankReference }),
  ...(payout.failure !== null && { failure: payout.failure }),
  ...(payout.isCancelled && { cancelled: true }),
})

export const detailView = (
  payout: StatedPayout,
  sums: PayoutSums,
  { items, nextCursor }: { items: readonly StatedOrder[]; nextCursor: string | null },
): PayoutDetail => ({
  ...payoutView(payout),
  from: sums.from?.toISOString() ?? null,
  until: payout.cutoffAt.toISOString(),
  carried: sums.carriedMinor,
  sales: sums.saleMinor,
  fees: sums.feeMinor,
  refunds: sums.refundMinor,
  disputes: sums.disputeMinor,
  others: sums.others.map(({ at, what, amountMinor }) => ({ at: at.toISOString(), what, amount: amountMinor })),
  left: sums.leftMinor,
  orderCount: sums.orderCount,
  orders: items.map((order) => ({
    orderId: order.orderId,
    soldAt: order.soldAt.toISOString(),
    product: order.product,
    sale: order.saleMinor,
    fee: order.feeMinor,
    refunds: order.refundMinor,
    disputes: order.disputeMinor,
    net: order.netMinor,
  })),
  nextCursor,
})

export const NextPayouts = Type.Object({
  by: Type.Enum(['manual', 'stripe-connect', 'razorpay-route'], {
    description: '`manual`: the operator of the service pays by bank. Otherwise the processor pays.',
  }),
  schedule: Type.Enum(['weekly', 'monthly']),
  holdDays: Type.Integer({ description: 'How many days the money of a sale waits.' }),
  runOn: Type.String({ description: 'The day (UTC) on which the next payouts are proposed, such as 2026-11-30.' }),
  items: Type.Array(
    Type.Object({
      currency: Currency,
      expected: Type.Integer({
        description:
          'The amount that will be available when that day begins if nothing else happens, in minor units. Money that becomes available on the day, before the payouts are proposed, comes on top.',
      }),
      minimum: Type.Integer({ description: 'The smallest payout, in minor units.' }),
      blocked: Type.Union([Type.Enum([...NEXT_BLOCKS]), Type.Null()], {
        description:
          'Why nothing would be paid on that day. Null: it would be. `negative_balance`: the amount that can be paid out is below zero, also where pending sales make the balance positive.',
      }),
      payableFrom: Type.Optional(
        Type.String({
          description: 'Your payout details of this currency can be paid from this moment. ISO 8601 in UTC.',
        }),
      ),
    }),
  ),
})
export type NextPayouts = Type.Static<typeof NextPayouts>

export const HistoryQuery = Type.Object({
  days: Type.Optional(
    Type.String({
      pattern: '^(?:[1-9][0-9]?|[12][0-9]{2}|3[0-5][0-9]|36[0-6])$',
      description: 'How many days: 1 to 366, 30 by default.',
    }),
  ),
})
export const BalanceHistory = Type.Object({
  items: Type.Array(
    Type.Object({
      currency: Currency,
      days: Type.Array(
        Type.Object({
          on: Type.String({ description: 'A day of UTC, such as 2026-11-23.' }),
          balance: Type.Integer({ description: 'At the end of the day, in minor units. On the last day: now.' }),
        }),
        { description: 'The oldest day first.' },
      ),
    }),
  ),
})
