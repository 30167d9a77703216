import { useEffect, useState } from 'preact/hooks'

/** Milliseconds since a moment, or since it was first asked, counted in steps of a second. */
export function useElapsed(since?: number): number {
  const [first] = useState(() => Date.now())
  const [now, setNow] = useState(first)
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1000)
    return () => clearInterval(timer)
  }, [])
  return now - (since ?? first)
}
