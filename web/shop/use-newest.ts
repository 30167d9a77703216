import { useRef } from 'preact/hooks'

/** Asks, and returns the answer. Returns undefined where the answer to a later request has arrived before. */
export function useNewest<Asked extends unknown[], Answer>(
  ask: (...asked: Asked) => Promise<Answer>,
): (...asked: Asked) => Promise<Answer | undefined> {
  const turnsRef = useRef({ asked: 0, shown: 0 })
  return async (...asked) => {
    const turns = turnsRef.current
    const turn = ++turns.asked
    const answer = await ask(...asked)
    if (turn < turns.shown) return undefined
    turns.shown = turn
    return answer
  }
}
