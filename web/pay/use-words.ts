import { useEffect, useState } from 'preact/hooks'
import type { Status } from '../ui/api.ts'
import type { Notice } from './state.ts'
import wordsUrl from './ended-words.json?url&no-inline'

/** The pause after texts that did not arrive. */
const AGAIN_MS = 4_000

/** Loads texts that few buyers read, and tries until they arrive. */
export function useWords<T>(load: () => Promise<T>): T | undefined {
  const [words, setWords] = useState<T>()
  useEffect(() => {
    let gone = false
    const ask = () => gone || load().then(setWords, () => setTimeout(ask, AGAIN_MS))
    void ask()
    return () => {
      gone = true
    }
  }, [load])
  return words
}

/**
 * The explanations by state of the order, and by why a try took no money. Loaded by fetch(): in many browsers an import() that has
 * failed once always fails.
 */
export const words = (): Promise<Partial<Record<Status | Notice, string>>> =>
  fetch(wordsUrl).then((answer) => answer.json())
