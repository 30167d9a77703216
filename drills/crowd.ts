import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import net from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Database } from '../bench/world.ts'
import { standing } from './books.ts'
import { type Bought, type Tally, buy } from './buyer.ts'
import type { Shop } from './shop.ts'

const PROGRESS_MS = 5_000
const began = Date.now()

/**
 * A seller's launch needs more than 1000 orders a minute of one product. The sandbox's bank answers only on this machine, so that all
 * of its requests come from one address. Every other limit is the default.
 */
export const LIMITS = 'checkout_product=1000000/60,sandbox=1000000/60,request=1000000/60'

export const newTally = (): Tally => ({
  arrived: 0,
  paid: 0,
  withFiles: 0,
  failed: 0,
  repeated: 0,
  answeredAway: 0,
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

/**
 * A free port below those that systems give to outgoing connections. While the service is away, a buyer's connection could otherwise
 * be given its port, and then even connects to itself.
 */
export async function quietPort(): Promise<number> {
  for (;;) {
    const port = randomInt(20_000, 30_000)
    const probe = net.createServer()
    const isFree = await once(probe.listen(port, '127.0.0.1'), 'listening').then(
      () => true,
      () => false,
    )
    if (!isFree) continue
    probe.close()
    await once(probe, 'close')
    return port
  }
}
