import { KeptConsent } from '../orders/consents/consents.ts'
import { OrderWithdrawal } from '../buyers/withdrawals/schema.ts'
import { Type } from 'typebox'
import { CsvFormat } from '../kit/csv.ts'
import { idPattern } from '../kit/ids.ts'
import { PeriodQuery } from '../kit/period.ts'
import { Amount, Currency, NO_NUL, NextCursor, PageQuery, Time } from '../kit/schema.ts'
import { OnStatement } from '../orders/paid-by.ts'
import { Order, orderFields } from '../orders/seller-view.ts'
import { STATES } from '../orders/states.ts'
import { RAILS } from '../processors/rails.ts'
import { WithdrawnFiles } from '../products/schema.ts'
import { OrderTaxView } from '../taxes/schema.ts'
import { Refund } from '../payments/refunds/routes.ts'

const Rail = Type.Enum([...RAILS])
export const OrderParams = Type.Object({ orderId: Type.String({ pattern: idPattern('ord') }) })
export const OrdersQuery = Type.Object({
  ...PageQuery,
  ...PeriodQuery,
  format: CsvFormat,
  status: Type.Optional(Type.Enum([...STATES], { description: 'Only orders in this state.' })),
  rail: Type.Optional(Type.Enum([...RAILS], { description: 'Only orders paid on this rail.' })),
  productId: Type.Optional(
    Type.String({ maxLength: 100, pattern: NO_NUL, description: 'Only orders of this product.' }),
  ),
  email: Type.Optional(Type.String({ maxLength: 320, pattern: NO_NUL, description: 'The whole address of a buyer.' })),
  clientReferenceId: Type.Optional(
    Type.String({
      maxLength: 200,
      pattern: NO_NUL,
      description: 'The `clientReferenceId` with which the order was made.',
    }),
  ),
  q: Type.Optional(
    Type.String({
      maxLength: 200,
      pattern: NO_NUL,
      description:
        'A search text: the beginning of an address or of an order’s id, the short number of an order (`K4QW-6KFZ`), or a part of a product’s name.',
    }),
  ),
})
export type OrdersQuery = Type.Static<typeof OrdersQuery>

export const Orders = Type.Object({ items: Type.Array(Order), nextCursor: NextCursor })

export const Transfer = Type.Object({
  id: Type.String(),
  kind: Type.Enum(
    [
      'sale',
      'fee',
      'refund',
      'fee_refund',
      'refund_failed',
      'fee_again',
      'dispute_hold',
      'dispute_release',
      'dispute_return',
      'held_loss',
      'held_loss_back',
      'passed_on',
      'passed_back',
      'payout',
      'payout_failed',
      'payout_reversed',
      'adjustment',
    ],
    {
      description:
        '`fee_refund`: the share of the fee that came back with a refund or a lost dispute. `fee_again`: that share again, because the refund failed or the dispute’s money came back. `held_loss`: the amount that a bank took of a payment that was not the sale and had been sent back already. `payout_failed`: the bank refused a payout. `payout_reversed`: a payout came back after it had arrived. `adjustment`: a correction by the operator of the service.',
    },
  ),
  orderId: Type.Union([Type.String(), Type.Null()], { description: 'Null for payouts and adjustments.' }),
  payoutId: Type.Optional(Type.String({ description: 'The payout, for transfers of payouts.' })),
  amount: Type.Integer({ description: 'The change of the balance in minor units, negative when money leaves it.' }),
  isDirect: Type.Optional(
    Type.Boolean({ description: 'The money is at your own account at the processor, and in no balance here.' }),
  ),
  currency: Currency,
  createdAt: Time,
  balance: Type.Optional(
    Type.Integer({
      description:
        'The balance in this currency after the transfer, in minor units. A sale and its fee are booked together, so both have the balance after both. Absent with `orderId`.',
    }),
  ),
})
export type Transfer = Type.Static<typeof Transfer>
export const Transfers = Type.Object({ items: Type.Array(Transfer), nextCursor: NextCursor })
export const TransfersQuery = Type.Object({
  ...PageQuery,
  ...PeriodQuery,
  format: CsvFormat,
  currency: Type.Optional(Type.String({ pattern: '^[A-Z]{3}$', description: 'Only transfers in this currency.' })),
  orderId: Type.Optional(Type.String({ pattern: idPattern('ord'), description: 'Only the transfers of this order.' })),
})

