import { useEffect, useState } from 'preact/hooks'

/** What a page knows, in one value that is replaced and never changed in place. */
export interface Store<State> {
  get: () => State
  set: (change: Partial<State>) => void
  subscribe: (changed: () => void) => () => void
}

export function newStore<State extends object>(first: State): Store<State> {
  const listeners = new Set<() => void>()
  let state = first
  return {
    get: () => state,
    set: (change) => {
      state = { ...state, ...change }
      for (const changed of listeners) changed()
    },
    subscribe: (changed) => {
      listeners.add(changed)
      return () => void listeners.delete(changed)
    },
  }
}

export function useStore<State>({ get, subscribe }: Pick<Store<State>, 'get' | 'subscribe'>): State {
  const [state, setState] = useState(get)
  useEffect(() => {
    const follow = () => setState(get())
    // What happened between the first render and this is in the store already.
    follow()
    return subscribe(follow)
  }, [get, subscribe])
  return state
}
