import { useEffect, useRef } from 'preact/hooks'
import { usePoll } from './use-poll.ts'

/** Looks again while it `isNeeded`, and at once when something else has shown that the value `isBehind`. */
export function useFresh(look: () => Promise<void>, { isNeeded, isBehind }: { isNeeded: boolean; isBehind: boolean }) {
  usePoll(look, isNeeded)
  const lookRef = useRef(look)
  useEffect(() => {
    lookRef.current = look
  })
  useEffect(() => {
    // a look that fails is made up for by the next one, or when the seller opens the delivery again
    if (isBehind) lookRef.current().catch(() => {})
  }, [isBehind])
}
