import { useEffect, useRef, useState } from 'preact/hooks'
import { go, rewrite } from '../router.ts'
import type { ViewName } from '../views.ts'

/** Long enough for the next letter to come, short enough not to be waited for. */
const PAUSE_MS = 250

export interface Filters<Values> {
  /** What is asked for now. */
  values: Values
  /** A choice, which the button "back" takes away again. */
  choose: (change: Partial<Values>) => void
  /** Letters, which are asked for when they pause, and leave no steps behind. */
  type: (change: Partial<Values>) => void
}

/** The filters of a list, which stand in its address: a reload, a link and the way back show the same. */
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
