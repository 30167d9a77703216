import { Type } from 'typebox'
import { notValid } from './errors.ts'

/** A day, or a moment with its offset. A moment without an offset is refused. */
export const MOMENT = '^\\d{4}-\\d{2}-\\d{2}(T\\d{2}:\\d{2}(:\\d{2}(\\.\\d{1,6})?)?(Z|[+ -]\\d{2}:\\d{2}))?$'

export const PeriodQuery = {
  from: Type.Optional(
    Type.String({
      pattern: MOMENT,
      maxLength: 40,
      description: 'The inclusive start: 2026-11-01, or 2026-11-01T09:30:00Z. A day begins at midnight UTC.',
    }),
  ),
  to: Type.Optional(
    Type.String({ pattern: MOMENT, maxLength: 40, description: 'The exclusive end, in the form of `from`.' }),
  ),
}

export interface Period {
  from?: Date | undefined
  to?: Date | undefined
}

/** The times that a query names. Refuses `validation_failed` for a day that does not exist, or an end before the start. */
export function periodOf(query: { from?: string; to?: string }): Period {
  const [from, to] = [askedMoment('from', query.from), askedMoment('to', query.to)]
  if (from && to && from >= to) throw notValid('to', 'must come after from')
  return { from, to }
}

/** Refuses `validation_failed` for a day that does not exist. */
export function askedMoment(path: string, text: string | undefined): Date | undefined {
  if (text === undefined) return undefined
  const day = text.slice(0, 10)
  const midnight = new Date(day)
  // a "+" that was not encoded arrives as a space
  const moment = new Date(text.replace(' ', '+'))
  const exists = !Number.isNaN(midnight.getTime()) && midnight.toISOString().startsWith(day)
  if (!exists || Number.isNaN(moment.getTime()) || moment.getUTCFullYear() < 1970 || moment.getUTCFullYear() > 9998)
    throw notValid(path, 'must be a day of the calendar, from 1970 on')
  return moment
}
