import { Type } from 'typebox'
import { idPattern } from '../kit/ids.ts'
import { Time } from '../kit/schema.ts'

export const ConfirmationParams = Type.Object({ confirmationId: Type.String({ pattern: idPattern('cnf') }) })

const Status = Type.Union([Type.Integer(), Type.Null()], {
  description:
    'The status of the answer to the request. Null: none was given. When the seller has confirmed, the request is then under way, or its outcome is not known.',
  examples: [null],
})

export const ConfirmationView = Type.Object({
  id: Type.String(),
  tool: Type.String({ examples: ['refund_order'] }),
  key: Type.Object(
    { name: Type.String(), lastFour: Type.String() },
    { description: 'The key that proposed it.', examples: [{ name: 'My assistant', lastFour: 'x7Qa' }] },
  ),
  state: Type.Enum(['open', 'expired', 'void', 'confirmed', 'declined'], {
    description: '`void`: the key that proposed it has ended.',
  }),
  title: Type.String({ examples: ['Refund $5.00 to the buyer'] }),
  shown: Type.Array(
    Type.Object({
      label: Type.String(),
      value: Type.String(),
      before: Type.Optional(Type.String({ description: 'What it was when it was proposed.' })),
    }),
    { description: 'What a confirmation does.', examples: [[{ label: 'Goes back now', value: '$5.00' }]] },
  ),
  createdAt: Time,
  expiresAt: Time,
  status: Status,
})
export type ConfirmationView = Type.Static<typeof ConfirmationView>

export const Decided = Type.Object({
  status: Status,
  code: Type.Optional(Type.String({ description: 'Why the request was refused.', examples: ['refund_too_large'] })),
  detail: Type.Optional(Type.String()),
  secret: Type.Optional(
    Type.String({ description: 'The secret of a new key, which is shown only here.', examples: ['till_live_…'] }),
  ),
})
export type Decided = Type.Static<typeof Decided>
