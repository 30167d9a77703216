import { type FieldProblem, Refusal } from '../kit/errors.ts'
import { suffixRoom } from '../kit/statement.ts'
import { priceProblems } from './prices.ts'
import type { ProductChange } from './schema.ts'

const LONGEST_NAME = 200
const LONGEST_DESCRIPTION = 5000
/** Control characters, and characters that change the direction of the text after them. */
export const NOT_IN_A_LINE = /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/u
const NOT_IN_TEXT = /(?![\n\t])[\p{Cc}\u202a-\u202e\u2066-\u2069]/u
/** The same rule as in the schema. It needs a letter, because Stripe refuses a suffix without one. */
const SUFFIX = /^(?=.*[A-Z])[A-Z0-9][A-Z0-9 .-]{1,20}$/

/** Returns the sent fields in the form in which they are stored. Refuses `validation_failed`, with every wrong field. */
export function checkedFields<Fields extends ProductChange>(sent: Fields, statementPrefix: string): Fields {
  const fields = { ...sent }
  const problems: FieldProblem[] = []
  const must = (isRight: boolean, path: keyof ProductChange, message: string) => {
    if (!isRight) problems.push({ path, message })
  }

  if (sent.name !== undefined) {
    const name = sent.name.trim()
    must(name !== '' && lengthOf(name) <= LONGEST_NAME, 'name', `must have 1 to ${LONGEST_NAME} characters`)
    must(!NOT_IN_A_LINE.test(name), 'name', 'must be one line without control characters')
    fields.name = name
  }
  if (sent.description !== undefined) {
    const text = sent.description.replaceAll(/\r\n?/g, '\n')
    must(lengthOf(text) <= LONGEST_DESCRIPTION, 'description', `must have at most ${LONGEST_DESCRIPTION} characters`)
    must(!NOT_IN_TEXT.test(text), 'description', 'must not contain control characters')
    fields.description = text
  }
  problems.push(...priceProblems(sent))
  if (sent.statementSuffix !== undefined) {
    const suffix = sent.statementSuffix.trim().toUpperCase()
    const room = suffixRoom(statementPrefix)
    must(
      SUFFIX.test(suffix) && suffix.length <= room,
      'statementSuffix',
      `must be 2 to ${room} of A-Z, 0-9, space, point and hyphen, with a letter, and begin with a letter or a digit`,
    )
    fields.statementSuffix = suffix
  }

  if (problems.length > 0) throw notValid(problems)
  return fields
}

/**
 * Turns the database's refusal of a suggested amount into ours. The database checks that rule, because a change of one field must fit
 * the others as they are then. Other errors are thrown again.
 */
export function refuseSuggestion(error: unknown): never {
  const { constraint } = error as { constraint?: string }
  if (constraint !== 'products_suggested_minor_check') throw error
  const message = 'goes with payWhatYouWant only, and must not be below the amount'
  throw notValid([{ path: 'suggestedAmount', message }])
}

const notValid = (fields: FieldProblem[]) => new Refusal('validation_failed', 'The body is not valid.', { fields })

/** The length in code points, as PostgreSQL counts characters. */
export const lengthOf = (text: string): number => [...text].length
