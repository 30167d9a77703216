import { useLayoutEffect, useState } from 'preact/hooks'
import { VIEWS, type ViewName } from './views.ts'

export interface Place {
  /** Absent: no view has this address. */
  view: ViewName | undefined
  id: string
  query: URLSearchParams
}

/** The part of the address behind the `#` names the view, so that the page works on any static host. */
function placeOf(hash: string): Place {
  const [path = '', query = ''] = hash.replace(/^#?\/?/, '').split('?', 2)
  const parts = path.split('/').filter(Boolean)
  const view = (Object.keys(VIEWS) as ViewName[]).find((name) => {
    const pattern = VIEWS[name].at.split('/').filter(Boolean)
    return pattern.length === parts.length && pattern.every((part, at) => part === ':id' || part === parts[at])
  })
  const at = view ? VIEWS[view].at.split('/').indexOf(':id') : -1
  return { view, id: at < 0 ? '' : decoded(parts[at]!), query: new URLSearchParams(query) }
}

/** `address('product', 'prod_1')` → `#/products/prod_1` */
export function address(view: ViewName, id = '', query: Record<string, string> = {}): string {
  const text = new URLSearchParams(query).toString()
  return `#/${VIEWS[view].at.replace(':id', encodeURIComponent(id))}${text && `?${text}`}`
}

/** Leads to a view. `replace` adds no history entry. */
export function go(view: ViewName, id = '', query: Record<string, string> = {}, replace = false): void {
  const hash = address(view, id, query)
  if (replace) location.replace(hash)
  else location.hash = hash
}

/** Whether the address names this view. The click on a link changes the address before its event shows the new view. */
export function isAt(view: ViewName, id = ''): boolean {
  const place = placeOf(location.hash)
  return place.view === view && place.id === id
}

/**
 * Writes a view's search or filter into the address without an event, so that a reload shows the same. It changes
 * nothing once the address names another view: the click on a link must not be undone.
 */
export function rewrite(view: ViewName, id = '', query: Record<string, string> = {}): void {
  if (!isAt(view, id)) return
  history.replaceState(history.state, '', address(view, id, query))
}

export function usePlace(): Place {
  const [place, setPlace] = useState(() => placeOf(location.hash))
  // A layout effect runs before the first click can come; an effect may run after it.
  useLayoutEffect(() => {
    const follow = () => setPlace(placeOf(location.hash))
    addEventListener('hashchange', follow)
    return () => removeEventListener('hashchange', follow)
  }, [])
  return place
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}
