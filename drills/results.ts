import { type Result, isMet, tableOf } from '../bench/report.ts'
import type { Database } from '../bench/world.ts'
import { readCharges, readReceipts, reconcile, standing } from './books.ts'
import type { Tally } from './buyer.ts'
import type { Sold } from './crowd.ts'

const MOST_FAILURES_SHOWN = 10

export function resultsOfBuyers({ bought }: Sold, tally: Tally, buyers: number, filesWithin?: number): Result[] {
  const [links, files] = (['linksMs', 'fileMs'] as const).map((name) =>
    bought.map((one) => one[name] / 1000).sort((a, b) => a - b),
  ) as [number[], number[]]
  const { repeated, answeredAway, declined, clickedTwice, notificationsLost } = tally
  return [
    {
      name: 'buyers who have paid',
      value: tally.paid,
      least: buyers,
      parts: { declined, 'clicked twice': clickedTwice, 'notifications lost': notificationsLost, 'requests repeated': repeated, 'of them after 408 or 503': answeredAway },
    },
    { name: 'buyers who have their file, with the right bytes', value: tally.withFiles, least: buyers },
    { name: 'seconds from the arrival to the file, at the most', value: at(files, 1), ...(filesWithin && { most: filesWithin }), parts: shares(files) },
    { name: 'seconds from "pay" to the links, at the most', value: at(links, 1), parts: shares(links) },
  ] // oxfmt-ignore
}

export async function resultsOfBooks(
  database: Database,
  env: Record<string, string>,
  { buyers, receiptsWithin }: { buyers: number; receiptsWithin?: number },
): Promise<{ results: Result[]; verdict: string }> {
  const { orders, paid } = await standing(database)
  const { notOne, waits } = await readReceipts(database)
  const { tooMuch, duplicates } = await readCharges(database)
  const { status, verdict } = await reconcile(env)
  return {
    verdict,
    results: [
      { name: 'orders that are not paid, or are a second one of a buyer', value: Math.abs(orders - buyers) + orders - paid, most: 0 },
      { name: 'orders that were charged more than once', value: tooMuch, most: 0, parts: { 'second payments': duplicates } },
      { name: 'paid orders without exactly one receipt', value: notOne, most: 0 },
      { name: 'seconds from the payment to the receipt, at the most', value: at(waits, 1), ...(receiptsWithin && { most: receiptsWithin }), parts: shares(waits) },
      { name: 'npm run reconcile ends with', value: status, most: 0 },
    ], // oxfmt-ignore
  }
}

/** Prints the results of the drill, and returns whether everything holds. */
export function report(results: readonly Result[], { failures }: Sold, verdict: string): boolean {
  for (const failure of failures.slice(0, MOST_FAILURES_SHOWN)) console.log(failure)
  console.log(`${tableOf([...results])}\n${verdict}`)
  return results.every(isMet)
}

function at(sorted: readonly number[], share: number): number {
  return sorted[Math.min(Math.floor(sorted.length * share), sorted.length - 1)] ?? Number.NaN
}

function shares(sorted: readonly number[]): Record<string, number> {
  return { p50: at(sorted, 0.5), p95: at(sorted, 0.95), p99: at(sorted, 0.99) }
}
