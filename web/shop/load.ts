import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import { ApiError } from '../ui/api.ts'
import { useRecovery } from '../ui/recovery.ts'
import type { List } from './api.ts'

/**
 * For a part of the page that is loaded on demand. When it does not arrive, it throws the same error as an unanswered
 * request.
 */
export const fetched = <Part>(part: Promise<Part>): Promise<Part> =>
  part.catch(() => {
    throw new ApiError({ code: 'unreachable' })
  })

/** A value that is being loaded. The last answer stays while a new request runs. */
export interface Loaded<Value> {
  value: Value | undefined
  trouble: unknown
  busy: boolean
  again: () => void
  /** Replaces the value by a newer one that another request returned. */
  put: (value: Value) => void
  /** Changes the value that is there by then. */
  turn: (change: (value: Value) => Value) => void
}

/**
 * Asks when the view appears and whenever `key` changes, and drops an answer that arrives too late: for another key, or
 * after a newer value was put. When the service cannot be reached, it asks again by itself, and reports the trouble until
 * an answer arrives.
 */
export function useLoad<Value>(key: string, ask: () => Promise<Value>): Loaded<Value> {
  const [state, setState] = useState<Pick<Loaded<Value>, 'value' | 'trouble' | 'busy'> & { key: string }>()
  const [{ tries, quietly }, setTries] = useState({ tries: 0, quietly: false })
  const askedRef = useRef<{ key: string; isOvertaken: boolean }>(undefined)
  useEffect(() => {
    const asked = { key, isOvertaken: false }
    askedRef.current = asked
    setState((before) => ({
      value: before?.key === key ? before.value : undefined,
      trouble: quietly && before?.key === key ? before.trouble : undefined,
      busy: true,
      key,
    }))
    ask().then(
      (value) => asked.isOvertaken || setState({ value, trouble: undefined, busy: false, key }),
      (trouble: unknown) =>
        asked.isOvertaken || setState((before) => ({ value: before?.value, trouble, busy: false, key })),
    )
    return () => {
      asked.isOvertaken = true
    }
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- `ask` is new at every render; another request has another `key`
  }, [key, tries])
  const present = state?.key === key ? state : undefined
  useRecovery(present?.trouble, () => setTries(({ tries: count }) => ({ tries: count + 1, quietly: true })))
  return {
    value: present?.value,
    trouble: present?.trouble,
    busy: present?.busy ?? true,
    again: useCallback(() => setTries(({ tries: count }) => ({ tries: count + 1, quietly: false })), []),
    put: useCallback(
      (value: Value) => {
        if (askedRef.current?.key === key) askedRef.current.isOvertaken = true
        setState((before) => (before?.key === key ? { value, trouble: undefined, busy: false, key } : before))
      },
      [key],
    ),
    turn: useCallback(
      (change: (value: Value) => Value) =>
        setState((before) =>
          before?.key === key && before.value !== undefined
            ? { value: change(before.value), trouble: undefined, busy: false, key }
            : before,
        ),
      [key],
    ),
  }
}

/** A list that comes in pages. Each page is appended to the ones before. */
export interface Listed<Item> extends Omit<Loaded<Item[]>, 'put' | 'turn'> {
  /** Asks for the next page. Absent at the end of the list. */
  more: (() => void) | undefined
  /** Why the next page did not come, and how often the seller has asked for it. */
  moreTrouble: unknown
  moreTries: number
  /** Changes the items after a change made here. */
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
  const { value, turn: turnPages } = first
  const cursor = value?.nextCursor
  // The state of another filter's list does not apply to this one.
  const rest = told.key === key ? told : atRest(key)
  useEffect(() => setTold((present) => (present.key === key ? present : atRest(key))), [key])
  /** An automatic try leaves the message on the screen: it takes no focus and does not restart the pauses. */
  const next = async (quietly: boolean) => {
    if (!value || !cursor || rest.busy) return
    const asked = { key, tries: quietly ? rest.tries : rest.tries + 1 }
    const tell = (to: Rest) => setTold((present) => (present.key === key || to.busy ? to : present))
    tell({ ...asked, busy: true, trouble: quietly ? rest.trouble : undefined })
    try {
      const page = await ask(cursor)
      // The list can have been read anew during the request. If it ends elsewhere by now, this page is dropped.
      turnPages((present) =>
        present.nextCursor === cursor
          ? { items: [...present.items, ...page.items], nextCursor: page.nextCursor }
          : present,
      )
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
    // An answer that is on its way may be older than the change.
    change: (turn) => (value ? turnPages((present) => ({ ...present, items: turn(present.items) })) : first.again()),
  }
}
