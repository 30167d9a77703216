import { Trouble } from '../ui/api.ts'
import { signOut } from '../ui/auth-api.ts'

const SIGN_IN = '/sign-in/?returnTo=/shop/'
/** Which view somebody was at who had to sign in first: the address behind the `#` does not travel. */
const WAY_BACK = 'till:shop-way-back'
/** What was typed and not yet saved begins so; who signs out takes it along. */
export const DRAFTS = 'till:shop-draft:'

/** Does something as the seller. Where nobody is signed in (any more), leads to the sign-in page and back to this view. */
export async function asSeller<Answer>(work: () => Promise<Answer>): Promise<Answer> {
  try {
    const answer = await work()
    known = true
    return answer
  } catch (trouble) {
    if (!(trouble instanceof Trouble && trouble.code === 'not_signed_in')) throw trouble
    keep(WAY_BACK, location.hash)
    location.replace(known ? `${SIGN_IN}&error=session_ended` : SIGN_IN)
    // The page is being left: nothing more is to be shown on it.
    return new Promise<Answer>(() => {})
  }
}

/** Whether somebody was signed in while this page was open. */
let known = false

/** Back to the view from which the sign-in page was reached. */
export function returnToView(): void {
  const hash = recall(WAY_BACK)
  keep(WAY_BACK, undefined)
  if (hash?.startsWith('#/') && !location.hash) history.replaceState(null, '', hash)
}

export async function leave(): Promise<void> {
  await signOut()
  try {
    for (const name of Object.keys(sessionStorage)) if (name.startsWith(DRAFTS)) sessionStorage.removeItem(name)
  } catch {
    // Nothing was kept either.
  }
  location.replace('/sign-in/?out=1')
  await new Promise(() => {})
}

/** What only this tab remembers; nothing where the browser forbids it. */
export function recall(name: string): string | undefined {
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
