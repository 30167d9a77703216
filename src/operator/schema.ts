import { Type } from 'typebox'
import { CsvFormat } from '../kit/csv.ts'
import { EMAIL_LONGEST } from '../kit/email.ts'
import { idPattern } from '../kit/ids.ts'
import { LARGEST_AMOUNT } from '../kit/money.ts'
import { Amount, Currency, NO_NUL, NextCursor, PageQuery, Time } from '../kit/schema.ts'
import { STATES } from '../orders/states.ts'
import { OrderDetail } from '../shop/schema.ts'
import { STANDINGS } from '../sellers/standing.ts'
import { ACTIONS } from './log.ts'
import { MATTERS } from './matter.ts'

const Null = Type.Null()
export const Done = Type.Object({
  changed: Type.Boolean({ description: 'False: it was so before, and nothing was written.' }),
})

export const StatisticsQuery = Type.Object({
  days: Type.Optional(Type.Enum(['7', '30', '365'], { description: 'The period until now. 30 by default.' })),
})
const sums = {
  created: Type.Integer({ description: 'Orders that cost money and were made in this time.' }),
  converted: Type.Integer({ description: 'How many of these were paid, also later.' }),
  paid: Type.Integer({ description: 'Orders that were paid in this time.' }),
  volume: Type.Integer({ description: 'The prices of the paid orders together, in minor units.' }),
  fees: Type.Integer({
    description: 'The service’s fees in minor units, without what went back with refunds and lost disputes.',
  }),
}
export const Statistics = Type.Object({
  days: Type.Integer(),
  interval: Type.Enum(['day', 'week']),
  from: Time,
  to: Time,
  items: Type.Array(
    Type.Object({ currency: Currency, ...sums, buckets: Type.Array(Type.Object({ at: Time, ...sums })) }),
    { description: 'By currency, the one with the most paid orders first.' },
  ),
})
export type Statistics = Type.Static<typeof Statistics>

export const Attention = Type.Object({
  matters: Type.Array(
    Type.Object({
      what: Type.Enum([...MATTERS]),
      says: Type.String(),
      advice: Type.String({ description: 'What to do about it.' }),
      view: Type.Union([Type.String(), Null], { description: 'The view of /operator/ that helps, behind its "#".' }),
      at: Type.Union([Time, Null]),
    }),
    { description: 'What needs a person, in the order of the values of `what`.' },
  ),
  checks: Type.Array(
    Type.Object({
      about: Type.Enum(['backup', 'disk', 'certificate', 'clock']),
      mark: Type.Enum(['fine', 'warning', 'failure']),
      says: Type.String(),
      advice: Type.Optional(Type.String({ description: 'What to do about it.' })),
    }),
  ),
})
export type Attention = Type.Static<typeof Attention>

export const OrderParams = Type.Object({ orderId: Type.String({ pattern: idPattern('ord') }) })
export const OrdersQuery = Type.Object({
  ...PageQuery,
  q: Type.Optional(
    Type.String({
      maxLength: 320,
      pattern: NO_NUL,
      description:
        'An order’s id or its beginning, the whole address of a buyer, or the processor’s id of a payment or a capture.',
    }),
  ),
  status: Type.Optional(Type.Enum([...STATES], { description: 'Only orders in this state.' })),
  sellerId: Type.Optional(Type.String({ pattern: idPattern('sel'), description: 'Only orders of this seller.' })),
})
const SellerOfOrder = Type.Object({ id: Type.String(), name: Type.String() })
export const FoundOrder = Type.Object({
  orderId: Type.String(),
  status: Type.Enum([...STATES]),
  email: Type.String(),
  amount: Amount,
  currency: Currency,
  product: Type.String({ description: 'The name when the order was made.' }),
  seller: SellerOfOrder,
  createdAt: Time,
  paidAt: Type.Union([Time, Null]),
})
export type FoundOrder = Type.Static<typeof FoundOrder>
export const FoundOrders = Type.Object({ items: Type.Array(FoundOrder), nextCursor: NextCursor })

export const OperatorOrder = Type.Object({
  ...OrderDetail.properties,
  seller: Type.Object({ id: Type.String(), name: Type.String(), email: Type.String() }),
  payments: Type.Array(
    Type.Object({
      processor: Type.String(),
      processorPaymentId: Type.Union([Type.String(), Null]),
      state: Type.String(),
      createdAt: Time,
      captures: Type.Array(
        Type.Object({
          id: Type.String({ description: 'The processor’s id.' }),
          purpose: Type.Enum(['sale', 'duplicate', 'mismatch'], {
            description:
              '`duplicate`: a second payment, which goes back. `mismatch`: an amount other than the price, which waits for a decision.',
          }),
          amount: Amount,
          currency: Currency,
          left: Type.Integer({
            description: 'What has not gone back, is not on its way back, and was not taken by a bank, in minor units.',
          }),
          capturedAt: Time,
        }),
      ),
      disputes: Type.Array(
        Type.Object({
          id: Type.String(),
          amount: Amount,
          state: Type.Enum(['open', 'won', 'lost']),
          respondBy: Type.Union([Time, Null], { description: 'Until when the bank waits for an answer.' }),
        }),
      ),
    }),
  ),
})
export type OperatorOrder = Type.Static<typeof OperatorOrder>

