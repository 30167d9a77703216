import { type RawBuilder, sql } from 'kysely'

// PostgreSQL plans a prepared statement anew for its first five values. Then it keeps one plan for all values, unless this plan seems to
// cost more than the five did. Planning a long statement can take longer than running it.

const NEEDS_CUSTOM_PLAN = '/* custom plan */'

/**
 * Begins a statement that PostgreSQL must plan anew for its values each time, such as a sum over all orders of a seller. The cached
 * plan suits a typical seller, and would sort the hundred thousand orders of a large one.
 */
export const withCustomPlan = sql.raw(NEEDS_CUSTOM_PLAN)

export const needsCustomPlan = (text: string): boolean => text.startsWith(NEEDS_CUSTOM_PLAN)

/**
 * An array, or an expression for it, for a statement that joins it, with its length hidden from the planner. If the planner sees the length, a plan for this
 * array looks cheaper than the cached plan, so PostgreSQL plans the statement each time, which takes longer than running it.
 */
export const genericPlanArray = (
  values: readonly unknown[] | RawBuilder<unknown>,
  type: 'text' | 'int' | 'bytea',
): RawBuilder<unknown> => sql`(select ${values}::${sql.raw(type)}[])`

/**
 * A value that is hidden from the planner too. If the planner sees a limit, or an account that is rarer than the average, PostgreSQL plans
 * the statement each time. The planner then takes a tenth of the rows for the limit, so the statement must not join more than its page.
 */
export const genericPlan = (value: unknown, type: 'text' | 'int'): RawBuilder<unknown> =>
  sql`(select ${value}::${sql.raw(type)})`

/**
 * Writes a whole number, or words for an `in`, into the statement itself: settings and constants of ours, never text from a request. The
 * planner then knows them for the cached plan too. As parameters they make it prefer a new plan for each call.
 */
export function literal(value: number | readonly string[]): RawBuilder<unknown> {
  if (typeof value === 'number') {
    if (!Number.isSafeInteger(value)) throw new TypeError(`${value} is no whole number`)
    return sql.lit(value)
  }
  if (value.length === 0 || !value.every((one) => /^\w+$/.test(one)))
    throw new TypeError(`${value.join()} are no words`)
  return sql`(${sql.join(value.map((one) => sql.lit(one)))})`
}
