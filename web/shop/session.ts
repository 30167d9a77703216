import { isSigningOut, signOut, whySignedOut } from '../ui/auth-api.ts'
import { keepView } from '../ui/way-back.ts'
import { forgetDrafts } from './drafts.ts'
import { leadAway } from './leaving.ts'
import { drawAnew, isOtherAccount } from './page-seller.ts'

const SIGN_IN = '/sign-in/?returnTo=/shop/'
export const SIGN_IN_AGAIN = `${SIGN_IN}&again=1`
export const WAY_BACK = 'till:shop-way-back'

/** Does something as the seller. Without a session, leads to the sign-in page and back to this view. */
export async function asSeller<Answer>(work: () => Promise<Answer>): Promise<Answer> {
  try {
    const answer = await work()
    wasSignedIn = true
    return answer
  } catch (trouble) {
    if (isOtherAccount(trouble)) return drawAnew()
    const why = whySignedOut(trouble, wasSignedIn)
    if (why === undefined) throw trouble
    if (!isSigningOut) {
      keepView(WAY_BACK)
      leadAway(() => location.replace(SIGN_IN + why))
    }
    // The browser is leaving the page, so nothing more appears on it.
    return new Promise<Answer>(() => {})
  }
}

/** Asks for a fresh sign-in and leads back to this view. */
export function signInAgain(): void {
  keepView(WAY_BACK)
  location.assign(SIGN_IN_AGAIN)
}

/** Whether the seller was signed in while this page was open. */
let wasSignedIn = false

export async function leave(): Promise<void> {
  await signOut()
  forgetDrafts()
  leadAway(() => location.replace('/sign-in/?out=1'))
  await new Promise(() => {})
}
