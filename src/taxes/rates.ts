import { sql } from 'kysely'
import { isCountry } from '../kit/country.ts'
import type { Db, Tx } from '../kit/database.ts'
import { type FieldProblem, Refusal } from '../kit/errors.ts'
import { askedMoment } from '../kit/period.ts'

/** A tax rate in a country, in percent, from the first to the last day of UTC. */
export interface TaxRate {
  country: string
  category: string
  rate: number
  validFrom: string
  /** Null: until further notice. */
  validTo: string | null
}

/** A rate with its place in the operator's file, such as `line 7`. */
export type PlacedRate = TaxRate & { place: string }

export const CATEGORY = '^[a-z][a-z0-9-]{0,39}$'
export const MOST_RATES = 5000
const MOST_PROBLEMS = 20
const COLUMNS = ['country', 'category', 'rate', 'valid_from', 'valid_to']

/** Reads a CSV with the columns country, category, rate, valid_from and valid_to. Refuses `validation_failed`. */
export async function readRates(csv: string): Promise<PlacedRate[]> {
  const { CsvError, parse } = await import('csv-parse/sync')
  try {
    const records = parse(csv, {
      bom: true,
      info: true,
      trim: true,
      skip_empty_lines: true,
      max_record_size: 1000,
    }) as unknown as {
      record: string[]
      info: { lines: number }
    }[]
    const [head, ...rows] = records
    if (head?.record.join(',') !== COLUMNS.join(','))
      throw notValid([{ path: 'line 1', message: `must be ${COLUMNS.join(',')}` }])
    return rows.map(({ record: [country = '', category = '', rate = '', validFrom = '', validTo = ''], info }) => ({
      place: `line ${info.lines}`,
      country,
      category: category || 'standard',
      rate: /^\d{1,2}(\.\d{1,3})?$/.test(rate) ? Number(rate) : Number.NaN,
      validFrom,
      validTo: validTo || null,
    }))
  } catch (error) {
    if (!(error instanceof CsvError)) throw error
    throw notValid([{ path: `line ${String(error.lines ?? 1)}`, message: 'cannot be read as CSV' }])
  }
}

/**
 * Replaces all rates. Orders keep the rate that they were made with, so nothing changes for them. Loads come one after the other.
 * Refuses `validation_failed`, with every place that is wrong, and changes nothing then.
 */
export async function replaceRates(tx: Tx, rates: readonly PlacedRate[]): Promise<void> {
  const problems = problemsOf(rates)
  if (problems.length > 0) throw notValid(problems)
  const column = <K extends keyof TaxRate>(name: K) => rates.map((rate) => rate[name])
  await sql`lock table tax_rates in share row exclusive mode`.execute(tx)
  await sql`delete from tax_rates`.execute(tx)
  await sql`
    insert into tax_rates (country, category, rate, valid_from, valid_to)
    select * from unnest(${column('country')}::text[], ${column('category')}::text[], ${column('rate')}::numeric[],
      ${column('validFrom')}::date[], ${column('validTo')}::date[])`.execute(tx)
}

export async function listRates(db: Db | Tx): Promise<TaxRate[]> {
  const { rows } = await sql<TaxRate>`
    select country, category, rate::float8 as rate, valid_from::text as "validFrom", valid_to::text as "validTo"
    from tax_rates order by country, category, valid_from`.execute(db)
  return rows
}

function problemsOf(rates: readonly PlacedRate[]): FieldProblem[] {
  if (rates.length > MOST_RATES) return [{ path: 'items', message: `must be at most ${MOST_RATES}` }]
  const problems = rates.flatMap((rate) => {
    const message = whatIsWrong(rate)
    return message === undefined ? [] : [{ path: rate.place, message }]
  })
  return problems.length > 0 ? problems : overlaps(rates)
}

function whatIsWrong({ country, category, rate, validFrom, validTo }: TaxRate): string | undefined {
  if (!isCountry(country)) return `has no country (ISO 3166-1, such as DE; the United Kingdom is GB, Greece GR)`
  if (!new RegExp(CATEGORY).test(category)) return 'has no category, such as standard'
  const isRate = rate >= 0 && rate < 100 && Math.abs(rate * 1000 - Math.round(rate * 1000)) < 1e-6
  if (!isRate) return 'has no rate: percent, such as 19 or 8.875, with a point'
  if (!isDay(validFrom)) return 'has no valid_from: a day, such as 2026-01-01'
  if (validTo !== null && !isDay(validTo)) return 'has no valid_to: a day, such as 2026-12-31, or nothing'
  if (validTo !== null && validTo < validFrom) return 'ends before it begins'
  return undefined
}

function isDay(text: string): boolean {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return false
  try {
    return askedMoment('day', text) !== undefined
  } catch {
    return false
  }
}

/** Two rates of one country and category on one day: the service could not tell which is right. */
function overlaps(rates: readonly PlacedRate[]): FieldProblem[] {
  const problems: FieldProblem[] = []
  const groups = Map.groupBy(rates, ({ country, category }) => `${country} ${category}`)
  for (const group of groups.values()) {
    const sorted = group.toSorted((a, b) => (a.validFrom < b.validFrom ? -1 : 1))
    for (const [at, rate] of sorted.entries()) {
      const before = sorted[at - 1]
      if (before && (before.validTo === null || before.validTo >= rate.validFrom))
        problems.push({ path: rate.place, message: `overlaps ${before.place}` })
    }
  }
  return problems
}

function notValid(problems: readonly FieldProblem[]): Refusal {
  const fields = problems.slice(0, MOST_PROBLEMS)
  const says = fields.map(({ path, message }) => `${path} ${message}`).join('; ')
  return new Refusal('validation_failed', `Nothing was changed: ${says}.`, { fields })
}
