import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import type { Server } from '../kit/http.ts'
import { Amount, Currency, refusing } from '../kit/schema.ts'
import { type AppliedStatement, LINE_OUTCOMES } from '../payouts/apply-bank-statement.ts'
import { LARGEST_STATEMENT_BYTES } from '../payouts/files/bank-statement-line.ts'
import { HIDDEN } from './guard.ts'
import type { PayoutRouteParts } from './run-routes.ts'
import { readStatementAsOperator } from './payouts.ts'
import { TAG } from './routes.ts'

export const ReadStatementView = Type.Object({
  format: Type.Enum(['camt.053', 'csv']),
  lines: Type.Array(
    Type.Object({
      reference: Type.String(),
      status: Type.Enum(['booked', 'returned']),
      amount: Amount,
      currency: Currency,
      outcome: Type.Enum([...LINE_OUTCOMES], {
        description:
          '`paid`, `failed`, `reversed`: the payout is so from now on. `known_before`: it was so. The others have changed nothing, and a person must look: `not_found`: no payout has this reference. `amount_differs`: from the payout’s. `not_expected`: the payout failed, is in no bank file, was booked twice, or one of two bookings came back. `other_account`: the statement is about another account than the one that SEPA files are paid from.',
      }),
      payoutId: Type.Union([Type.String(), Type.Null()]),
      payoutAmount: Type.Union([Type.Integer(), Type.Null()], { description: 'What the payout is.' }),
    }),
    { description: 'The lines with a reference of ours, in the order of the file.' },
  ),
  others: Type.Integer({ description: 'Other lines of the statement. Nothing of them is kept.' }),
})
type ReadStatementView = Type.Static<typeof ReadStatementView>

export async function statementRoute(server: Server, { operators, work }: PayoutRouteParts): Promise<void> {
  await server.register(async (scope: Server) => {
    // the content says what it is; banks and browsers disagree about the name of its type
    scope.removeAllContentTypeParsers()
    scope.addContentTypeParser(
      '*',
      { parseAs: 'buffer', bodyLimit: LARGEST_STATEMENT_BYTES },
      (_request: FastifyRequest, body: Buffer, done: (error: null, body: Buffer) => void) => done(null, body),
    )
    scope.post(
      '/api/operator/payouts/statement',
      {
        config: { ...HIDDEN, largeBody: true },
        bodyLimit: LARGEST_STATEMENT_BYTES,
        schema: {
          operationId: 'operatorReadStatement',
          summary: 'Read a bank’s statement',
          description:
            'Needs a sign-in of the last ten minutes. The body is a camt.053 file, or a CSV with the columns reference, amount, currency, status (`booked` or `returned`), bookedOn and reason, of at most 10 MB. Each file is read once. A file with a line that cannot be read changes nothing.',
          tags: TAG,
          consumes: ['application/xml', 'text/csv'],
          body: Type.Any({ description: 'The bytes.' }),
          response: {
            200: ReadStatementView,
            ...refusing(
              'recent_sign_in_required',
              'statement_not_readable',
              'statement_already_read',
              'body_too_large',
            ),
          },
        },
      },
      async (request) => {
        const actor = operators.recently(request)
        const bytes = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0)
        return statementView(await readStatementAsOperator(work, actor, bytes))
      },
    )
  })
}

const statementView = ({ format, lines, others }: AppliedStatement): ReadStatementView => ({
  format,
  others,
  lines: lines.map(({ amountMinor, payout, ...line }) => ({
    ...line,
    amount: amountMinor,
    payoutId: payout?.id ?? null,
    payoutAmount: payout?.amountMinor ?? null,
  })),
})
