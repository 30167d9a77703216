import { Refusal } from '../../kit/errors.ts'

const MOST_OF_ONE_SELLER = 3
const RETRY_AFTER_SECONDS = 5

/** Makes one statement at a time, because a long one keeps the CPU busy. A seller with three under way gets `statements_busy`. */
export function statementTurns() {
  const waiting = new Map<string, number>()
  let last: Promise<unknown> = Promise.resolve()
  return {
    async inTurn<T>(sellerId: string, work: () => Promise<T>): Promise<T> {
      const own = waiting.get(sellerId) ?? 0
      if (own >= MOST_OF_ONE_SELLER)
        throw new Refusal('statements_busy', 'Your other statements are being made. Please try again in a moment.', {
          retryAfterSeconds: RETRY_AFTER_SECONDS,
        })
      waiting.set(sellerId, own + 1)
      const turn = last.then(work)
      last = turn.catch(() => {})
      try {
        return await turn
      } finally {
        const left = waiting.get(sellerId)! - 1
        if (left > 0) waiting.set(sellerId, left)
        else waiting.delete(sellerId)
      }
    },
  }
}
