/** The names of all unsaved texts begin with this, so that signing out deletes them. */
export const DRAFTS = 'till:shop-draft:'

export function forgetDrafts(): void {
  try {
    for (const name of Object.keys(sessionStorage)) if (name.startsWith(DRAFTS)) sessionStorage.removeItem(name)
  } catch {
    // The browser forbids storing, so there is nothing to delete.
  }
}

/** Reads a value that only this tab keeps. Undefined where the browser forbids storing. */
export function readKept(name: string): string | undefined {
  try {
    return sessionStorage.getItem(name) ?? undefined
  } catch {
    return undefined
  }
}

export function keep(name: string, text: string | undefined): void {
  try {
    if (text === undefined) sessionStorage.removeItem(name)
    else sessionStorage.setItem(name, text)
  } catch {
    // Without storage, only a reload loses it.
  }
}
