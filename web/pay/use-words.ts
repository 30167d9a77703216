import { useEffect, useState } from 'preact/hooks'

/** After words that did not come. */
const AGAIN_MS = 4_000

/** What only few buyers read comes later, and is asked for until it is there. */
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
