import { useEffect, useState } from 'preact/hooks'

/** The state of a page: one value that is replaced and never changed in place. */
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
    // The state may have changed between the first render and this effect.
    follow()
    return subscribe(follow)
  }, [get, subscribe])
  return state
}
