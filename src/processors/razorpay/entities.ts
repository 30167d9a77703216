import { Type } from 'typebox'
import { Compile } from 'typebox/compile'
import { Amount, Seconds, nullable } from '../shapes.ts'

// The fields of Razorpay's entities that we read (https://razorpay.com/docs/api), and the form they must have. The adapter does not
// rely on an answer's HTTP status: an answer that is not the requested entity is an error.

/** Razorpay moves no less than one rupee. */
export const LEAST_PAISE = 100

/** An id becomes part of a URL, so other characters must not get through. */
const idOf = (prefix: string) => Type.String({ pattern: `^${prefix}_[A-Za-z0-9]{1,40}$` })
const Text = Type.String({ minLength: 1 })
const Fields = Type.Record(Type.String(), Type.Unknown())
/** Used only where it has the form that we know. Another form, as in a payment of another service, must not stop the reading of ours. */
const Anything = Type.Optional(Type.Unknown())

const OrderId = idOf('order')
const PaymentId = idOf('pay')

const Order = Type.Object({
  id: OrderId,
  entity: Type.Literal('order'),
  amount: Amount,
  /** The amount that is captured so far. */
  amount_paid: Amount,
  currency: Text,
  receipt: Anything,
  /** An empty list when there are none. */
  notes: Anything,
  created_at: Seconds,
})
export type Order = Type.Static<typeof Order>

/** One try to pay an order. After a capture its id is the capture's id. */
const Payment = Type.Object({
  id: PaymentId,
  entity: Type.Literal('payment'),
  /** Null or empty for payments without an order, which are not ours. */
  order_id: Type.Optional(nullable(Type.String())),
  amount: Amount,
  amount_refunded: Type.Optional(nullable(Amount)),
  currency: Text,
  /** created, authorized, captured, refunded or failed. Razorpay may add others. */
  status: Text,
  /** Only `true` counts. */
  captured: Anything,
  method: Text,
  provider: Anything,
  card: Anything,
  created_at: Seconds,
})
export type Payment = Type.Static<typeof Payment>

const Refund = Type.Object({
  id: idOf('rfnd'),
  entity: Type.Literal('refund'),
  payment_id: Text,
  amount: Amount,
  currency: Text,
  /** pending, processed, failed. */
  status: Text,
  /** Our key, when we asked for the refund. */
  receipt: Anything,
  created_at: Seconds,
})
export type Refund = Type.Static<typeof Refund>

const Dispute = Type.Object({
  id: idOf('disp'),
  entity: Type.Literal('dispute'),
  payment_id: Text,
  amount: Amount,
  amount_deducted: Type.Optional(nullable(Amount)),
  currency: Text,
  /** open, under_review, action_required, won, lost, closed. */
  status: Text,
  /** fraud, retrieval, chargeback, pre_arbitration, arbitration. */
  phase: Text,
  /** Until when the bank waits for an answer (https://razorpay.com/docs/api/disputes/entity). */
  respond_by: Type.Optional(nullable(Seconds)),
  created_at: Seconds,
})
export type Dispute = Type.Static<typeof Dispute>

/** Money of an Order or a payment that goes on to a linked account (https://razorpay.com/docs/api/payments/route/transfers-entity). */
const Transfer = Type.Object({
  id: idOf('trf'),
  entity: Type.Literal('transfer'),
  /** The Order or payment; transfers of a balance have the account here, and are not ours. */
  source: Text,
  recipient: Text,
  amount: Amount,
  amount_reversed: Type.Optional(nullable(Amount)),
  currency: Text,
  /** created, pending, processed, failed, reversed, partially_reversed. Some answers call it `transfer_status`, and old ones lack it. */
  status: Anything,
  transfer_status: Anything,
  processed_at: Anything,
  error: Anything,
  recipient_settlement_id: Anything,
  /** Only where it was asked for. */
  recipient_settlement: Anything,
  created_at: Seconds,
})
export type Transfer = Type.Static<typeof Transfer>

