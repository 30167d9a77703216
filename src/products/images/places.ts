import { Refusal } from '../../kit/errors.ts'
import { inTime } from '../../kit/time.ts'

/** For all pictures together: eight of the largest. */
const MOST_BYTES_HELD = 80_000_000
const MOST_OF_ONE_SELLER = 3
const RETRY_AFTER_SECONDS = 5
/** Far longer than any picture takes. A picture that hangs holds up its own seller only. */
const TURN_MS = 60_000

export type Places = ReturnType<typeof imagePlaces>

/**
 * Limits the pictures that this process holds in memory. Pictures arrive and wait, and one is encoded at a time. Only bytes that have
 * arrived count, so a slow client takes no place from others. A seller who finds no place gets `images_busy` and can try again.
 */
export function imagePlaces() {
  const held = new Map<string, number>()
  let bytesHeld = 0
  let last: Promise<unknown> = Promise.resolve()

  return {
    /** Runs `work` with a place for one picture of that seller. `work` must report bytes with `arrived` before it keeps them. */
    async withPlace<T>(sellerId: string, work: (arrived: (bytes: number) => void) => Promise<T>): Promise<T> {
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
        const remaining = held.get(sellerId)! - 1
        if (remaining > 0) held.set(sellerId, remaining)
        else held.delete(sellerId)
      }
    },
    /** Runs `work` after all earlier work. */
    inTurn<T>(work: () => Promise<T>): Promise<T> {
      const turn = last.then(work)
      last = inTime(turn, TURN_MS).catch(() => {})
      return turn
    },
  }
}

const busy = () =>
  new Refusal('images_busy', 'Other pictures are being processed. Please try again in a moment.', {
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  })
