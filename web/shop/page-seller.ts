import { ApiError, sendSeller } from '../ui/api.ts'
import { getSession, type CurrentSession } from '../ui/auth-api.ts'
import { forgetDrafts } from './drafts.ts'
import { leadAway } from './leaving.ts'

// In another tab another account can sign in. The session is then that account's, while this page still shows the one before.

let sellerId: string | undefined

/** The session, for whose seller the page is drawn from now on. When it is another seller's by then, the page is drawn anew. */
export async function currentSession(): Promise<CurrentSession> {
  const current = await getSession()
  if (sellerId === undefined) {
    sellerId = current.seller.id
    sendSeller(sellerId)
    addEventListener('focus', () => void look())
    document.addEventListener('visibilitychange', () => void look())
  }
  return current.seller.id === sellerId ? current : drawAnew()
}

/** The service did nothing, because the session is another seller's. */
export const isOtherAccount = (trouble: unknown): boolean =>
  trouble instanceof ApiError && trouble.code === 'other_account'

/** Leads to the same page for the other account, which must not see the texts of the one before. */
export function drawAnew(): Promise<never> {
  forgetDrafts({ keepUnanswered: true })
  leadAway(() => location.reload())
  return new Promise(() => {})
}

let looking = false

/** When the person comes back to the tab. Whatever else is the trouble, the next request says it. */
async function look(): Promise<void> {
  if (looking || document.visibilityState !== 'visible') return
  looking = true
  await currentSession().catch(() => {})
  looking = false
}
