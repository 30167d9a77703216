import { type Hash, createHash } from 'node:crypto'

/** Beyond this number, the oldest hash is forgotten. Its file is then hashed from the stored bytes, which is slower but right. */
const MOST_HASHES = 1000
/** An S3 upload whose part failed goes on from an earlier offset. So earlier states of a hash are kept too. */
const MARK_BYTES = 8 * 1024 ** 2
const MOST_MARKS = 12

export interface RunningHash {
  readonly offset: number
  update(chunk: Buffer): void
}

export type RunningHashes = ReturnType<typeof runningHashes>

/** Hashes of files that come in pieces, so that a file that came in order need not be read again to be hashed. */
export function runningHashes() {
  const byKey = new Map<string, Running>()
  return {
    /** Continues a hash at `offset`. Undefined when the bytes before it were not hashed here. */
    goOn(key: string, offset: number): RunningHash | undefined {
      const running = offset === 0 ? new Running() : byKey.get(key)?.from(offset)
      byKey.delete(key)
      if (!running) return undefined
      if (byKey.size >= MOST_HASHES) byKey.delete(byKey.keys().next().value!)
      byKey.set(key, running)
      return running
    },
    /** The hash of the first `size` bytes in hex, or undefined when other bytes were hashed. */
    digest: (key: string, size: number): string | undefined => byKey.get(key)?.from(size)?.digest(),
    forget: (key: string): void => void byKey.delete(key),
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

  /** A copy of the hash as it was at `offset`. */
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