/** The note beside the refund begins with "By the operator". */
export const OperatorRefund = Type.Object({
  amount: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: LARGEST_AMOUNT,
      description: 'Integer minor units of the order’s currency. The default is all that is left.',
    }),
  ),
  reason: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 480,
      pattern: NO_NUL,
      description: 'The seller reads it, and the buyer does not.',
    }),
  ),
})
export const Acceptance = Type.Object({
  captureId: Type.Optional(
    Type.String({ maxLength: 255, pattern: NO_NUL, description: 'Which payment, where the order has several.' }),
  ),
})
export const Accepted = Type.Object({ captureId: Type.String(), amount: Amount, currency: Currency })
export const SentBack = Type.Object({
  items: Type.Array(
    Type.Object({ refundId: Type.String(), captureId: Type.String(), amount: Amount, currency: Currency }),
  ),
})

export const SellerParams = Type.Object({ sellerId: Type.String({ pattern: idPattern('sel') }) })
export const SellersQuery = Type.Object({
  ...PageQuery,
  q: Type.Optional(
    Type.String({ maxLength: 200, pattern: NO_NUL, description: 'An id, or the beginning of an address or a name.' }),
  ),
  standing: Type.Optional(Type.Enum([...STANDINGS], { description: 'Only sellers of this standing.' })),
})
export const FoundSeller = Type.Object({
  sellerId: Type.String(),
  name: Type.String(),
  email: Type.String({ maxLength: EMAIL_LONGEST }),
  standing: Type.Enum([...STANDINGS]),
  trusted: Type.Boolean({ description: 'Approved by an operator.' }),
  createdAt: Time,
  approvalAskedAt: Type.Union([Time, Null]),
  suspendedAt: Type.Union([Time, Null]),
  lockedOutAt: Type.Union([Time, Null], {
    description: 'Since then the seller can neither sign in nor sell, whatever the standing says.',
  }),
  awaitsAccount: Type.Boolean({
    description:
      'The seller sells nothing until an account at the processor takes payments, whatever the standing says.',
  }),
  quotaBytes: Type.Union([Type.Integer(), Null], {
    description: 'The seller’s own storage quota. 0: no limit. Null: the quota of the service.',
  }),
  usedBytes: Type.Integer(),
  products: Type.Integer({ description: 'Products that are not archived.' }),
  sessions: Type.Integer(),
})
export type FoundSeller = Type.Static<typeof FoundSeller>
export const FoundSellers = Type.Object({ items: Type.Array(FoundSeller), nextCursor: NextCursor })
export const Quota = Type.Object({
  quotaBytes: Type.Union([Type.Integer({ minimum: 0, maximum: 1e15 }), Null], {
    description: '0: no limit. Null: the quota of the service.',
  }),
})

export const FileParams = Type.Object({ fileId: Type.String({ pattern: idPattern('file') }) })
export const Recall = Type.Object({
  reason: Type.String({
    minLength: 1,
    maxLength: 500,
    pattern: NO_NUL,
    description: 'One line, which the buyers read.',
  }),
})
export const Recalled = Type.Object({
  name: Type.String(),
  product: Type.String(),
  recalledAt: Time,
  reason: Type.String({ description: 'The reason of the first recall stays.' }),
  already: Type.Boolean({ description: 'The file had been recalled before.' }),
  elsewhere: Type.Array(Type.Object({ fileId: Type.String(), product: Type.String(), seller: Type.String() }), {
    description: 'Files of other sellers with the same bytes, which are not recalled.',
  }),
})

export const LogQuery = Type.Object({
  ...PageQuery,
  format: CsvFormat,
  subject: Type.Optional(
    Type.String({ maxLength: 100, pattern: NO_NUL, description: 'The id of an order, a seller or a file.' }),
  ),
})
const LogEntry = Type.Object({
  id: Type.String(),
  at: Time,
  actor: Type.String({ description: 'The operator’s mailbox, or `machine` for a command on the machine itself.' }),
  action: Type.Enum([...ACTIONS]),
  subject: Type.String(),
  detail: Type.Record(Type.String(), Type.Unknown()),
})
export type LogEntry = Type.Static<typeof LogEntry>
export const Log = Type.Object({ items: Type.Array(LogEntry), nextCursor: NextCursor })
