/** The code that this browser waits for. */
export interface Asked {
  email: string
  /** When the last code was sent, and when the buyer may ask for another. */
  askedAt: number
  resendAt: number
  sent: number
  wrong: number
}

/** Kept for this tab alone: on a phone the browser may reload the page after the buyer has read the mail. */
const PLACE = 'till:library'
const CODE_MS = 600_000
const MOST_WRONG = 5

/** After a typing mistake the code is still good. After any other refusal it can never work again. */
export const whyRefused = ({ wrong, askedAt }: Asked): string =>
  wrong >= MOST_WRONG || Date.now() > askedAt + CODE_MS
    ? 'This code can no longer be used: it is too old, or was tried too often. Please ask for a new one.'
    : 'This code is not right. Please check the latest mail.'

export function keepAsked(asked: Asked | undefined): void {
  try {
    if (asked) sessionStorage.setItem(PLACE, JSON.stringify(asked))
    else sessionStorage.removeItem(PLACE)
  } catch {
    // When the browser forbids storing, the buyer asks for the code again after a reload.
  }
}

export function keptAsked(): Asked | undefined {
  try {
    return (JSON.parse(sessionStorage.getItem(PLACE) ?? 'null') as Asked | null) ?? undefined
  } catch {
    return undefined
  }
}

/** The address holds the step, so that a reload and the "back" button do what the buyer expects. */
export function showStep(step: 'ask' | 'code'): void {
  const url = step === 'code' ? `${location.pathname}?step=code` : location.pathname
  if (step === 'code' && !isAtCode()) history.pushState({ begun: true }, '', url)
  else history.replaceState(history.state, '', url)
}

export const isAtCode = (): boolean => new URLSearchParams(location.search).get('step') === 'code'
export const canGoBack = (): boolean => (history.state as { begun?: boolean } | null)?.begun === true
