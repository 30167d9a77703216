import { CODE_SECONDS } from '../../src/kit/code-limits.ts'
import { readTab, writeTab } from '../ui/tab-storage.ts'

/**
 * A change of mailbox that is under way. This tab keeps it, because a phone may drop the page while the seller looks
 * for the code in another app, and a fresh sign-in leads away from the page.
 */
export interface MailboxChange {
  /** The seller whose change it is. Another seller who signs in here must not see it. */
  sellerId: string
  /** The typed address. */
  email: string
  /** The session that sent the code. In another one the code does not work. */
  sessionId?: string
  /** When the seller may ask for another code. Absent: no code was sent yet. */
  resendAt?: number
  /** When the code was sent. */
  sentAt?: number
}

const PLACE = 'till:new-mailbox'

export function savedChange(sellerId: string, sessionId: string): MailboxChange | undefined {
  const change = readTab<MailboxChange>(PLACE)
  if (!change?.email || change.sellerId !== sellerId) return undefined
  const { sentAt } = change
  const isOver = sentAt !== undefined && (change.sessionId !== sessionId || Date.now() - sentAt > CODE_SECONDS * 1000)
  return isOver ? { sellerId, email: change.email } : change
}

export const saveChange = (change: MailboxChange | undefined): void => writeTab(PLACE, change)
