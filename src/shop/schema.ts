import { Type } from 'typebox'
import { idPattern } from '../kit/ids.ts'
import { PeriodQuery } from '../kit/period.ts'
import { Amount, Currency, NextCursor, PageQuery, Time } from '../kit/schema.ts'
import { STATES } from '../orders/states.ts'
import { RAILS } from '../processors/rails.ts'
import { WithdrawnFiles } from '../products/schema.ts'
import { Refund } from '../payments/refunds/routes.ts'

/** No NUL, which PostgreSQL holds in no text. */
const TEXT = '^[^\\u0000]*$'
const format = Type.Optional(
  Type.Literal('csv', { description: 'As `Accept: text/csv`, for a link: all of them, for a spreadsheet.' }),
)

const Rail = Type.Enum([...RAILS])
export const OrderParams = Type.Object({ orderId: Type.String({ pattern: idPattern('ord') }) })
export const OrdersQuery = Type.Object({
  ...PageQuery,
  ...PeriodQuery,
  format,
  status: Type.Optional(Type.Enum([...STATES])),
  rail: Type.Optional(Rail),
  productId: Type.Optional(Type.String({ maxLength: 100, pattern: TEXT })),
  email: Type.Optional(Type.String({ maxLength: 320, pattern: TEXT, description: 'The whole address of a buyer.' })),
  q: Type.Optional(
    Type.String({
      maxLength: 200,
      pattern: TEXT,
      description: 'As it is typed: the beginning of an address or of an order’s id, or a part of a product’s name.',
    }),
  ),
})
export type OrdersQuery = Type.Static<typeof OrdersQuery>

const order = {
  orderId: Type.String(),
  status: Type.Enum([...STATES]),
  email: Type.String(),
  amount: Amount,
  currency: Currency,
  fee: Type.Union([Type.Integer(), Type.Null()], {
    description: 'What we take of it, in minor units. Null: it was not paid, so there is no fee.',
  }),
  refundedAmount: Amount,
  chargedBackAmount: Type.Optional(
    Type.Integer({ description: 'What the bank took back of the price by a lost dispute, beside what was refunded.' }),
  ),
  discountAmount: Type.Optional(Type.Integer({ description: 'What a code took off the price.' })),
  discountCode: Type.Optional(Type.String()),
  rail: Type.Union([Rail, Type.Null()]),
  product: Type.Object({ id: Type.String(), name: Type.String({ description: 'As it was when it was bought.' }) }),
  createdAt: Time,
  paidAt: Type.Union([Time, Type.Null()]),
  paymentFailed: Type.Optional(
    Type.Boolean({
      description:
        'There while it is `processing` and the bank has said no after all: the buyer was told, and may pay again.',
    }),
  ),
  receipt: Type.Enum(['sent', 'bounced', 'held', 'none'], {
    description:
      'Bounced: the mail server refused the address. Held: not mailed, since too many mails about free orders were. None: not paid, so there is none to send.',
  }),
}
export const Order = Type.Object(order)
export type Order = Type.Static<typeof Order>
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
    ],
    {
      description:
        '`fee_refund`: the share of the fee that came back with a refund or a lost dispute. `fee_again`: that share once more, since the refund failed or the dispute’s money came back. `held_loss`: what a bank took of a payment beside the sale that had been sent back.',
    },
  ),
  orderId: Type.String(),
  amount: Type.Integer({ description: 'What it does to the balance, in minor units: below zero, it takes.' }),
  currency: Currency,
  createdAt: Time,
  balance: Type.Optional(
    Type.Integer({
      description:
        'What your account held in this currency after it, in minor units. A sale and its fee are booked at once, so both say what was held after both. Absent where only one order’s transfers are asked for.',
    }),
  ),
})
export type Transfer = Type.Static<typeof Transfer>
export const Transfers = Type.Object({ items: Type.Array(Transfer), nextCursor: NextCursor })
export const TransfersQuery = Type.Object({
  ...PageQuery,
  ...PeriodQuery,
  format,
  currency: Type.Optional(Type.String({ pattern: '^[A-Z]{3}$' })),
  orderId: Type.Optional(Type.String({ pattern: idPattern('ord') })),
})

