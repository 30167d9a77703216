/**
 * A change of mailbox that is under way. This tab keeps it, because a phone may drop the page while the seller looks
 * for the code in another app, and a fresh sign-in leads away from the page.
 */
export interface Moving {
  /** The seller whose change it is. Another seller who signs in here must not see it. */
  sellerId: string
  email: string
  /** When the seller may ask for another code. Absent: no code was sent yet. */
  resendAt?: number
  /** When the code was sent. */
  sentAt?: number
}

const PLACE = 'till:new-mailbox'
const CODE_MS = 10 * 60_000

export function readKept(sellerId: string): Moving | undefined {
  try {
    const moving = JSON.parse(sessionStorage.getItem(PLACE) ?? 'null') as Moving | null
    if (!moving?.email || moving.sellerId !== sellerId) return undefined
    const stale = moving.sentAt !== undefined && Date.now() - moving.sentAt > CODE_MS
    return stale ? { sellerId, email: moving.email } : moving
  } catch {
    return undefined
  }
}

export function keep(moving: Moving | undefined): void {
  try {
    if (moving) sessionStorage.setItem(PLACE, JSON.stringify(moving))
    else sessionStorage.removeItem(PLACE)
  } catch {
    // When the browser forbids storing, only a reload loses it.
  }
}
