import type { Bucket } from '../api.ts'

/** This many days always include the whole current month. */
export const DAYS = 31

/** The first moment of each day up to today, in the seller's time zone, oldest first. */
export function lastDays(now = new Date()): Date[] {
  return Array.from(
    { length: DAYS },
    (_, at) => new Date(now.getFullYear(), now.getMonth(), now.getDate() - (DAYS - 1 - at)),
  )
}

export interface Day {
  at: Date
  orders: number
  amount: number
}

/** One entry for each day, also for days without a sale. */
export function fillDays(buckets: Bucket[], now = new Date()): Day[] {
  const days = lastDays(now).map((at) => ({ at, orders: 0, amount: 0 }))
  for (const bucket of buckets) {
    const time = new Date(bucket.at)
    const day = days.findLast(({ at }) => at <= time)
    if (!day) continue
    day.orders += bucket.orders
    day.amount += bucket.amount
  }
  return days
}

export const sumOf = (days: Day[]): { orders: number; amount: number } => ({
  orders: days.reduce((sum, { orders }) => sum + orders, 0),
  amount: days.reduce((sum, { amount }) => sum + amount, 0),
})
