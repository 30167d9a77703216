/** What was typed and not yet saved begins so; who signs out takes it along. */
export const DRAFTS = 'till:shop-draft:'

export function forgetDrafts(): void {
  try {
    for (const name of Object.keys(sessionStorage)) if (name.startsWith(DRAFTS)) sessionStorage.removeItem(name)
  } catch {
    // Nothing was kept either.
  }
}

/** What only this tab remembers; nothing where the browser forbids it. */
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
    // Without a place to keep it, only a reload loses it.
  }
}
