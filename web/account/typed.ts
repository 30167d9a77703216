import { useEffect, useState, type StateUpdater, type Dispatch } from 'preact/hooks'
import { leadAway, useLeavingQuestion } from '../shop/leaving.ts'
import { DRAFTS } from '../shop/drafts.ts'
import { readTab, writeTab } from '../ui/tab-storage.ts'
import type { Seller } from '../ui/auth-api.ts'

/** Keeps the unsaved text of one form. */
type Keep = () => void

const changedForms = new Set<Keep>()

/** Keeps the unsaved text of every form of the page, because a fresh sign-in leads away from it and back, without a question. */
export function keepTyped(press?: MouseEvent): void {
  // The link opens another tab or window, and this page stays.
  if (press?.ctrlKey || press?.metaKey || press?.shiftKey) return
  leadAway(() => changedForms.forEach((keep) => keep()))
}

interface SignedIn {
  get: () => { seller?: Seller }
}

/**
 * The values of a form whose saved values another tab can change meanwhile. What was typed stays together with the values that the form
 * began with, so that a save can send `changes` alone, or put them on top of the present values.
 */
export function useTypedOver<Typed extends object>(account: SignedIn, part: string, saved: Typed) {
  const begun = { typed: saved, base: saved }
  // Another tab can save meanwhile, and this form has nothing unsaved then.
  const [{ typed, base }, setState] = useTyped(account, part, begun, ({ typed, base }) => differ(typed, base))
  return {
    typed,
    changes: changedIn(typed, base),
    change: (to: Partial<Typed>) => setState({ typed: { ...typed, ...to }, base }),
    /** Shows saved values. Text that was typed during the request stays, on top of them. */
    settle: (values: Typed) =>
      setState((present) => ({ typed: { ...values, ...changedIn(present.typed, typed) }, base: values })),
  }
}

/** The fields of `typed` that differ from `base`. */
const changedIn = <Typed extends object>(typed: Typed, base: Typed): Partial<Typed> =>
  Object.fromEntries(
    Object.entries(typed).filter(([name, value]) => value !== base[name as keyof Typed]),
  ) as Partial<Typed>

const differ = (one: unknown, other: unknown): boolean => JSON.stringify(one) !== JSON.stringify(other)

/** The values of one form. `saved`: the values that the form shows when nothing was typed. `isUnsaved`: whether something was. */
export function useTyped<Typed>(
  account: SignedIn,
  part: string,
  saved: Typed,
  isUnsaved = (typed: Typed) => differ(typed, saved),
): [Typed, Dispatch<StateUpdater<Typed>>] {
  // Each seller has a place: another one who signs in here must not see the text.
  const place = `${DRAFTS}account-${part}:${account.get().seller!.id}`
  const [typed, setTyped] = useState(() => readTab<Typed>(place) ?? saved)
  const savedText = JSON.stringify(saved)
  const isChanged = isUnsaved(typed)
  // Read once: on a later visit the seller sees the saved values.
  useEffect(() => writeTab(place, undefined), [place, savedText])
  useLeavingQuestion(isChanged)
  useEffect(() => {
    if (!isChanged) return
    const keep = () => writeTab(place, typed)
    changedForms.add(keep)
    return () => void changedForms.delete(keep)
  }, [place, typed, isChanged])
  return [typed, setTyped]
}
