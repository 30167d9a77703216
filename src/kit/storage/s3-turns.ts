import { Refusal } from '../errors.ts'
import { inTime } from '../time.ts'

interface Permit {
  release(): Promise<void>
}

interface Patience {
  /** The longest wait for a permit. */
  turnMs: number
  /** The longest time from the permit until the part is complete. */
  fillMs: number
  /** The part was not complete in time. */
  onSlow: () => void
}

const BUSY = 'Many uploads are under way. Nothing is lost: please try again in a moment.'

/**
 * The turns of the parts of one write: one part is under way at a time. A part that is in the bucket after one that failed would be
 * taken for the failed one. The permits are for the parts of all writes together, so nobody waits long for one or keeps one for long.
 */
export class Turns {
  readonly #permits: { acquire(): Promise<Permit> }
  readonly #patience: Patience
  readonly #held: Permit[] = []
  #filling: NodeJS.Timeout | undefined
  #before: Promise<unknown> = Promise.resolve()
  #isOver = false

  constructor(permits: { acquire(): Promise<Permit> }, patience: Patience) {
    this.#permits = permits
    this.#patience = patience
  }

  /** Waits until the part before is in the bucket, and for a permit. Throws when that part failed, or the write is over. */
  async acquire(): Promise<Permit> {
    await this.#before
    const permit = await this.#permit()
    if (this.#isOver) {
      // the part that asked for the permit has ended, so it cannot release it
      await permit.release()
      throw new Error('the write is over')
    }
    this.#held.push(permit)
    this.#filling = setTimeout(this.#patience.onSlow, this.#patience.fillMs)
    return permit
  }

  async #permit(): Promise<Permit> {
    const coming = this.#permits.acquire()
    try {
      return await inTime(coming, this.#patience.turnMs)
    } catch {
      void coming.then((late) => late.release()).catch(() => {})
      throw new Refusal('storage_unavailable', BUSY, { retryAfterSeconds: 5 })
    }
  }

  /** The part that is being sent. */
  next<T>(part: Promise<T>): Promise<T> {
    clearTimeout(this.#filling)
    this.#before = part
    return part
  }

  /** No part begins any more. */
  stop(): void {
    this.#isOver = true
  }

  end(): void {
    this.stop()
    clearTimeout(this.#filling)
    for (const permit of this.#held) void permit.release()
  }
}
