import fs from 'node:fs'

const STANDARD_OUTPUT = 1
/** Lines are written in batches: when so many bytes wait, and after this time. */
const WRITE_AT_BYTES = 12 * 1024
const WRITE_AFTER_MS = 200
/** The most bytes that wait while the log cannot be written: some 30,000 lines. Later lines are lost. */
const MOST_BYTES = 8 * 1024 * 1024
/** At the end of the process a full pipe gets a second to take the last lines. */
const LAST_TRIES = 20
const LAST_PAUSE_MS = 50
/** A pipe whose reader is slow. */
const BUSY = new Set<unknown>(['EAGAIN', 'EBUSY'])

/**
 * Writes the lines of a log to standard output. When that fails, such as on a full disk or without a reader, lines wait or are lost, and the
 * service goes on. The destination of the log's library repeats a failing write for ever at the end of the process and after a fatal error.
 */
export function logOutput() {
  let lines = ''
  /** The rest of a batch that could not be written. */
  let unwritten = new Uint8Array(0)
  let isWriting = false
  let isFailing = false

  const take = (): Uint8Array<ArrayBuffer> => {
    const taken = Buffer.concat([unwritten, Buffer.from(lines)])
    lines = ''
    unwritten = new Uint8Array(0)
    return taken
  }
  const flush = (): void => {
    if (isWriting) return
    const bytes = take()
    if (bytes.length === 0) return
    isWriting = true
    fs.write(STANDARD_OUTPUT, bytes, (error, written) => {
      isWriting = false
      isFailing = error !== null
      unwritten = Buffer.concat([bytes.subarray(isFailing ? 0 : written), unwritten])
      if (!isFailing && unwritten.length > 0) flush()
    })
  }
  /** Writes at once, for a process that ends. A batch that is under way ends by itself. */
  const flushSync = (): void => {
    let rest = take()
    for (let tries = 0; rest.length > 0 && tries < LAST_TRIES;) {
      try {
        rest = rest.subarray(fs.writeSync(STANDARD_OUTPUT, rest))
      } catch (error) {
        if (!BUSY.has((error as NodeJS.ErrnoException).code)) break
        tries++
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, LAST_PAUSE_MS)
      }
    }
    unwritten = rest
  }
  setInterval(flush, WRITE_AFTER_MS).unref()
  process.on('exit', flushSync)
  return {
    write(line: string): void {
      if (unwritten.length + lines.length + line.length > MOST_BYTES) return
      lines += line
      // after a failure only the timer tries again, not each line
      if (lines.length >= WRITE_AT_BYTES && !isFailing) flush()
    },
    flushSync,
  }
}
