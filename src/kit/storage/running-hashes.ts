import { type Hash, createHash } from 'node:crypto'

/** Who pauses longest begins anew from the stored bytes, which is slower and not wrong. */
const MOST_KEPT = 1000
/** A store of parts forgets those under way when it is interrupted, so that one goes on from an earlier place. */
const MARK_BYTES = 8 * 1024 ** 2
const MOST_MARKS = 12

export interface RunningHash {
  readonly offset: number
  update(chunk: Buffer): void
}

export type RunningHashes = ReturnType<typeof runningHashes>

/** Hashes of files that come in pieces, so that a file that came in order need not be read again to be hashed. */
export function runningHashes() {
  const kept = new Map<string, Running>()
  return {
    /** Goes on at that offset; undefined when what came before it was not hashed here. */
    goOn(key: string, offset: number): RunningHash | undefined {
      const running = offset === 0 ? new Running() : kept.get(key)?.from(offset)
      kept.delete(key)
      if (!running) return undefined
      if (kept.size >= MOST_KEPT) kept.delete(kept.keys().next().value!)
      kept.set(key, running)
      return running
    },
    /** The hash of the first `size` bytes, in hex, if those are what was hashed. */
    digest: (key: string, size: number): string | undefined => kept.get(key)?.from(size)?.digest(),
    forget: (key: string): void => void kept.delete(key),
  }
}

class Running implements RunningHash {
  offset = 0
  #hash: Hash
  #marks: { offset: number; hash: Hash }[] = []

  constructor(offset = 0, hash = createHash('sha256')) {
    this.offset = offset
    this.#hash = hash
  }

  update(chunk: Buffer): void {
    for (let rest = chunk; rest.length > 0;) {
      const piece = rest.subarray(0, MARK_BYTES - (this.offset % MARK_BYTES))
      this.#hash.update(piece)
      this.offset += piece.length
      rest = rest.subarray(piece.length)
      if (this.offset % MARK_BYTES === 0) this.#mark()
    }
  }

  /** The same hash as it was at `offset`. */
  from(offset: number): Running | undefined {
    const { hash } =
      [{ offset: this.offset, hash: this.#hash }, ...this.#marks].find((one) => one.offset === offset) ?? {}
    return hash && new Running(offset, hash.copy())
  }

  digest = (): string => this.#hash.copy().digest('hex')

  #mark(): void {
    this.#marks.push({ offset: this.offset, hash: this.#hash.copy() })
    if (this.#marks.length > MOST_MARKS) this.#marks.shift()
  }
}
