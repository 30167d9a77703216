import { readTab, writeTab } from './tab-storage.ts'

// The address behind the `#` does not survive the way to the sign-in page and back, so the tab keeps it. Each page has a key of its own.

/** Keeps the present view, to return to it after signing in. */
export const keepView = (key: string): void => writeTab(key, location.hash)

/** Leads back to the view from which the sign-in page was opened. */
export function returnToView(key: string): void {
  const hash = readTab<string>(key)
  writeTab(key, undefined)
  if (hash?.startsWith('#/') && !location.hash) history.replaceState(null, '', hash)
}