/** A payout to a bank (https://razorpay.com/docs/api/settlements/entity): its transfers, less the money that was taken back. */
const Settlement = Type.Object({
  id: idOf('setl'),
  entity: Type.Literal('settlement'),
  amount: Type.Integer(),
  /** created, processed or failed. After failed it is tried again. */
  status: Text,
  /** The number by which banks in India find a payment. */
  utr: Anything,
  created_at: Seconds,
})
export type Settlement = Type.Static<typeof Settlement>

const Reversal = Type.Object({
  id: idOf('rvrsl'),
  entity: Type.Literal('reversal'),
  transfer_id: Text,
  amount: Amount,
})

/** An account below ours (https://razorpay.com/docs/api/payments/route/linked-account-entity). */
const LinkedAccount = Type.Object({
  id: idOf('acc'),
  type: Type.Literal('route'),
  /** created or suspended. */
  status: Text,
  /** An empty list when there are none. */
  notes: Anything,
})
export type LinkedAccount = Type.Static<typeof LinkedAccount>

const Stakeholder = Type.Object({ id: idOf('sth') })

/** Razorpay activates a linked account for a product (https://razorpay.com/docs/api/payments/route/product-configuration-entity). */
const RouteProduct = Type.Object({
  id: Type.String({ pattern: '^acc_prd_[A-Za-z0-9]{1,40}$' }),
  account_id: Text,
  /** requested, needs_clarification, under_review, activated, suspended. */
  activation_status: Text,
  requirements: Type.Optional(
    nullable(Type.Array(Type.Object({ field_reference: Text, resolution_url: Anything, reason_code: Anything }))),
  ),
})
export type RouteProduct = Type.Static<typeof RouteProduct>

/** The payload has a member for each entity that the notification is about. Which ones depends on the event. */
const Notification = Type.Object({ event: Type.String({ maxLength: 100 }), payload: Anything, account_id: Anything })
export type Notification = Type.Static<typeof Notification>

/** An answer that is no success (https://razorpay.com/docs/errors). */
const Failure = Type.Object({
  error: Type.Object({ code: Anything, description: Anything, field: Anything, reason: Anything }),
})
export type Failure = Type.Static<typeof Failure>

const listOf = <T extends Type.TSchema>(item: T) =>
  Compile(Type.Object({ entity: Type.Literal('collection'), items: Type.Array(item) }))

export const shapes = {
  orderId: Compile(OrderId),
  paymentId: Compile(PaymentId),
  order: Compile(Order),
  orders: listOf(Order),
  payment: Compile(Payment),
  payments: listOf(Payment),
  refund: Compile(Refund),
  refunds: listOf(Refund),
  disputes: listOf(Dispute),
  transfer: Compile(Transfer),
  transfers: listOf(Transfer),
  /** An Order that was read with its transfers. */
  orderWithTransfers: Compile(
    Type.Intersect([
      Order,
      Type.Object({ transfers: Type.Optional(nullable(Type.Object({ items: Type.Array(Transfer) }))) }),
    ]),
  ),
  settlement: Compile(Settlement),
  reversal: Compile(Reversal),
  linkedAccount: Compile(LinkedAccount),
  stakeholder: Compile(Stakeholder),
  stakeholders: Compile(Type.Object({ items: Type.Array(Stakeholder) })),
  routeProduct: Compile(RouteProduct),
  /** The notes of our Orders of which the price goes on to a linked account. */
  payee: Compile(Type.Object({ account: idOf('acc') })),
  linkedAccountId: Compile(idOf('acc')),
  /** The notes of the linked accounts that we made. */
  connection: Compile(Type.Object({ connection_id: Text })),
  /** The receipt of a refund that we asked for is our key. */
  receipt: Compile(Text),
  /** The notes of our Orders. */
  notes: Compile(Type.Object({ order_id: Text })),
  /** The type is credit, debit, prepaid or unknown. */
  card: Compile(Type.Object({ type: Text })),
  /** The answer also has a member for each payment method. */
  methods: Compile(Type.Object({ entity: Type.Literal('methods') })),
  notification: Compile(Notification),
  /** A member of a notification's payload. */
  part: Compile(Type.Object({ entity: Fields })),
  failure: Compile(Failure),
  fields: Compile(Fields),
}
