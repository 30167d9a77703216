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
 * taken for the failed one. The permits are for the parts of all writes together, so a write neither waits long for one nor keeps one for long.
 */
export class Turns {
  readonly #permits: { acquire(): Promise<Permit> }
  readonly #patience: Patience
  readonly #held: Permit[] = []
  #first: Permit | undefined
  #filling: NodeJS.Timeout | undefined
  #before: Promise<unknown> = Promise.resolve()
  readonly #over = Promise.withResolvers<undefined>()
  #isOver = false

  constructor(permits: { acquire(): Promise<Permit> }, patience: Patience) {
    this.#permits = permits
    this.#patience = patience
  }

  /**
   * Waits for the permit of the first part. It comes before the library begins the write, because that takes the unfinished part out of the
   * bucket, and a refusal after it would lose those bytes.
   */
  async begin(): Promise<void> {
    this.#first = await this.#permit()
    this.#fill()
  }

  /** Waits until the part before is in the bucket, and for a permit. Throws when that part failed, or the write is over. */
  async acquire(): Promise<Permit> {
    await this.#before
    const permit = this.#first ?? (await this.#permit())
    this.#first = undefined
    if (this.#isOver) {
      // the part that asked for the permit has ended, so it cannot release it
      await permit.release()
      throw new Error('the write is over')
    }
    this.#held.push(permit)
    this.#fill()
    return permit
  }

  #fill(): void {
    clearTimeout(this.#filling)
    this.#filling = setTimeout(this.#patience.onSlow, this.#patience.fillMs)
  }

  async #permit(): Promise<Permit> {
    const coming = this.#permits.acquire()
    const permit = await inTime(Promise.race([coming, this.#over.promise]), this.#patience.turnMs).catch(
      () => undefined,
    )
    if (permit) return permit
    void coming.then((late) => late.release()).catch(() => {})
    if (this.#isOver) throw new Error('the write is over')
    throw new Refusal('storage_unavailable', BUSY, { retryAfterSeconds: 5 })
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
    this.#over.resolve(undefined)
  }

  end(): void {
    this.stop()
    clearTimeout(this.#filling)
    for (const permit of [...this.#held, ...(this.#first ? [this.#first] : [])]) void permit.release()
  }
}
