import { Refusal } from '../../kit/errors.ts'
import { inTime } from '../../kit/time.ts'

/** Ten megabytes each, while they arrive and wait. */
const MOST_HELD = 8
const MOST_OF_ONE_SELLER = 3
const RETRY_AFTER_SECONDS = 5
/** Far longer than any picture takes: one that hangs holds up its seller, and nobody else. */
const TURN_MS = 60_000

/**
 * How many pictures this process holds in memory: so many arrive and wait, one is made at a time. Who finds no place is told
 * to come again. Refuses `images_busy`.
 */
export function imagePlaces() {
  const held = new Map<string, number>()
  let all = 0
  let last: Promise<unknown> = Promise.resolve()

  return {
    /** Does `work` with a place for one picture of that seller. */
    async held<T>(sellerId: string, work: () => Promise<T>): Promise<T> {
      const own = held.get(sellerId) ?? 0
      if (all >= MOST_HELD || own >= MOST_OF_ONE_SELLER)
        throw new Refusal('images_busy', 'Other pictures are being made. Please try again in a moment.', {
          retryAfterSeconds: RETRY_AFTER_SECONDS,
        })
      all += 1
      held.set(sellerId, own + 1)
      try {
        return await work()
      } finally {
        all -= 1
        const left = held.get(sellerId)! - 1
        if (left > 0) held.set(sellerId, left)
        else held.delete(sellerId)
      }
    },
    /** Does `work` when what came before is done. */
    inTurn<T>(work: () => Promise<T>): Promise<T> {
      const turn = last.then(work)
      last = inTime(turn, TURN_MS).catch(() => {})
      return turn
    },
  }
}
