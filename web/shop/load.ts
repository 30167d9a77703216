import { useCallback, useEffect, useState } from 'preact/hooks'
import { ApiError } from '../ui/api.ts'
import { useRecovery } from '../ui/recovery.ts'
import type { List } from './api.ts'

/** A part of the page that is fetched when it is needed. That it does not come is told as an answer that does not. */
export const fetched = <Part>(part: Promise<Part>): Promise<Part> =>
  part.catch(() => {
    throw new ApiError({ code: 'unreachable' })
  })

/** Something that is asked for. While it is asked for again, the last answer stays. */
export interface Loaded<Value> {
  value: Value | undefined
  trouble: unknown
  busy: boolean
  again: () => void
  /** Puts a newer answer in its place, one that another request gave. */
  put: (value: Value) => void
}

/**
 * Asks when the view appears and whenever `key` changes; an answer that came too late for its key is dropped. Where the service could
 * not be reached it asks again by itself, and says so until there is an answer.
 */
export function useLoad<Value>(key: string, ask: () => Promise<Value>): Loaded<Value> {
  const [state, setState] = useState<Pick<Loaded<Value>, 'value' | 'trouble' | 'busy'> & { key: string }>()
  const [{ tries, quietly }, setTries] = useState({ tries: 0, quietly: false })
  useEffect(() => {
    let current = true
    setState((before) => ({
      value: before?.key === key ? before.value : undefined,
      trouble: quietly && before?.key === key ? before.trouble : undefined,
      busy: true,
      key,
    }))
    ask().then(
      (value) => current && setState({ value, trouble: undefined, busy: false, key }),
      (trouble: unknown) => current && setState((before) => ({ value: before?.value, trouble, busy: false, key })),
    )
    return () => {
      current = false
    }
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- `ask` is new at every render; what it asks for is what `key` says
  }, [key, tries])
  const present = state?.key === key ? state : undefined
  useRecovery(present?.trouble, () => setTries(({ tries: count }) => ({ tries: count + 1, quietly: true })))
  return {
    value: present?.value,
    trouble: present?.trouble,
    busy: present?.busy ?? true,
    again: useCallback(() => setTries(({ tries: count }) => ({ tries: count + 1, quietly: false })), []),
    put: useCallback(
      (value: Value) =>
        setState((before) => (before?.key === key ? { value, trouble: undefined, busy: false, key } : before)),
      [key],
    ),
  }
}

/** A list that comes in pages, which are put behind one another. */
export interface Listed<Item> extends Omit<Loaded<Item[]>, 'put'> {
  /** Asks for the next page; absent at the end. */
  more: (() => void) | undefined
  /** Why the next page did not come, and how often somebody has asked for it. */
  moreTrouble: unknown
  moreTries: number
  /** Replaces one entry after it was changed here. */
  change: (turn: (items: Item[]) => Item[]) => void
}

interface Rest {
  key: string
  busy: boolean
  trouble: unknown
  tries: number
}
const atRest = (key: string): Rest => ({ key, busy: false, trouble: undefined, tries: 0 })

export function useList<Item>(key: string, ask: (cursor: string | undefined) => Promise<List<Item>>): Listed<Item> {
  const first = useLoad(key, () => ask(undefined))
  const [told, setTold] = useState<Rest>(atRest(key))
  const { value, put } = first
  const cursor = value?.nextCursor
  // what was told of another filter's list says nothing about this one
  const rest = told.key === key ? told : atRest(key)
  useEffect(() => setTold((present) => (present.key === key ? present : atRest(key))), [key])
  /** A try that nobody asked for leaves on the screen what is told there: it takes no focus and begins no pauses anew. */
  const next = async (quietly: boolean) => {
    if (!value || !cursor || rest.busy) return
    const asked = { key, tries: quietly ? rest.tries : rest.tries + 1 }
    const tell = (to: Rest) => setTold((present) => (present.key === key || to.busy ? to : present))
    tell({ ...asked, busy: true, trouble: quietly ? rest.trouble : undefined })
    try {
      const page = await ask(cursor)
      put({ items: [...value.items, ...page.items], nextCursor: page.nextCursor })
      tell({ ...asked, busy: false, trouble: undefined })
    } catch (trouble) {
      tell({ ...asked, busy: false, trouble })
    }
  }
  useRecovery(rest.trouble, () => void next(true))
  return {
    value: value?.items,
    trouble: first.trouble,
    busy: first.busy || rest.busy,
    again: first.again,
    moreTrouble: rest.trouble,
    moreTries: rest.tries,
    more: cursor ? () => void next(false) : undefined,
    // an answer that is under way may be older than the change
    change: (turn) => (value ? put({ ...value, items: turn(value.items) }) : first.again()),
  }
}
