import { Type } from 'typebox'
import { Compile } from 'typebox/compile'
import { Amount, Seconds, nullable } from '../shapes.ts'

// The fields of Stripe's answers that we read, and the form they must have. The library passes on any JSON with any status, so the
// adapter refuses everything that does not fit.

export const idOf = (...prefixes: string[]) =>
  Type.String({ pattern: `^(?:${prefixes.join('|')})_[A-Za-z0-9_]{1,250}$` })
export const Currency = Type.String({ pattern: '^[a-z]{3}$' })
export const Metadata = Type.Record(Type.String(), Type.String())

const PaymentId = idOf('pi')
/** Charges of cards begin with `ch_`, other charges with `py_`. Their refunds begin with `re_` and `pyr_`. */
export const ChargeId = idOf('ch', 'py')
export const isCardCharge = (chargeId: string): boolean => chargeId.startsWith('ch_')

const PaymentIntent = Type.Object({
  id: PaymentId,
  object: Type.Literal('payment_intent'),
  amount: Amount,
  currency: Currency,
  status: Type.Enum([
    'requires_payment_method',
    'requires_confirmation',
    'requires_action',
    'requires_capture',
    'processing',
    'succeeded',
    'canceled',
  ]),
  livemode: Type.Boolean(),
  metadata: Metadata,
  latest_charge: nullable(ChargeId),
  /** Our fee, at a seller's connected account. */
  application_fee_amount: Type.Optional(nullable(Amount)),
  /** The buyer's next step, if there is one. */
  next_action: Type.Optional(nullable(Type.Object({ type: Type.String() }))),
  /** The payment methods that Stripe offers for this payment. */
  payment_method_types: Type.Optional(Type.Array(Type.String())),
  client_secret: nullable(Type.String({ maxLength: 500 })),
})
export type PaymentIntent = Type.Static<typeof PaymentIntent>

const Charge = Type.Object({
  id: ChargeId,
  object: Type.Literal('charge'),
  amount_captured: Amount,
  amount_refunded: Amount,
  currency: Currency,
  status: Type.Enum(['succeeded', 'pending', 'failed']),
  captured: Type.Boolean(),
  disputed: Type.Boolean(),
  created: Seconds,
  payment_intent: nullable(PaymentId),
  /** The fee that we take, at a seller's connected account. */
  application_fee_amount: Type.Optional(nullable(Amount)),
  /** Stripe takes it up to an hour after the payment (https://docs.stripe.com/payments/payment-intents/asynchronous-capture). */
  application_fee: Type.Optional(nullable(idOf('fee'))),
  /** A copy of the payment intent's metadata at the time of the charge. */
  metadata: Type.Optional(nullable(Metadata)),
  payment_method_details: nullable(
    Type.Object({
      type: Type.String(),
      card: Type.Optional(
        nullable(
          Type.Object({
            funding: Type.Optional(nullable(Type.String())),
            wallet: Type.Optional(nullable(Type.Object({ type: Type.String() }))),
          }),
        ),
      ),
    }),
  ),
})
export type Charge = Type.Static<typeof Charge>

const Refund = Type.Object({
  id: idOf('re', 'pyr'),
  object: Type.Literal('refund'),
  amount: Amount,
  currency: Currency,
  charge: nullable(ChargeId),
  payment_intent: nullable(PaymentId),
  status: nullable(Type.String()),
  metadata: nullable(Metadata),
  created: Seconds,
})
export type Refund = Type.Static<typeof Refund>

const Dispute = Type.Object({
  /** `pdp_` was seen at payments by ACH Direct Debit (https://github.com/arlyon/async-stripe/pull/491). */
  id: idOf('dp', 'du', 'pdp'),
  object: Type.Literal('dispute'),
  amount: Amount,
  currency: Currency,
  charge: ChargeId,
  payment_intent: nullable(PaymentId),
  status: Type.String(),
  created: Seconds,
  /** Until when the bank waits for an answer (https://docs.stripe.com/api/disputes/object). */
  evidence_details: Type.Optional(nullable(Type.Object({ due_by: Type.Optional(nullable(Seconds)) }))),
  /** The amounts that the dispute took from the account's balance and gave back, in the balance's currency. */
  balance_transactions: Type.Optional(nullable(Type.Array(Type.Object({ amount: Type.Integer() })))),
})
export type Dispute = Type.Static<typeof Dispute>

const Event = Type.Object({
  id: idOf('evt'),
  object: Type.Literal('event'),
  type: Type.String({ minLength: 1, maxLength: 100 }),
  livemode: Type.Boolean(),
  created: Type.Optional(Seconds),
  /** Present when the event belongs to a connected account of a platform. */
  account: Type.Optional(nullable(Type.String())),
  data: Type.Object({ object: Type.Record(Type.String(), Type.Unknown()) }),
})
export type Event = Type.Static<typeof Event>

/** An address to which Stripe sends the account's events. */
const WebhookEndpoint = Type.Object({
  id: idOf('we'),
  object: Type.Literal('webhook_endpoint'),
  url: Type.String({ maxLength: 5000 }),
  status: Type.String(),
  enabled_events: Type.Array(Type.String()),
  /** Present at an address for events of connected accounts. */
  application: Type.Optional(nullable(Type.String())),
})

const Text = Type.Optional(nullable(Type.String({ maxLength: 5000 })))
export const AccountSettings = Type.Object({
  id: idOf('acct'),
  object: Type.Literal('account'),
  default_currency: Type.Optional(nullable(Currency)),
  settings: Type.Optional(
    nullable(
      Type.Object({
        card_payments: Type.Optional(nullable(Type.Object({ statement_descriptor_prefix: Text }))),
        payments: Type.Optional(nullable(Type.Object({ statement_descriptor: Text }))),
      }),
    ),
  ),
})
export type AccountSettings = Type.Static<typeof AccountSettings>

/** The object also has a member for each payment method. */
const MethodConfiguration = Type.Object({
  id: idOf('pmc'),
  object: Type.Literal('payment_method_configuration'),
  active: Type.Boolean(),
  is_default: Type.Boolean(),
  parent: Type.Optional(nullable(Type.String())),
})

/** A host where wallets may show. */
const MethodDomain = Type.Object({
  id: idOf('pmd'),
  object: Type.Literal('payment_method_domain'),
  domain_name: Type.String({ maxLength: 5000 }),
  enabled: Type.Boolean(),
})

export const listOf = <T extends Type.TSchema>(item: T) =>
  Compile(Type.Object({ object: Type.Literal('list'), data: Type.Array(item), has_more: Type.Boolean() }))

export const shapes = {
  paymentId: Compile(PaymentId),
  paymentIntent: Compile(PaymentIntent),
  paymentIntents: listOf(PaymentIntent),
  charge: Compile(Charge),
  charges: listOf(Charge),
  refund: Compile(Refund),
  refunds: listOf(Refund),
  disputes: listOf(Dispute),
  event: Compile(Event),
  anyEvent: Compile(Type.Pick(Event, ['id', 'type'])),
  events: listOf(Event),
  account: Compile(AccountSettings),
  methodConfigurations: listOf(MethodConfiguration),
  methodDomain: Compile(MethodDomain),
  methodDomains: listOf(MethodDomain),
  webhookEndpoints: listOf(WebhookEndpoint),
  anyList: listOf(Type.Object({ id: Type.String() })),
}
