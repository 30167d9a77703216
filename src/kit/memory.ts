import { Session } from 'node:inspector/promises'

const CHECK_MS = 3_000
/** A share of the time in which requests are answered. A collection stops the process for up to a tenth of a second. */
const CALM_UTILIZATION = 0.2
/** Less is not worth a collection. */
const GROWTH_BYTES = 24 * 1024 * 1024

/**
 * Returns memory to the system when the process is calm: the memory that only the start needed, about 40 MB, and that of a busy time.
 * Without it V8 would keep both for good.
 */
export function returnMemoryWhenCalm(checkMs = CHECK_MS): void {
  let kept = 0
  let since = performance.eventLoopUtilization()
  const check = async () => {
    const now = performance.eventLoopUtilization()
    const { utilization } = performance.eventLoopUtilization(now, since)
    since = now
    if (utilization > CALM_UTILIZATION || process.memoryUsage.rss() < kept + GROWTH_BYTES) return
    await collectGarbage()
    kept = process.memoryUsage.rss()
  }
  setInterval(() => void check().catch(() => {}), checkMs).unref()
}

async function collectGarbage(): Promise<void> {
  const session = new Session()
  session.connect()
  await session.post('HeapProfiler.collectGarbage')
  session.disconnect()
}
