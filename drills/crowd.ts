import { setTimeout as sleep } from 'node:timers/promises'
import type { Database } from '../bench/world.ts'
import { standing } from './books.ts'
import { type Bought, type Tally, buy } from './buyer.ts'
import type { Shop } from './shop.ts'

const PROGRESS_MS = 5_000
const began = Date.now()

/** The sandbox's bank answers only on this machine, so all of its requests come from one address. Every other limit is the default. */
export const LIMITS = 'sandbox=1000000/60,request=1000000/60'

export const newTally = (): Tally => ({
  arrived: 0,
  paid: 0,
  withFiles: 0,
  failed: 0,
  repeated: 0,
  answeredAway: 0,
  withoutRetryAfter: 0,
  declined: 0,
  clickedTwice: 0,
  notificationsLost: 0,
})

export interface Sold {
  bought: Bought[]
  failures: string[]
  lastFileMs: number
}

/** Lets the buyers come evenly in `seconds`, and waits for the last. */
export async function sell(
  shop: Shop,
  tally: Tally,
  { buyers, seconds, first = 0 }: { buyers: number; seconds: number; first?: number },
): Promise<Sold> {
  const bought: Bought[] = []
  const failures: string[] = []
  let lastArrival = performance.now()
  await Promise.all(
    Array.from({ length: buyers }, async (_, n) => {
      await sleep((n / buyers) * seconds * 1000)
      lastArrival = performance.now()
      try {
        bought.push(await buy(shop, first + n, tally))
      } catch (error) {
        tally.failed++
        failures.push(`buyer ${first + n}: ${(error as Error).message}`)
      }
    }),
  )
  return { bought, failures, lastFileMs: performance.now() - lastArrival }
}

const LOOK_MS = 100
const WAIT_MS = 180_000

/** Waits until `isSo` returns true. A failure counts as not yet. */
export async function until(what: string, isSo: () => Promise<boolean>): Promise<void> {
  for (const end = performance.now() + WAIT_MS; !(await isSo().catch(() => false)); await sleep(LOOK_MS))
    if (performance.now() > end) throw new Error(`it never came: ${what}`)
}

export const isUp = (port: number): Promise<boolean> =>
  fetch(`http://127.0.0.1:${port}/readyz`).then(({ status }) => status === 200)

/** Buyers come in groups of so many seconds, until all is done. */
const GROUP_SECONDS = 2

/** Lets `rate` buyers a second come until `work` is done, and a last group after it. */
export async function sellDuring(work: Promise<void>, shop: Shop, tally: Tally, rate: number): Promise<Sold> {
  let isDone = false
  void work.then(
    () => (isDone = true),
    () => (isDone = true),
  )
  const all: Sold = { bought: [], failures: [], lastFileMs: 0 }
  const buyers = Math.ceil(rate * GROUP_SECONDS)
  const groups: Promise<Sold>[] = []
  for (let first = 0, isLast = false; !isLast; first += buyers) {
    isLast = isDone
    groups.push(sell(shop, tally, { buyers, seconds: GROUP_SECONDS, first }))
    await sleep(GROUP_SECONDS * 1000)
  }
  for (const { bought, failures } of await Promise.all(groups)) {
    all.bought.push(...bought)
    all.failures.push(...failures)
  }
  await work
  return all
}

/** Shows how far the buyers are, every few seconds and at the end. The next line waits for a slow count. */
export function showProgress(database: Database, tally: Tally): { stop(): Promise<void> } {
  const stopping = new AbortController()
  const show = async () => {
    const { arrived, paid, withFiles, failed, repeated } = tally
    const { receipts } = await standing(database)
    say(`arrived ${arrived}, paid ${paid}, with files ${withFiles}, failed ${failed}, receipts ${receipts}, repeated requests ${repeated}`) // oxfmt-ignore
  }
  const shown = (async () => {
    while (!stopping.signal.aborted) {
      await sleep(PROGRESS_MS, undefined, { signal: stopping.signal }).catch(() => {})
      // a count that fails is shown the next time
      await show().catch(() => {})
    }
  })()
  return {
    stop() {
      stopping.abort()
      return shown
    },
  }
}

export function say(what: string): void {
  console.error(`${((Date.now() - began) / 1000).toFixed(0).padStart(4)} s  ${what}`)
}
