import { Type } from 'typebox'
import { Refusal } from './errors.ts'

/** A day, or a moment with its offset; of a moment nothing is guessed. */
const MOMENT = '^\\d{4}-\\d{2}-\\d{2}(T\\d{2}:\\d{2}(:\\d{2}(\\.\\d{1,6})?)?(Z|[+ -]\\d{2}:\\d{2}))?$'

export const PeriodQuery = {
  from: Type.Optional(
    Type.String({
      pattern: MOMENT,
      maxLength: 40,
      description: 'From then on: 2026-11-01, or 2026-11-01T09:30:00Z. A day begins at midnight UTC.',
    }),
  ),
  to: Type.Optional(Type.String({ pattern: MOMENT, maxLength: 40, description: 'Before then. As `from`.' })),
}

export interface Period {
  from?: Date | undefined
  to?: Date | undefined
}

/** The times that a query names. Refuses `validation_failed`: a day that no calendar has, or an end before the beginning. */
export function periodOf(query: { from?: string; to?: string }): Period {
  const [from, to] = [momentOf('from', query.from), momentOf('to', query.to)]
  if (from && to && from >= to) throw notValid('to', 'comes after from')
  return { from, to }
}

function momentOf(path: string, text: string | undefined): Date | undefined {
  if (text === undefined) return undefined
  const day = text.slice(0, 10)
  const midnight = new Date(day)
  // a "+" that was not encoded arrives as a space
  const moment = new Date(text.replace(' ', '+'))
  const exists = !Number.isNaN(midnight.getTime()) && midnight.toISOString().startsWith(day)
  if (!exists || Number.isNaN(moment.getTime()) || moment.getUTCFullYear() < 1970 || moment.getUTCFullYear() > 9998)
    throw notValid(path, 'is a day of the calendar, from 1970 on')
  return moment
}

export const notValid = (path: string, message: string) =>
  new Refusal('validation_failed', 'The query is not valid.', { fields: [{ path, message }] })
