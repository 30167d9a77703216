import { Type } from 'typebox'
import { Time } from '../../kit/schema.ts'
import { Email } from '../schema.ts'

/** One line of text that is not blank, without NUL and other control characters. */
const LINE = '^ *[^\\s\\u0000-\\u001f\\u007f][^\\u0000-\\u001f\\u007f]*$'

export const NewWithdrawal = Type.Object({
  key: Type.String({
    minLength: 16,
    maxLength: 64,
    pattern: '^[A-Za-z0-9_-]+$',
    description: 'A random text, new for each statement. A repeat with the same key is the same statement.',
  }),
  name: Type.String({ minLength: 1, maxLength: 200, pattern: LINE, description: 'The buyer’s name.' }),
  contract: Type.String({
    minLength: 1,
    maxLength: 500,
    pattern: LINE,
    description: 'What identifies the contract: the number of the order, or what was bought and when.',
  }),
  email: Email,
})
export type NewWithdrawal = Type.Static<typeof NewWithdrawal>

export const Withdrawal = Type.Object({
  withdrawalId: Type.String(),
  receivedAt: Type.String({ description: 'To the second, UTC (ISO 8601).' }),
  name: Type.String(),
  contract: Type.String(),
  email: Type.String({ description: 'Where the acknowledgement goes.' }),
})
export type Withdrawal = Type.Static<typeof Withdrawal>

/** A statement as the seller of an order sees it. */
export const OrderWithdrawal = Type.Object({
  withdrawalId: Type.String(),
  receivedAt: Time,
  name: Type.String(),
  contract: Type.String({ description: 'What the buyer wrote to identify the contract.' }),
  email: Type.String(),
  named: Type.Boolean({ description: 'It has the number of this order.' }),
  hasAddress: Type.Boolean({
    description: 'It has the address of this order. Otherwise somebody else may have made it: ask the buyer.',
  }),
  daysAfterPayment: Type.Union([Type.Integer(), Type.Null()]),
  doneAt: Type.Union([Time, Type.Null()], { description: 'When you said that nothing is left to do.' }),
})
export type OrderWithdrawal = Type.Static<typeof OrderWithdrawal>
