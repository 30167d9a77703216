import { useLayoutEffect } from 'preact/hooks'
import { keepsText } from './drafts.ts'

// The browser asks about unsaved changes also when this page leads away by itself. A seller who stayed would have a page without a session.

let isLeaving = false

/** The page leads away by itself, by `go`. What it keeps is kept by now. */
export function leadAway(go: () => void): void {
  isLeaving = true
  go()
}

const TEXT = 'Unsaved text will be lost.'
/** Each with a sentence about what is lost. Signing out deletes the text that the tab keeps. A link that leads away does not. */
const losses = new Map([[keepsText, TEXT]])

/** Signing out would lose this, in sentences. Empty: it loses nothing. */
export const wouldLose = (): string =>
  [...new Set([...losses].flatMap(([loses, what]) => (loses() ? what : [])))].join(' ')

/** From now on the browser asks whether to leave the page, while `loses` says so. Returns the way to end that. */
export function askWhile(loses: () => boolean, what: string): () => void {
  const ask = (event: BeforeUnloadEvent) => {
    if (!isLeaving && loses()) event.preventDefault()
  }
  losses.set(loses, what)
  addEventListener('beforeunload', ask)
  return () => {
    losses.delete(loses)
    removeEventListener('beforeunload', ask)
  }
}

/** Asks before text is lost that was typed and not saved. */
export function useLeavingQuestion(isChanged: boolean): void {
  useLayoutEffect(() => (isChanged ? askWhile(() => true, TEXT) : undefined), [isChanged])
}
