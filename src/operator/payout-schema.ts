import { type TInteger, type TOptional, Type } from 'typebox'
import { idempotencyHeaders } from '../kit/idempotency.ts'
import { idPattern } from '../kit/ids.ts'
import { LARGEST_AMOUNT } from '../kit/money.ts'
import { Amount, Currency, NO_NUL, NextCursor, PageQuery, Time } from '../kit/schema.ts'
import { FILE_FORMATS } from '../payouts/export.ts'
import { PAYOUT_STATES, type PayoutState } from '../payouts/moves.ts'
import { BLOCKS } from '../payouts/runs.ts'

const Null = Type.Null()
const CurrencyCode = Type.String({ pattern: '^[A-Z]{3}$', description: 'ISO 4217, upper case.' })
const State = Type.Enum([...PAYOUT_STATES], {
  description:
    '`approved`: made and reserved. `sent`: its file has gone to the bank. `paid`: the bank confirms it. `failed`: the bank refused it. `reversed`: it came back after it had arrived.',
})

export const RunParams = Type.Object({ runId: Type.String({ pattern: idPattern('run') }) })
export const RunLineParams = Type.Object({
  ...RunParams.properties,
  sellerId: Type.String({ pattern: idPattern('sel') }),
  currency: CurrencyCode,
})
export const RunFileParams = Type.Object({ ...RunParams.properties, currency: CurrencyCode })
export const RunFileQuery = Type.Object({
  format: Type.Optional(
    Type.Enum([...FILE_FORMATS], {
      description:
        '`sepa`: a pain.001 file, for euros to IBANs. `csv`: everything else. By default `sepa` where there is such a file.',
    }),
  ),
})
export const RunsQuery = Type.Object(PageQuery)

export const RunSum = Type.Object({
  currency: Currency,
  proposed: Type.Integer({ description: 'How many sellers would be paid.' }),
  proposedAmount: Amount,
  blocked: Type.Integer({ description: 'How many sellers have money that is not paid now, or an amount below zero.' }),
  payouts: Type.Integer({ description: 'How many payouts the approval made.' }),
  payoutsAmount: Amount,
  byState: Type.Object(
    Object.fromEntries(PAYOUT_STATES.map((state) => [state, Type.Optional(Type.Integer())])) as Record<
      PayoutState,
      TOptional<TInteger>
    >,
    { description: 'How many payouts are in which state.' },
  ),
})
export const Run = Type.Object({
  runId: Type.String(),
  state: Type.Enum(['proposed', 'approved', 'cancelled']),
  period: Type.Union([Type.String(), Null], {
    description: 'The week or month of the schedule, such as 2026-W48. Null: an operator asked for the run.',
  }),
  createdAt: Time,
  createdBy: Type.String({ description: 'The operator’s mailbox, `machine` or `schedule`.' }),
  approvedAt: Type.Union([Time, Null]),
  approvedBy: Type.Union([Type.String(), Null]),
  cancelledAt: Type.Union([Time, Null]),
  cancelledBy: Type.Union([Type.String(), Null]),
  sums: Type.Array(RunSum, { description: 'By currency.' }),
  selection: Type.String({
    description:
      'Stands for the sellers whom the run would pay or has paid. It changes when one is left out or taken in.',
  }),
})
export type Run = Type.Static<typeof Run>
export const Runs = Type.Object({ items: Type.Array(Run), nextCursor: NextCursor })

