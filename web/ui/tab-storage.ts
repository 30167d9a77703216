/** Reads a value that only this tab keeps: on a phone the browser may reload a page while the person reads a mail in another app. */
export function readTab<T>(name: string): T | undefined {
  try {
    return (JSON.parse(sessionStorage.getItem(name) ?? 'null') as T | null) ?? undefined
  } catch {
    return undefined
  }
}

export function writeTab(name: string, value: unknown): void {
  try {
    if (value === undefined) sessionStorage.removeItem(name)
    else sessionStorage.setItem(name, JSON.stringify(value))
  } catch {
    // When the browser forbids storing, only a reload loses the value.
  }
}