export const OrderDetail = Type.Object({
  ...order,
  statementDescriptor: Type.String({ description: 'What the buyer’s bank statement says.' }),
  netAmount: Type.Integer({ description: 'What the order has done to the balance so far, in minor units.' }),
  timeline: Type.Array(Type.Object({ at: Time, what: Type.String() })),
  refunds: Type.Array(Refund),
  transfers: Type.Array(Transfer),
  files: Type.Array(Type.Object({ id: Type.String(), name: Type.String(), size: Type.Integer() })),
  withdrawnFiles: WithdrawnFiles,
  emailMove: Type.Optional(
    Type.Object(
      {
        movesAt: Type.Union([Time, Type.Null()], {
          description:
            'Three days after the mail server of the old mailbox took our question. Null: it has not taken it, or the order needs consent.',
        }),
        needsConsent: Type.Boolean({
          description: 'The old mailbox has kept the order before: it moves by the consent of that mailbox alone.',
        }),
      },
      {
        description:
          'There while the reader of `pendingEmail` has confirmed it and the old mailbox can still keep the order.',
      },
    ),
  ),
  pendingEmail: Type.Optional(
    Type.String({ description: 'An address that the order is to have, once whoever reads it has confirmed it.' }),
  ),
  orderUrl: Type.String({ description: 'The page of the order, for its buyer.' }),
})
export type OrderDetail = Type.Static<typeof OrderDetail>

export const Balance = Type.Object({
  items: Type.Array(
    Type.Object({
      currency: Currency,
      balance: Type.Integer({ description: 'sales − fees − refunds − disputes, in minor units.' }),
      sales: Amount,
      fees: Type.Integer({ description: 'Those taken, less what came back of them.' }),
      refunds: Type.Integer({ description: 'Those made, less those that failed afterwards.' }),
      disputes: Type.Integer({ description: 'Money that banks hold or have taken back.' }),
    }),
  ),
})

export const INTERVALS = ['hour', 'day', 'week', 'month'] as const
export const StatsQuery = Type.Object({
  ...PeriodQuery,
  interval: Type.Optional(Type.Enum([...INTERVALS])),
  timeZone: Type.Optional(
    Type.String({
      pattern: '^[A-Za-z][A-Za-z0-9_+/-]{0,59}$',
      description: 'Whose days: an IANA name such as Europe/Vienna.',
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
      fees: Type.Integer({ description: 'Those of these orders, less what came back of them.' }),
      refunded: Type.Integer({ description: 'What went back of these orders, by refunds and lost disputes.' }),
      net: Type.Integer({ description: 'amount − fees − refunded.' }),
      buckets: Type.Array(Type.Object({ at: Time, ...sum }), { description: 'All of them, also those with nothing.' }),
      rails: Type.Array(Type.Object({ rail: Type.Union([Rail, Type.Null()]), ...sum })),
      products: Type.Array(Type.Object({ id: Type.String(), name: Type.String(), ...sum }), {
        description: 'The five that brought the most.',
      }),
    }),
  ),
})
export type Stats = Type.Static<typeof Stats>

/** What needs the seller, by its weight: money that is lost by waiting comes first, what can only be noticed comes last. */
export const ATTENTION = [
  'disputed',
  'needs_review',
  'refund_failed',
  'receipt_bounced',
  'no_files',
  'no_payments',
  'file_withdrawn',
] as const
export const Attention = Type.Object({
  items: Type.Array(
    Type.Object({
      what: Type.Enum([...ATTENTION]),
      orderId: Type.Optional(Type.String()),
      productId: Type.Optional(Type.String()),
      name: Type.Optional(Type.String({ description: 'The product’s.' })),
      email: Type.Optional(Type.String({ description: 'The buyer’s.' })),
      at: Time,
    }),
    {
      description:
        'By weight, as `what` lists it: disputes first, since a bank waits for an answer. Of disputes the oldest is first, of anything else the newest. At most 20.',
    },
  ),
})
export type Attention = Type.Static<typeof Attention>