export const RunFile = Type.Object({
  currency: Currency,
  format: Type.Enum([...FILE_FORMATS]),
  payouts: Type.Integer(),
  amount: Amount,
  toSuspended: Type.Integer({
    description:
      'How many of its payouts are approved and go to shops that were suspended since the approval. The file pays them all the same.',
  }),
  exportedAt: Type.Union([Time, Null], { description: 'Null: not exported yet.' }),
})
export const Approval = Type.Object({
  selection: Type.String({
    maxLength: 100,
    description:
      'The `selection` of the run that you saw. When the run would pay others by now, because a seller was left out or taken in, the response is 409 `run_changed`. Without a body the run is approved as it is.',
  }),
})
export const RunLine = Type.Object({
  sellerId: Type.String(),
  name: Type.String(),
  email: Type.String(),
  currency: Currency,
  amount: Type.Integer({ description: 'What was due, in minor units. Negative: more has gone out than is due.' }),
  blocked: Type.Union([Type.Enum([...BLOCKS]), Null], {
    description:
      'Why it is not paid, among them `account_refused`: the bank refused the last payout to this account; `left_out`: by an operator. Null: it is paid.',
  }),
  balance: Type.Optional(
    Type.Integer({
      description:
        'Only with a negative `amount`: the balance at the proposal, with the pending money. Negative: the seller owes this. Otherwise the seller owes nothing, and pending sales make up for the `amount`.',
    }),
  ),
  owes: Type.Array(Type.Object({ currency: Currency, amount: Amount }), {
    description:
      'What the seller owes in other currencies, as proposed. A run counts each currency alone, so it pays this line unless you leave it out.',
  }),
  destination: Type.Union([Type.String(), Null], { description: 'Masked.' }),
  payout: Type.Union([
    Type.Object({
      payoutId: Type.String(),
      amount: Amount,
      status: State,
      exported: Type.Boolean({ description: 'It is in a bank file.' }),
      toSuspended: Type.Boolean({
        description:
          'It is approved, and the shop was suspended since. The bank file pays it all the same, unless you mark it as failed before.',
      }),
      failure: Type.Union([Type.String(), Null]),
    }),
    Null,
  ]),
})
export const RunDetail = Type.Object({
  ...Run.properties,
  files: Type.Array(RunFile),
  lines: Type.Array(RunLine, {
    description:
      'At most 1000: those that are paid first, and of these the sellers who owe in another currency, then the largest amounts first. Only `left_out` comes and goes, while the run waits.',
  }),
})
export type RunDetail = Type.Static<typeof RunDetail>

export const Sending = Type.Object({ currency: Type.Optional(CurrencyCode) })
export const Sent = Type.Object({ sent: Type.Integer({ description: 'How many payouts were marked now.' }) })

export const PayoutParams = Type.Object({ payoutId: Type.String({ pattern: idPattern('po') }) })
export const PayoutsQuery = Type.Object({
  ...PageQuery,
  status: Type.Optional(Type.Enum([...PAYOUT_STATES], { description: 'Only payouts in this state.' })),
  sellerId: Type.Optional(Type.String({ pattern: idPattern('sel'), description: 'Only payouts to this seller.' })),
  runId: Type.Optional(Type.String({ pattern: idPattern('run'), description: 'Only payouts of this run.' })),
  q: Type.Optional(
    Type.String({ maxLength: 100, pattern: NO_NUL, description: 'The id or the reference of a payout.' }),
  ),
})
export const OperatorPayout = Type.Object({
  payoutId: Type.String(),
  runId: Type.String(),
  seller: Type.Object({ id: Type.String(), name: Type.String(), email: Type.String() }),
  amount: Amount,
  currency: Currency,
  status: State,
  destination: Type.String({ description: 'Masked.' }),
  reference: Type.String({ description: 'What the bank repeats, as EndToEndId.' }),
  exported: Type.Boolean({ description: 'It is in a bank file.' }),
  createdAt: Time,
  sentAt: Type.Union([Time, Null]),
  paidAt: Type.Union([Time, Null]),
  endedAt: Type.Union([Time, Null], { description: 'When it failed or came back.' }),
  failure: Type.Union([Type.String(), Null]),
  holdsBack: Type.Boolean({
    description:
      'Runs pay nothing to this account until the seller saves it again, or an operator says that it is right.',
  }),
})
export type OperatorPayout = Type.Static<typeof OperatorPayout>
export const OperatorPayouts = Type.Object({ items: Type.Array(OperatorPayout), nextCursor: NextCursor })

export const Failure = Type.Object({
  reason: Type.String({
    minLength: 1,
    maxLength: 500,
    pattern: NO_NUL,
    description: 'The bank’s words. The seller reads them.',
  }),
  state: Type.Optional(
    Type.Enum([...PAYOUT_STATES], {
      description: 'The state that you saw. With another one by now, the response is 409 `payout_not_movable`.',
    }),
  ),
})

export const NewAdjustment = Type.Object({
  amount: Type.Integer({
    minimum: -LARGEST_AMOUNT,
    maximum: LARGEST_AMOUNT,
    description: 'Minor units, not 0. Positive: to the seller. Negative: from the seller.',
  }),
  currency: CurrencyCode,
  reason: Type.String({ minLength: 1, maxLength: 500, pattern: NO_NUL, description: 'The seller reads it.' }),
})
export const AdjustmentHeaders = idempotencyHeaders('The same key and body always give the same adjustment.')
export const Adjustment = Type.Object({
  adjustmentId: Type.String(),
  amount: Type.Integer(),
  currency: Currency,
  reason: Type.String(),
  createdAt: Time,
})
