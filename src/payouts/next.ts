import { sql } from 'kysely'
import type { Db } from '../kit/database.ts'
import { type Standing, standingOf } from '../sellers/standing.ts'
import { type DetailsRow, listDetails } from './details.ts'
import { type Owed, owedOf } from './owed.ts'
import { type Schedule, periodOf, runTimeOf } from './schedule.ts'

export interface NextRules {
  holdDays: number
  schedule: Schedule
  minimumMinor: Readonly<Record<string, number>>
}

export const NEXT_BLOCKS = [
  'negative_balance',
  'nothing_available',
  'below_minimum',
  'suspended',
  'awaiting_approval',
  'no_details',
  'details_changed',
  'account_refused',
] as const

/** A seller's next payout in a currency, as things stand. */
export interface NextPayout {
  currency: string
  /** The amount available on the day of the next run, in minor units. */
  expectedMinor: number
  minimumMinor: number
  /** Why nothing would be paid. Null: it would be. */
  blocked: (typeof NEXT_BLOCKS)[number] | null
  payableFrom: Date | null
}

/** Whether the present week or month has its run already. */
export async function hasRun(db: Db, schedule: Schedule, now: Date): Promise<boolean> {
  const { rows } = await sql`select 1 from payout_runs where period = ${periodOf(schedule, now)}`.execute(db)
  return rows.length > 0
}

/**
 * The day (UTC) of the next run: the next Monday, or the first day of the next month. Until a period has its run, the service tries to
 * propose it each day: today if the hour is still to come, otherwise tomorrow.
 */
export function nextRunOn(schedule: Schedule, now: Date, periodHasRun: boolean): string {
  const today = now.toISOString().slice(0, 10)
  const day = new Date(today)
  if (!periodHasRun) day.setUTCDate(day.getUTCDate() + (now < runTimeOf(today) ? 0 : 1))
  else if (schedule === 'monthly') day.setUTCMonth(day.getUTCMonth() + 1, 1)
  else day.setUTCDate(day.getUTCDate() + (7 - ((day.getUTCDay() + 6) % 7)))
  return day.toISOString().slice(0, 10)
}

/** The next payout in each currency in which the seller has money, by the rules by which a run is proposed. */
export async function nextPayoutsOf(db: Db, sellerId: string, rules: NextRules, runOn: string): Promise<NextPayout[]> {
  const { rows } = await sql<{ standing: Standing }>`
    select ${standingOf('s')} as standing from sellers s where s.id = ${sellerId}`.execute(db)
  const standing = rows[0]?.standing ?? 'active'
  const details = new Map((await listDetails(db, sellerId)).map((one) => [one.currency, one]))
  return (await owedOf(db, sellerId, rules.holdDays)).map((owed) => {
    const { currency } = owed
    const least = rules.minimumMinor[currency] ?? 1
    const expected = expectedOn(owed, runOn)
    const own = details.get(currency)
    return {
      currency,
      expectedMinor: Math.max(0, expected),
      minimumMinor: least,
      blocked: blockOf({ expected, least, standing, details: own, runOn }),
      payableFrom: own?.payableFrom ?? null,
    }
  })
}

const expectedOn = ({ balance, refunding, available, pendingBy }: Owed, runOn: string): number =>
  Math.min(
    balance - refunding,
    pendingBy.reduce((sum, { on, amount }) => (on < runOn ? sum + amount : sum), available),
  )

interface Facts {
  expected: number
  least: number
  standing: Standing
  details: DetailsRow | undefined
  runOn: string
}

function blockOf({ expected, least, standing, details, runOn }: Facts): NextPayout['blocked'] {
  if (expected < 0) return 'negative_balance'
  if (expected === 0) return 'nothing_available'
  if (expected < least) return 'below_minimum'
  if (standing !== 'active') return standing
  if (!details) return 'no_details'
  if (details.isRefused) return 'account_refused'
  return details.payableFrom > runTimeOf(runOn) ? 'details_changed' : null
}
