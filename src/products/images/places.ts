import { Refusal } from '../../kit/errors.ts'
import { inTime } from '../../kit/time.ts'

/** Of all pictures together: as many as eight of the largest. */
const MOST_BYTES_HELD = 80_000_000
const MOST_OF_ONE_SELLER = 3
const RETRY_AFTER_SECONDS = 5
/** Far longer than any picture takes. A picture that hangs holds up its own seller only. */
const TURN_MS = 60_000

/**
 * The pictures that this process holds in memory: they arrive and wait, and one is made at a time. Only bytes that have arrived
 * count, so a slow sender takes no place from others. A seller who finds no place gets `images_busy` and may try again.
 */
export function imagePlaces() {
  const held = new Map<string, number>()
  let bytesHeld = 0
  let last: Promise<unknown> = Promise.resolve()

  return {
    /** Does `work` with a place for one picture of that seller; it says of all that has `arrived`, before it is kept. */
    async held<T>(sellerId: string, work: (arrived: (bytes: number) => void) => Promise<T>): Promise<T> {
      const own = held.get(sellerId) ?? 0
      if (own >= MOST_OF_ONE_SELLER) throw busy()
      held.set(sellerId, own + 1)
      let size = 0
      try {
        return await work((bytes) => {
          if (bytesHeld + bytes > MOST_BYTES_HELD) throw busy()
          bytesHeld += bytes
          size += bytes
        })
      } finally {
        bytesHeld -= size
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

const busy = () =>
  new Refusal('images_busy', 'Other pictures are being made. Please try again in a moment.', {
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  })
