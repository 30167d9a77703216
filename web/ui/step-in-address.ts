/** Another page's messages in the address. They are shown once. */
const SHOWN_ONCE = { error: undefined, out: undefined }

/** The address holds the step, so that a reload and the "back" button do what a person expects. */
export function showStep(step: 'address' | 'code', change: Record<string, string | undefined> = {}): void {
  const url = changed({ ...SHOWN_ONCE, ...change, step: step === 'code' ? 'code' : undefined })
  if (step === 'code' && !isAtCode()) history.pushState({ begun: true }, '', url)
  else history.replaceState(history.state, '', url)
}

export const isAtCode = (): boolean => new URLSearchParams(location.search).get('step') === 'code'

/** Whether the step before is one entry back in the browser's history. */
export const canGoBack = (): boolean => (history.state as { begun?: boolean } | null)?.begun === true

function changed(change: Record<string, string | undefined>): string {
  const query = new URLSearchParams(location.search)
  for (const [name, value] of Object.entries(change)) {
    if (value === undefined) query.delete(name)
    else query.set(name, value)
  }
  const text = query.toString()
  return `${location.pathname}${text && `?${text}`}`
}
