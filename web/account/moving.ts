/**
 * A mailbox that is being moved to: kept in this tab, since a phone may drop the page while its owner looks for the code
 * in another program, and a fresh sign-in leads away from it.
 */
export interface Moving {
  /** Whose: another who signs in here has nothing to do with it. */
  sellerId: string
  email: string
  /** When another code may be asked for. Absent: none was sent yet. */
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
    // Without a place to keep it, only a reload loses it.
  }
}
