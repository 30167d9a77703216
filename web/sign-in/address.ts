import { returnPath } from '../../src/kit/return-path.ts'

const SHOP = '/shop/'
const NEW_PASSWORD = '/account/#password'

/** What the page's address says about the seller and where they want to go. */
export interface Address {
  returnTo: string
  /** Why another page sent the seller here. */
  error: string | undefined
  /** A code is already on its way. */
  atCode: boolean
  /** The session is too old for what the seller wants to do. */
  again: boolean
  /** The seller has just signed out. */
  out: boolean
  /** The seller has forgotten the password: after the code they set a new one. */
  forgot: boolean
}

export function readAddress(): Address {
  const query = new URLSearchParams(location.search)
  return {
    returnTo: returnPath(query.get('returnTo'), SHOP),
    error: query.get('error') ?? undefined,
    atCode: query.get('step') === 'code',
    again: query.has('again'),
    out: query.has('out'),
    forgot: query.has('forgot'),
  }
}

/** The page for a signed-in seller. */
export const goalOf = ({ returnTo, forgot }: Address): string => (forgot ? NEW_PASSWORD : returnTo)

/** The address holds the step, so that a reload and the "back" button do what the seller expects. */
export function showStep(step: 'mailbox' | 'code', change: Record<string, string | undefined> = {}): void {
  const url = changed({ error: undefined, out: undefined, ...change, step: step === 'code' ? 'code' : undefined })
  if (step === 'code' && !readAddress().atCode) history.pushState({ begun: true }, '', url)
  else history.replaceState(history.state, '', url)
}

/** Whether the previous step is one history entry back. */
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
