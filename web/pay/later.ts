import { useEffect, useState } from 'preact/hooks'
import { wordsOf } from '../ui/language.ts'
import { LANGUAGE } from '../ui/page-data.ts'

// Parts beyond the first screen are in files of their own, which the page loads by import(). They import from the page as
// any module does: the build puts the shared parts into the global `tillPage`, see scripts/later-files.ts.

declare global {
  var tillPage: {
    /** Each later file brings the texts that only it needs. */
    words: object
    language: string
    /** Added to the address of a later file. */
    again: string
  }
}

Object.assign((globalThis.tillPage ??= {} as typeof tillPage), {
  words: { ui: wordsOf('ui'), pay: wordsOf('pay') },
  language: LANGUAGE,
  again: '',
})

/** The pause after a file that did not arrive. */
const AGAIN_MS = 4_000

/** A file that is there already shows without a moment in between. */
const arrived = new Map<unknown, unknown>()

export interface Later<T> {
  loaded: T | undefined
  /** It has not arrived so far. The page goes on trying. */
  failed: boolean
  /** Tries now. */
  again: () => void
}

/** Loads a later file once it is `wanted`, and tries until it arrives. */
export function useLater<T>(load: () => Promise<T>, wanted = true): Later<T> {
  const [loaded, setLoaded] = useState(() => arrived.get(load) as T | undefined)
  const [failed, setFailed] = useState(false)
  const [tries, setTries] = useState(0)
  const again = () => setTries((before) => before + 1)
  const isMissing = wanted && !loaded
  useEffect(() => {
    if (!isMissing) return
    let timer: ReturnType<typeof setTimeout> | undefined
    let gone = false
    // Many browsers do not ask again for a file that failed once, so each try has an address of its own.
    tillPage.again = tries ? `?${tries}` : ''
    load().then(
      (file) => {
        arrived.set(load, file)
        if (!gone) setLoaded(() => file)
      },
      () => {
        if (gone) return
        setFailed(true)
        timer = setTimeout(again, AGAIN_MS)
      },
    )
    tillPage.again = ''
    addEventListener('online', again)
    return () => {
      gone = true
      clearTimeout(timer)
      removeEventListener('online', again)
    }
  }, [load, isMissing, tries])
  return { loaded, failed: failed && isMissing, again }
}
