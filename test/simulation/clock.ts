let skippedMs = 0
let isPatched = false

/**
 * This process's clock jumps ahead: for code that counts its time by it, such as the pause after an outage of a processor. The
 * servers that play the processors live in the same process and jump with it.
 */
export function skipTime(ms: number): void {
  if (!isPatched) {
    isPatched = true
    const real = Date.now.bind(Date)
    Date.now = () => real() + skippedMs
  }
  skippedMs += ms
}

/** The right time again, which a service in another process has too. */
export function rightTime(): void {
  skippedMs = 0
}
