import { sql } from 'kysely'
import { Type } from 'typebox'
import { Amount, Currency, Time } from '../kit/schema.ts'
import { RAILS, type Rail } from '../processors/rails.ts'
import { chargedBackMinor } from './returned-money.ts'
import { STATES, type State } from './states.ts'

// An order as its seller sees it: in the list of orders, and in the events that the seller's program gets.

export const orderFields = {
  orderId: Type.String(),
  status: Type.Enum([...STATES]),
  email: Type.String(),
  amount: Amount,
  currency: Currency,
  fee: Type.Union([Type.Integer(), Type.Null()], {
    description: 'Our fee in minor units. Null: the order was not paid, so there is no fee.',
  }),
  refundedAmount: Amount,
  chargedBackAmount: Type.Optional(
    Type.Integer({ description: 'The part of the price that a bank took back by a lost dispute, without refunds.' }),
  ),
  discountAmount: Type.Optional(Type.Integer({ description: 'The discount of the code.' })),
  discountCode: Type.Optional(Type.String()),
  rail: Type.Union([Type.Enum([...RAILS]), Type.Null()]),
  product: Type.Object({ id: Type.String(), name: Type.String({ description: 'The name when the order was made.' }) }),
  createdAt: Time,
  paidAt: Type.Union([Time, Type.Null()]),
  paymentFailed: Type.Optional(
    Type.Boolean({
      description:
        'Present while the order is `processing` and the bank has said no after all. The buyer has got a mail and can pay again.',
    }),
  ),
  clientReferenceId: Type.Optional(
    Type.String({ description: 'The value given when the order was made.', examples: ['cart-1042'] }),
  ),
  metadata: Type.Optional(
    Type.Unsafe<Record<string, string>>({
      type: 'object',
      additionalProperties: { type: 'string' },
      description: 'The value given when the order was made.',
      examples: [{ plan: 'team' }],
    }),
  ),
  receipt: Type.Enum(['sent', 'bounced', 'held', 'none'], {
    description:
      '`bounced`: the mail server refused the address. `held`: not mailed, because too many mails about free orders had been sent. `none`: the order is not paid.',
  }),
}
export const Order = Type.Object(orderFields)
export type Order = Type.Static<typeof Order>

export interface OrderRow {
  id: string
  state: State
  email: string
  amountMinor: number
  currency: string
  feeMinor: number
  refundedMinor: number
  chargedBackMinor: number
  discountMinor: number
  discountCode: string | null
  rail: Rail | null
  productId: string
  productName: string
  createdAt: Date
  paidAt: Date | null
  bounced: boolean
  held: boolean
  /** A bank had begun to work on the payment, and has said no. */
  paymentFailed: boolean
  clientReferenceId: string | null
  metadata: Record<string, string> | null
}

/** All that a seller sees of an order `o`. */
export const ORDER_COLUMNS = sql`
  o.id, o.state, o.email, o.amount_minor as "amountMinor", o.currency, o.fee_minor as "feeMinor",
  o.refunded_minor as "refundedMinor", ${chargedBackMinor} as "chargedBackMinor", o.discount_minor as "discountMinor",
  (select d.code from discounts d where d.id = o.discount_id) as "discountCode", o.rail, o.product_id as "productId", o.product_name as "productName",
  o.client_reference_id as "clientReferenceId", o.metadata, o.created_at as "createdAt", o.paid_at as "paidAt", o.receipt_bounced_at is not null as bounced, o.receipt_held_at is not null as held,
  case when o.state = 'processing' then
    not exists (select from payments p where p.order_id = o.id and p.state = 'processing') else false end as "paymentFailed"`

/** The fee of a paid order. An unpaid order has none. */
export const paidFeeOf = ({ paidAt, feeMinor }: OrderRow): number | null => (paidAt ? feeMinor : null)

export const orderView = (row: OrderRow): Order => ({
  orderId: row.id,
  status: row.state,
  email: row.email,
  amount: row.amountMinor,
  currency: row.currency,
  fee: paidFeeOf(row),
  refundedAmount: row.refundedMinor,
  ...(row.chargedBackMinor > 0 && { chargedBackAmount: row.chargedBackMinor }),
  ...(row.discountMinor > 0 && { discountAmount: row.discountMinor }),
  ...(row.discountCode !== null && { discountCode: row.discountCode }),
  rail: row.rail,
  product: { id: row.productId, name: row.productName },
  createdAt: row.createdAt.toISOString(),
  paidAt: row.paidAt?.toISOString() ?? null,
  ...(row.paymentFailed && { paymentFailed: true }),
  ...(row.clientReferenceId !== null && { clientReferenceId: row.clientReferenceId }),
  ...(row.metadata && { metadata: row.metadata }),
  receipt: row.bounced ? 'bounced' : row.held ? 'held' : row.paidAt ? 'sent' : 'none',
})

/** An order as an event keeps it: `OrderRow`, with its times as texts. */
export type OrderSnapshot = Omit<OrderRow, 'createdAt' | 'paidAt'> & { createdAt: string; paidAt: string | null }

export const snapshotView = ({ createdAt, paidAt, ...row }: OrderSnapshot): Order =>
  orderView({ ...row, createdAt: new Date(createdAt), paidAt: paidAt === null ? null : new Date(paidAt) })
