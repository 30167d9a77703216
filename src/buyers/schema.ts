import { Type } from 'typebox'
import { EMAIL_LONGEST, EMAIL_PATTERN } from '../kit/email.ts'
import { Amount, Code, Currency, Time } from '../kit/schema.ts'
import { STATES } from '../orders/states.ts'

export const Email = Type.String({
  pattern: EMAIL_PATTERN,
  maxLength: EMAIL_LONGEST,
  description: 'The address that bought; trimmed and lower-cased.',
})

/** What a person reads on a statement: the text of the line, or its amount and its date. */
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
      description: 'As it is printed: 499, 499.00, 4,99 or 1.234,50 in whatever currency. Needs `date`.',
    }),
  ),
  date: Type.Optional(
    Type.String({
      maxLength: 12,
      description: 'The day on the statement, YYYY-MM-DD: up to 3 days off. Needs `amount`.',
    }),
  ),
}

export const ChargeCodeRequest = Type.Object({ email: Email, ...statementLine })
export const ChargeCodeSent = Type.Object({
  resendAfter: Type.Integer({ description: 'Seconds until another code may be asked for.' }),
})
export type ChargeCodeSent = Type.Static<typeof ChargeCodeSent>
export const ChargeVerification = Type.Object({ email: Email, code: Code, ...statementLine })

export const ChargeOrder = Type.Object({
  orderId: Type.String(),
  orderUrl: Type.String({ description: 'The page of the order.' }),
  status: Type.Enum([...STATES], { description: 'The state of the order.' }),
  product: Type.Object({ name: Type.String() }),
  seller: Type.Object({ name: Type.String() }),
  amount: Amount,
  currency: Currency,
  refundedAmount: Amount,
  statementDescriptor: Type.String(),
  createdAt: Time,
  paidAt: Type.Union([Time, Type.Null()]),
})
export type ChargeOrder = Type.Static<typeof ChargeOrder>

export const ChargeFound = Type.Object({
  matched: Type.Boolean({ description: 'Whether these are the orders that the line fits; else they are recent ones.' }),
  orders: Type.Array(ChargeOrder, { description: 'Those where money moved come first, then the newest.' }),
  more: Type.Boolean({ description: 'Whether there are more than these.' }),
})
export type ChargeFound = Type.Static<typeof ChargeFound>
