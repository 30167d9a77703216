import { useEffect, useRef } from 'preact/hooks'
import { ApiError } from './api.ts'

/** Growing pauses: a short failure is over soon, and a long one needs few requests. */
const PAUSES_MS = [2_000, 4_000, 8_000, 15_000, 30_000]

/**
 * Tries again by itself while the service cannot be reached: at once when the browser is online again, and after
 * growing pauses. It does not repeat a request that the service refused.
 */
export function useRecovery(trouble: unknown, again: () => void): void {
  const triedRef = useRef(0)
  const latestRef = useRef(again)
  useEffect(() => {
    latestRef.current = again
  })
  useEffect(() => {
    if (!(trouble instanceof ApiError && trouble.unknown)) {
      if (!trouble) triedRef.current = 0
      return
    }
    const pause = PAUSES_MS[Math.min(triedRef.current, PAUSES_MS.length - 1)]!
    triedRef.current += 1
    const now = () => latestRef.current()
    const timer = setTimeout(now, Math.max(pause, (trouble.retryAfterSeconds ?? 0) * 1000))
    addEventListener('online', now)
    return () => {
      clearTimeout(timer)
      removeEventListener('online', now)
    }
  }, [trouble])
}
