import { Type } from 'typebox'
import type { Problem as ProblemBody, ProblemCode } from './errors.ts'

const WHY = 'Why the request was refused (RFC 9457).'

/** The body of every answer that is not a success (RFC 9457). */
export const Problem = Type.Object(
  {
    type: Type.String(),
    title: Type.String(),
    status: Type.Integer(),
    detail: Type.String(),
    code: Type.String({ description: 'Stable and machine-readable.' }),
    fields: Type.Optional(Type.Array(Type.Object({ path: Type.String(), message: Type.String() }))),
    requestId: Type.String(),
  },
  { description: WHY },
)
export type Problem = ProblemBody

/**
 * The refusals of a route for the API's description. `codes` are the route's own. The description adds the codes that all routes of
 * its kind share (such as a body that is not JSON, or a missing session), and the codes that the route's text names.
 */
export const refusing = (...codes: ProblemCode[]) => ({
  '4xx': Type.Object(Problem.properties, { description: WHY, 'x-codes': codes }),
  '5xx': Problem,
})

/** The pattern of a text without the NUL character, which PostgreSQL does not store. */
export const NO_NUL = '^[^\\u0000]*$'

/** The answer of a route that has nothing to say. */
export const DONE = { 204: Type.Null({ description: 'Done.' }) }

export const Amount = Type.Integer({
  description: 'Integer minor units of the currency: 1900 with USD is $19.00, 500 with JPY is ¥500.',
})
export const Currency = Type.String({ description: 'ISO 4217, upper case.' })
export const Time = Type.String({ description: 'ISO 8601 in UTC with milliseconds.' })
/** People paste spaces and hyphens along with the digits. */
export const Code = Type.String({
  pattern: '^[\\s-]*(?:[0-9][\\s-]*){6}$',
  maxLength: 40,
  description: 'The six digits.',
})

/** The query of a list with pages, see kit/keyset.ts. */
export const PageQuery = {
  cursor: Type.Optional(Type.String({ maxLength: 400, description: 'The `nextCursor` of the page before.' })),
  limit: Type.Optional(
    Type.String({ pattern: '^(?:[1-9][0-9]?|100)$', description: 'The size of a page: 1 to 100, 25 by default.' }),
  ),
}
export const NextCursor = Type.Union([Type.String(), Type.Null()], {
  description: 'The `cursor` of the next page, or null on the last page.',
})
export const limitOf = (limit: string | undefined): number => Number(limit ?? 25)
