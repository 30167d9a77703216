import { Type } from 'typebox'
import { notValid } from './errors.ts'

/** A moment in a body, with its offset. */
export const MomentAsked = Type.String({
  // years 2000 to 2999 only, which every database can store
  pattern: '^2\\d{3}-\\d\\d-\\d\\dT\\d\\d:\\d\\d(:\\d\\d(\\.\\d{1,9})?)?(Z|[+-]\\d\\d:\\d\\d)$',
  maxLength: 40,
  description: 'ISO 8601 with an offset.',
})

/** Converts a moment for the database, and refuses a day that does not exist, such as the 31st of February. */
export function momentOf<T extends string | null | undefined>(field: string, at: T): T | string {
  if (typeof at !== 'string') return at
  const moment = new Date(at)
  if (Number.isNaN(moment.getTime()) || !isDay(at.slice(0, 10))) throw wrongField(field, 'There is no such moment.')
  return moment.toISOString()
}

/** V8 takes the 30th of February for the 2nd of March. */
const isDay = (day: string): boolean => new Date(`${day}T00:00:00Z`).toISOString().startsWith(day)

/** The refusal of a field whose message is a sentence of its own. */
export const wrongField = (path: string, message: string) => notValid(path, message, message)
