import { returnPath } from '../../src/kit/return-path.ts'

const SHOP = '/shop/'
const NEW_PASSWORD = '/account/#password'

/** What the page's address says of who comes, and where they want to go. */
export interface Address {
  returnTo: string
  /** Why they were sent back here. */
  error: string | undefined
  /** A code is on its way already. */
  atCode: boolean
  /** Signed in, but not recently enough for what they are about to do. */
  again: boolean
  /** They have just signed out. */
  out: boolean
  /** The password is forgotten: after the code, the next thing is a new one. */
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

/** Where a signed-in seller goes. */
export const goalOf = ({ returnTo, forgot }: Address): string => (forgot ? NEW_PASSWORD : returnTo)

/** The step stands in the address, so that a reload and the button "back" mean what they look like. */
export function showStep(step: 'mailbox' | 'code', change: Record<string, string | undefined> = {}): void {
  const url = changed({ error: undefined, out: undefined, ...change, step: step === 'code' ? 'code' : undefined })
  if (step === 'code' && !readAddress().atCode) history.pushState({ begun: true }, '', url)
  else history.replaceState(history.state, '', url)
}

/** Whether the step before this one is one entry back. */
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
