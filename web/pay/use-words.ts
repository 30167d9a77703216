import { useEffect, useState } from 'preact/hooks'

/** What only few buyers read comes later, and the page can do without it. */
export function useWords<T>(load: () => Promise<T>): T | undefined {
  const [words, setWords] = useState<T>()
  useEffect(() => {
    load().then(setWords, () => {})
  }, [load])
  return words
}
