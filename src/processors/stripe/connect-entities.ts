import { Type } from 'typebox'
import { Compile } from 'typebox/compile'
import { Amount, Seconds, nullable } from '../shapes.ts'
import { AccountSettings, ChargeId, Currency, Metadata, idOf, listOf } from './entities.ts'

// Schemas of the fields that we read of connected accounts. entities.ts has those of payments.

const Names = Type.Optional(nullable(Type.Array(Type.String({ maxLength: 500 }))))
/** A seller's connected account (https://docs.stripe.com/api/accounts/object). */
const SellerAccount = Type.Object({
  ...AccountSettings.properties,
  charges_enabled: Type.Boolean(),
  payouts_enabled: Type.Boolean(),
  details_submitted: Type.Boolean(),
  metadata: Type.Optional(nullable(Metadata)),
  created: Type.Optional(Seconds),
  requirements: Type.Optional(
    nullable(
      Type.Object({
        currently_due: Names,
        past_due: Names,
        pending_verification: Names,
        disabled_reason: Type.Optional(nullable(Type.String({ maxLength: 500 }))),
      }),
    ),
  ),
})
export type SellerAccount = Type.Static<typeof SellerAccount>

const AccountLink = Type.Object({
  object: Type.Literal('account_link'),
  url: Type.String({ pattern: '^https?://', maxLength: 5000 }),
})

const Fee = Type.Object({
  id: idOf('fee'),
  object: Type.Literal('application_fee'),
  amount: Amount,
  amount_refunded: Amount,
  currency: Currency,
  charge: ChargeId,
})

const FeeRefund = Type.Object({
  id: idOf('fr'),
  object: Type.Literal('fee_refund'),
  amount: Amount,
  currency: Currency,
  metadata: Type.Optional(nullable(Metadata)),
})

/** https://docs.stripe.com/api/payouts/object */
const Payout = Type.Object({
  id: idOf('po'),
  object: Type.Literal('payout'),
  amount: Type.Integer(),
  currency: Currency,
  status: Type.String(),
  created: Seconds,
  arrival_date: Seconds,
  livemode: Type.Boolean(),
  failure_code: Type.Optional(nullable(Type.String({ maxLength: 200 }))),
  reconciliation_status: Type.Optional(nullable(Type.String())),
  trace_id: Type.Optional(nullable(Type.Object({ value: Type.Optional(Type.Unknown()) }))),
})

/** https://docs.stripe.com/api/balance_transactions/object */
const BalanceTransaction = Type.Object({
  id: idOf('txn'),
  object: Type.Literal('balance_transaction'),
  amount: Type.Integer(),
  fee: Type.Integer(),
  currency: Currency,
  created: Seconds,
  type: Type.String({ minLength: 1, maxLength: 100 }),
  source: Type.Optional(nullable(Type.String({ maxLength: 300 }))),
})
export type BalanceTransaction = Type.Static<typeof BalanceTransaction>

export const connectShapes = {
  sellerAccount: Compile(SellerAccount),
  sellerAccounts: listOf(SellerAccount),
  accountLink: Compile(AccountLink),
  fee: Compile(Fee),
  feeRefund: Compile(FeeRefund),
  feeRefunds: listOf(FeeRefund),
  payouts: listOf(Payout),
  balanceTransactions: listOf(BalanceTransaction),
}
