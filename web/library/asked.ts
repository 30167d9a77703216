/** The code that this browser waits for. */
export interface Asked {
  email: string
  /** When the last code was asked for, and when another one may be. */
  askedAt: number
  resendAt: number
  sent: number
  wrong: number
}

/** Kept for this tab alone: who reads the mail on the same phone may find the page loaded anew. */
const PLACE = 'till:library'
const CODE_MS = 600_000
const MOST_WRONG = 5

/** A code that is still good was mistyped; one that is not can never work again. */
export const whyRefused = ({ wrong, askedAt }: Asked): string =>
  wrong >= MOST_WRONG || Date.now() > askedAt + CODE_MS
    ? 'This code can no longer be used: it is too old, or was tried too often. Please ask for a new one.'
    : 'This code is not right. Please check the latest mail.'

export function keepAsked(asked: Asked | undefined): void {
  try {
    if (asked) sessionStorage.setItem(PLACE, JSON.stringify(asked))
    else sessionStorage.removeItem(PLACE)
  } catch {
    // Without it a reload asks again.
  }
}

export function keptAsked(): Asked | undefined {
  try {
    return (JSON.parse(sessionStorage.getItem(PLACE) ?? 'null') as Asked | null) ?? undefined
  } catch {
    return undefined
  }
}

/** The step stands in the address, so that a reload and the button "back" mean what they look like. */
export function showStep(step: 'ask' | 'code'): void {
  const url = step === 'code' ? `${location.pathname}?step=code` : location.pathname
  if (step === 'code' && !isAtCode()) history.pushState({ begun: true }, '', url)
  else history.replaceState(history.state, '', url)
}

export const isAtCode = (): boolean => new URLSearchParams(location.search).get('step') === 'code'
export const canGoBack = (): boolean => (history.state as { begun?: boolean } | null)?.begun === true
