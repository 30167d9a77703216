import { useEffect, useState } from 'preact/hooks'

/** Milliseconds since `since`, or since the first render. Updated every second. */
export function useElapsed(since?: number): number {
  const [first] = useState(() => Date.now())
  const [now, setNow] = useState(first)
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1000)
    return () => clearInterval(timer)
  }, [])
  return now - (since ?? first)
}
