import { gapOf } from '../kit/embedded/gap.ts'
import { type Log, errorForLog } from '../kit/log.ts'
import { inTime } from '../kit/time.ts'
import { keepLimits } from './wal.ts'

/** How often the service looks for finished segments. */
const SEND_EVERY_MS = 5_000
/** A service that ends waits no longer for a send. */
const STOP_MS = 3_000
const DROPPED = 'changes were removed before they were backed up, because too many wait'

export interface Sending {
  walFolder: string
  send(): Promise<unknown>
  /** Only a new copy of the database ends a gap in the log. */
  addBackup(): Promise<void>
  log: Log
  everyMs?: number | undefined
  limits?: Parameters<typeof keepLimits>[1]
}

/**
 * Sends finished segments while the process runs. A failure is logged when it begins and when it ends. While a place takes its time, or does
 * not answer at all, the limits of what waits hold too.
 */
export function keepSending({ walFolder, send, addBackup, log, everyMs = SEND_EVERY_MS, limits }: Sending) {
  let isAway = false
  // a gap that is there at the start has its backup already
  let hadGap = gapOf(walFolder) !== undefined
  let underWay: Promise<void> | undefined
  const once = async () => {
    try {
      await send()
      const hasGap = gapOf(walFolder) !== undefined
      if (isAway) log.info('the backup can be reached again')
      if (hasGap && (isAway || !hadGap)) await addBackup()
      isAway = false
      hadGap = hasGap
    } catch (error) {
      if (!isAway) log.error(errorForLog((error as Error).cause ?? error), 'the backup cannot be reached; sales go on')
      isAway = true
      const { dropped = 0 } = error as { dropped?: number }
      if (dropped > 0) log.error({ dropped }, DROPPED)
    }
  }
  const tick = async () => {
    if (!underWay) {
      underWay = once().finally(() => (underWay = undefined))
      return
    }
    // a second send would hang beside the first one
    const dropped = await keepLimits(walFolder, limits)
    if (dropped > 0) log.error({ dropped }, DROPPED)
  }
  const timer = setInterval(
    () => void tick().catch((error: unknown) => log.error(errorForLog(error), 'the log that waits cannot be read')),
    everyMs,
  ).unref()
  return {
    async stop() {
      clearInterval(timer)
      // a place that hangs must not keep the service from ending
      await inTime(underWay ?? Promise.resolve(), STOP_MS).catch(() => {})
    },
  }
}
