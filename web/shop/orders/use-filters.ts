import { useEffect, useRef, useState } from 'preact/hooks'
import { go, rewrite } from '../router.ts'
import type { ViewName } from '../views.ts'

/** Long enough for the next letter, and short enough that the seller does not wait. */
const PAUSE_MS = 250

export interface Filters<Values> {
  /** The filters of the present request. */
  values: Values
  /** Sets a filter. The "back" button undoes it. */
  choose: (change: Partial<Values>) => void
  /** Sets the search text. It applies after a pause and leaves no history entry. */
  type: (change: Partial<Values>) => void
}

/**
 * The filters of a list. The page's address holds them, so that a reload, a link and the way back show the same list.
 */
export function useFilters<Values extends Record<string, string>>(
  view: ViewName,
  query: URLSearchParams,
  names: Values,
): Filters<Values> {
  const said = read(query, names)
  const address = JSON.stringify(said)
  const [values, setValues] = useState(said)
  const timerRef = useRef<ReturnType<typeof setTimeout> | undefined>(undefined)
  const latestRef = useRef(values)
  const put = (next: Values) => {
    latestRef.current = next
    setValues(next)
  }
  useEffect(() => {
    clearTimeout(timerRef.current)
    put(JSON.parse(address) as Values)
  }, [address])
  useEffect(() => () => clearTimeout(timerRef.current), [])
  return {
    values,
    choose(change) {
      clearTimeout(timerRef.current)
      const next = { ...latestRef.current, ...change }
      put(next)
      go(view, '', given(next))
    },
    type(change) {
      clearTimeout(timerRef.current)
      latestRef.current = { ...latestRef.current, ...change }
      timerRef.current = setTimeout(() => {
        setValues(latestRef.current)
        rewrite(view, '', given(latestRef.current))
      }, PAUSE_MS)
    },
  }
}

const read = <Values extends Record<string, string>>(query: URLSearchParams, names: Values): Values =>
  Object.fromEntries(Object.keys(names).map((name) => [name, query.get(name) ?? ''])) as Values

const given = (values: Record<string, string>): Record<string, string> =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== ''))
