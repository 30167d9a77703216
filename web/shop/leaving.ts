// The browser asks about unsaved changes also when this page leads away by itself. A seller who stayed would have a page without a session.

let isLeaving = false

/** The page leads away by itself, by `go`. What it keeps is kept by now. */
export function leadAway(go: () => void): void {
  isLeaving = true
  go()
}

/** Lets the browser ask whether to leave the page. */
export function askBeforeLeaving(event: BeforeUnloadEvent): void {
  if (!isLeaving) event.preventDefault()
}
