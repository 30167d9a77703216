import { useRef, useState } from 'preact/hooks'
import { getProduct, type Versioned } from '../api.ts'

/**
 * Reads the product again after a change. A save returns the product too, so a reading waits for the save that is running, and one that
 * overlaps with a later save is repeated. The answer that arrives last is then the newest.
 */
export function useReading(id: string, onRead: (newest: Versioned) => void) {
  const turnsRef = useRef({ asked: 0, shown: 0 })
  const lastSaveRef = useRef<Promise<unknown>>(Promise.resolve())
  const [trouble, setTrouble] = useState<unknown>()

  /** Returns whether the product was read. `trouble` says why not. */
  async function refresh(): Promise<boolean> {
    const lastSave = lastSaveRef.current
    await lastSave
    const turns = turnsRef.current
    const turn = ++turns.asked
    let newest: Versioned | undefined
    let failed: unknown
    try {
      newest = await getProduct(id)
    } catch (why) {
      failed = why
    }
    if (lastSaveRef.current !== lastSave) return refresh()
    if (newest && turn > turns.shown) {
      turns.shown = turn
      onRead(newest)
    }
    // The latest reading alone says whether the page is up to date.
    if (turn < turns.asked) return turns.shown === turns.asked
    setTrouble(failed)
    return newest !== undefined
  }

  /** Runs a request whose answer is the product. */
  function saving<Answer>(save: () => Promise<Answer>): Promise<Answer> {
    const saved = save()
    lastSaveRef.current = saved.catch(() => {})
    return saved
  }

  return { refresh, saving, trouble }
}
