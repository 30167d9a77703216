import { useEffect, useState, type StateUpdater, type Dispatch } from 'preact/hooks'
import { DRAFTS } from '../shop/drafts.ts'
import { readTab, writeTab } from '../ui/tab-storage.ts'
import type { Seller } from '../ui/auth-api.ts'

/** Keeps the unsaved text of one form. */
type Keep = () => void

const changedForms = new Set<Keep>()

/** Keeps the unsaved text of every form of the page, because a fresh sign-in leads away from it and back. */
export const keepTyped = (): void => changedForms.forEach((keep) => keep())

interface SignedIn {
  get: () => { seller?: Seller }
}

/** The values of one form. `saved`: the values that the form shows when nothing was typed. */
export function useTyped<Typed>(account: SignedIn, part: string, saved: Typed): [Typed, Dispatch<StateUpdater<Typed>>] {
  // Each seller has a place: another one who signs in here must not see the text.
  const place = `${DRAFTS}account-${part}:${account.get().seller!.id}`
  const [typed, setTyped] = useState(() => readTab<Typed>(place) ?? saved)
  const savedText = JSON.stringify(saved)
  const isChanged = JSON.stringify(typed) !== savedText
  // Read once: on a later visit the seller sees the saved values.
  useEffect(() => writeTab(place, undefined), [place, savedText])
  useEffect(() => {
    if (!isChanged) return
    const keep = () => writeTab(place, typed)
    changedForms.add(keep)
    return () => void changedForms.delete(keep)
  }, [place, typed, isChanged])
  return [typed, setTyped]
}
