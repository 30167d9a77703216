import { Trouble } from '../ui/api.ts'
import { signOut } from '../ui/auth-api.ts'
import { forgetDrafts, keep, recall } from './kept.ts'

const SIGN_IN = '/sign-in/?returnTo=/shop/'
/** Which view somebody was at who had to sign in first: the address behind the `#` does not travel. */
const WAY_BACK = 'till:shop-way-back'

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
  forgetDrafts()
  location.replace('/sign-in/?out=1')
  await new Promise(() => {})
}