export const OrderDetail = Type.Object({
  ...orderFields,
  tax: Type.Optional(OrderTaxView),
  statementDescriptor: Type.String({ description: 'The line on the buyer’s bank statement.' }),
  onStatement: OnStatement,
  netAmount: Type.Integer({
    description:
      'The sum of the order’s transfers so far, in minor units, without what only moves between your balance and your own account.',
  }),
  timeline: Type.Array(Type.Object({ at: Time, what: Type.String() })),
  refunds: Type.Array(Refund),
  transfers: Type.Array(Transfer),
  files: Type.Array(Type.Object({ id: Type.String(), name: Type.String(), size: Type.Integer() })),
  withdrawnFiles: WithdrawnFiles,
  consents: Type.Array(KeptConsent, { description: 'What the buyer agreed to before the order.' }),
  withdrawals: Type.Array(OrderWithdrawal, {
    description: 'Statements of withdrawal that may be about this order, the newest first.',
  }),
  emailMove: Type.Optional(
    Type.Object(
      {
        movesAt: Type.Union([Time, Type.Null()], {
          description:
            'Three days after the mail server of the old mailbox accepted our question. Null: it has not accepted it yet, or the order needs consent.',
        }),
        needsConsent: Type.Boolean({
          description:
            'The old mailbox has kept the order before, so the order moves only with that mailbox’s consent.',
        }),
      },
      {
        description:
          'Present when the reader of `pendingEmail` has confirmed it and the old mailbox can still keep the order.',
      },
    ),
  ),
  pendingEmail: Type.Optional(
    Type.String({ description: 'The new address for the order, which its owner has yet to confirm.' }),
  ),
  successUrl: Type.Optional(Type.String({ description: 'Where the hosted page goes on after the payment.' })),
  cancelUrl: Type.Optional(Type.String({ description: 'Where the hosted page leads back to.' })),
  orderUrl: Type.String({ description: 'The page of the order, for its buyer.' }),
})
export type OrderDetail = Type.Static<typeof OrderDetail>

export const Balance = Type.Object({
  items: Type.Array(
    Type.Object({
      currency: Currency,
      balance: Type.Integer({
        description: 'sales − fees − refunds − disputes − payouts + adjustments, in minor units.',
      }),
      sales: Amount,
      fees: Type.Integer({ description: 'All fees, without the parts that came back.' }),
      refunds: Type.Integer({ description: 'All refunds, without those that failed afterwards.' }),
      disputes: Type.Integer({ description: 'Money that banks hold or have taken back.' }),
      payouts: Type.Integer({ description: 'Money sent to your bank, without what came back.' }),
      adjustments: Type.Integer({ description: 'Corrections by the operator of the service.' }),
      available: Type.Integer({
        description:
          'The part of the balance that the next payout can take. Negative: refunds after a payout, which the next sales make up for.',
      }),
      pending: Type.Integer({ description: 'The rest of the balance: its holding period has not ended.' }),
      pendingBy: Type.Array(
        Type.Object({ on: Type.String({ description: 'A day of UTC, such as 2026-11-23.' }), amount: Type.Integer() }),
        { description: 'When how much of `pending` becomes available, the first day first.' },
      ),
      refunding: Type.Integer({
        description:
          'The part of the balance that refunds under way will take. It is neither available nor pending, and no payout has it.',
      }),
      onTheWay: Type.Integer({
        description: 'Payouts that have left the balance, and that your bank has not confirmed yet.',
      }),
    }),
  ),
})
export type Balance = Type.Static<typeof Balance>

export const INTERVALS = ['hour', 'day', 'week', 'month'] as const
export const StatsQuery = Type.Object({
  ...PeriodQuery,
  interval: Type.Optional(
    Type.Enum([...INTERVALS], { description: 'The length of one interval. The default is a day.' }),
  ),
  timeZone: Type.Optional(
    Type.String({
      pattern: '^[A-Za-z][A-Za-z0-9_+/-]{0,59}$',
      description: 'The time zone of days, weeks and months: an IANA name such as Europe/Vienna.',
    }),
  ),
})
const sum = { orders: Type.Integer(), amount: Amount }
export const Stats = Type.Object({
  from: Time,
  to: Time,
  interval: Type.Enum([...INTERVALS]),
  timeZone: Type.String(),
  items: Type.Array(
    Type.Object({
      currency: Currency,
      ...sum,
      fees: Type.Integer({ description: 'The fees of these orders, without the parts that came back.' }),
      refunded: Type.Integer({
        description: 'The money of these orders that went back, by refunds and lost disputes.',
      }),
      net: Type.Integer({ description: 'amount − fees − refunded.' }),
      buckets: Type.Array(Type.Object({ at: Time, ...sum }), {
        description: 'All intervals, also those without orders.',
      }),
      rails: Type.Array(Type.Object({ rail: Type.Union([Rail, Type.Null()]), ...sum })),
      products: Type.Array(Type.Object({ id: Type.String(), name: Type.String(), ...sum }), {
        description: 'The five products with the highest sums.',
      }),
    }),
  ),
})
export type Stats = Type.Static<typeof Stats>

/** The matters that need the seller, by weight: those that lose money by waiting come first, those to be only noticed come last. */
export const ATTENTION = [
  'disputed',
  'needs_review',
  'refund_failed',
  'withdrawn',
  'receipt_bounced',
  'no_files',
  'no_payments',
  'tax_rate_missing',
  'price_not_offered',
  'file_withdrawn',
] as const
export const Attention = Type.Object({
  items: Type.Array(
    Type.Object({
      what: Type.Enum([...ATTENTION]),
      orderId: Type.Optional(Type.String()),
      productId: Type.Optional(Type.String()),
      name: Type.Optional(Type.String({ description: 'The product’s name; for `tax_rate_missing` the countries.' })),
      email: Type.Optional(Type.String({ description: 'The buyer’s address.' })),
      at: Time,
    }),
    {
      description:
        'At most 20, in the order of the values of `what`: disputes first, because a bank waits for an answer. Disputes come oldest first, others newest first.',
    },
  ),
})
export type Attention = Type.Static<typeof Attention>
