import { useEffect } from 'preact/hooks'
import { keepsText } from './drafts.ts'

// The browser asks about unsaved changes also when this page leads away by itself. A seller who stayed would have a page without a session.

let isLeaving = false

/** The page leads away by itself, by `go`. What it keeps is kept by now. */
export function leadAway(go: () => void): void {
  isLeaving = true
  go()
}

const losses = new Set<() => boolean>()

/** Whether signing out would lose something. It deletes the text that the tab keeps, also of a form that is gone. */
export const wouldLose = (): boolean => keepsText() || [...losses].some((loses) => loses())

/** From now on the browser asks whether to leave the page, while `loses` says so. Returns the way to end that. */
export function askWhile(loses: () => boolean): () => void {
  const ask = (event: BeforeUnloadEvent) => {
    if (!isLeaving && loses()) event.preventDefault()
  }
  losses.add(loses)
  addEventListener('beforeunload', ask)
  return () => {
    losses.delete(loses)
    removeEventListener('beforeunload', ask)
  }
}

/** Asks before text is lost that was typed and not saved. */
export function useLeavingQuestion(isChanged: boolean): void {
  useEffect(() => (isChanged ? askWhile(() => true) : undefined), [isChanged])
}
