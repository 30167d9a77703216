import { useEffect, useRef } from 'preact/hooks'
import { ApiError } from '../../../ui/api.ts'

const PAUSE_MS = 4_000
const LONGEST_PAUSE_MS = 60_000

/**
 * Does something every few seconds while the page is visible and `isOn`. It waits for the last time to end. While the service does not
 * answer, or asks for a rest, the pauses grow.
 */
export function usePoll(work: () => Promise<void>, isOn: boolean): void {
  const workRef = useRef(work)
  useEffect(() => {
    workRef.current = work
  })
  useEffect(() => {
    if (!isOn) return
    let timer: ReturnType<typeof setTimeout> | undefined
    let isRunning = false
    let pauseMs = PAUSE_MS
    let isOver = false
    const plan = () => {
      clearTimeout(timer)
      if (!isOver && !document.hidden) timer = setTimeout(() => void run(), pauseMs)
    }
    const run = async () => {
      if (isRunning) return
      isRunning = true
      await workRef.current().then(
        () => (pauseMs = PAUSE_MS),
        (trouble: unknown) => {
          const asked = trouble instanceof ApiError ? (trouble.retryAfterSeconds ?? 0) * 1000 : 0
          pauseMs = Math.max(asked, Math.min(pauseMs * 2, LONGEST_PAUSE_MS))
        },
      )
      isRunning = false
      plan()
    }
    const show = () => (document.hidden ? clearTimeout(timer) : void run())
    document.addEventListener('visibilitychange', show)
    plan()
    return () => {
      isOver = true
      clearTimeout(timer)
      document.removeEventListener('visibilitychange', show)
    }
  }, [isOn])
}
