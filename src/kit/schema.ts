import { Type } from 'typebox'
import type { Problem as ProblemBody, ProblemCode } from './errors.ts'

const WHY = 'Why the request was refused (RFC 9457).'

/** A problem (RFC 9457), as every answer that is not a success carries one. */
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
 * The refusals among a route's answers, for the API's description: these codes are the route's own. Those that every route of
 * its kind shares (a body that is not JSON, nobody signed in) are added there, and so is a code that a description names.
 */
export const refusing = (...codes: ProblemCode[]) => ({
  '4xx': Type.Object(Problem.properties, { description: WHY, 'x-codes': codes }),
  '5xx': Problem,
})

/** Minor units of the currency beside it: 1900 and USD are $19.00, 500 and JPY are ¥500. */
export const Amount = Type.Integer({
  description: 'Integer minor units of the currency: 1900 with USD is $19.00, 500 with JPY is ¥500.',
})
export const Currency = Type.String({ description: 'ISO 4217, upper case.' })
export const Time = Type.String({ description: 'ISO 8601 in UTC with milliseconds.' })
/** Spaces and hyphens come along with what people paste. */
export const Code = Type.String({
  pattern: '^[\\s-]*(?:[0-9][\\s-]*){6}$',
  maxLength: 40,
  description: 'The six digits.',
})

/** Of a list that is read page by page: kit/keyset.ts. */
export const PageQuery = {
  cursor: Type.Optional(Type.String({ maxLength: 400, description: 'The `nextCursor` of the page before.' })),
  limit: Type.Optional(
    Type.String({ pattern: '^(?:[1-9][0-9]?|100)$', description: 'How many: 1 to 100, 25 where it is not said.' }),
  ),
}
export const NextCursor = Type.Union([Type.String(), Type.Null()], {
  description: 'For `cursor` of the next page; null at the end.',
})
export const limitOf = (limit: string | undefined): number => Number(limit ?? 25)
