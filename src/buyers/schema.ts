import { Type } from 'typebox'
import { EMAIL_LONGEST, EMAIL_PATTERN } from '../kit/email.ts'
import { Amount, Code, Currency, Time } from '../kit/schema.ts'
import { OnStatement } from '../orders/paid-by.ts'
import { PaymentReturned } from '../orders/returned-money.ts'
import { STATES } from '../orders/states.ts'

export const Email = Type.String({
  pattern: EMAIL_PATTERN,
  maxLength: EMAIL_LONGEST,
  description: 'The buyer’s address. We trim it and convert it to lower case.',
})

/** A line of a bank statement: its text, or its amount and date. */
const statementLine = {
  descriptor: Type.Optional(
    Type.String({
      maxLength: 100,
      description: 'The text of the line, as far as the bank prints it. Case, spaces and marks do not matter.',
    }),
  ),
  amount: Type.Optional(
    Type.String({
      maxLength: 40,
      description: 'The amount as printed: 499, 499.00, 4,99 or 1.234,50, in any currency. Needs `date`.',
    }),
  ),
  date: Type.Optional(
    Type.String({
      maxLength: 12,
      description: 'The day on the statement, YYYY-MM-DD. It may differ by up to 3 days. Needs `amount`.',
    }),
  ),
}

export const ChargeCodeRequest = Type.Object({ email: Email, ...statementLine })
export const ChargeCodeSent = Type.Object({
  resendAfter: Type.Integer({ description: 'Seconds until the client may request another code.' }),
})
export type ChargeCodeSent = Type.Static<typeof ChargeCodeSent>
export const ChargeVerification = Type.Object({ email: Email, code: Code, ...statementLine })

export const ChargeOrder = Type.Object({
  orderId: Type.String(),
  orderUrl: Type.String({ description: 'The page of the order.' }),
  status: Type.Enum([...STATES], { description: 'The state of the order.' }),
  paymentReturned: PaymentReturned,
  product: Type.Object({ name: Type.String() }),
  seller: Type.Object({ name: Type.String() }),
  amount: Amount,
  currency: Currency,
  refundedAmount: Amount,
  statementDescriptor: Type.String(),
  onStatement: OnStatement,
  createdAt: Time,
  paidAt: Type.Union([Time, Type.Null()]),
})
export type ChargeOrder = Type.Static<typeof ChargeOrder>

export const ChargeFound = Type.Object({
  matched: Type.Boolean({ description: 'True: the orders match the line. False: they are recent orders.' }),
  orders: Type.Array(ChargeOrder, { description: 'Orders with moved money first, then the newest.' }),
  more: Type.Boolean({ description: 'Whether further orders match.' }),
})
export type ChargeFound = Type.Static<typeof ChargeFound>
