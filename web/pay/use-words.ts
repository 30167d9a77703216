import { useEffect, useState } from 'preact/hooks'

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
