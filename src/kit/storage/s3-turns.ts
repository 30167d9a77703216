interface Permit {
  release(): Promise<void>
}

/**
 * The turns of the parts of one write: one part is under way at a time. A part that is in the bucket after one that failed would be
 * taken for the failed one. The permits are for the parts of all writes together.
 */
export class Turns {
  readonly #permits: { acquire(): Promise<Permit> }
  readonly #held: Permit[] = []
  #before: Promise<unknown> = Promise.resolve()
  #isOver = false

  constructor(permits: { acquire(): Promise<Permit> }) {
    this.#permits = permits
  }

  /** Waits until the part before is in the bucket, and for a permit. Throws when that part failed, or the write is over. */
  async acquire(): Promise<Permit> {
    await this.#before
    const permit = await this.#permits.acquire()
    if (this.#isOver) {
      // the part that asked for the permit has ended, so it cannot release it
      await permit.release()
      throw new Error('the write is over')
    }
    this.#held.push(permit)
    return permit
  }

  /** The part that is being sent. */
  next<T>(part: Promise<T>): Promise<T> {
    this.#before = part
    return part
  }

  /** No part begins any more. */
  stop(): void {
    this.#isOver = true
  }

  end(): void {
    this.stop()
    for (const permit of this.#held) void permit.release()
  }
}
