/** The names of all unsaved texts begin with this, so that signing out deletes them. */
export const DRAFTS = 'till:shop-draft:'

// Requests that move money and whose answer was lost, by their order or seller. The same request must be sent again, also after another
// account was here.
export const REFUND = `${DRAFTS}refund:`
export const OPERATOR_REFUND = `${DRAFTS}operator-refund:`
export const ADJUSTMENT = `${DRAFTS}adjustment:`
const UNANSWERED = [REFUND, OPERATOR_REFUND, ADJUSTMENT]

/** The key of a product that is being made. It is no typed text. */
export const PRODUCT_KEY = ':key'

/** Whether this tab keeps text that was typed and not saved, also of a form that is gone. */
export const keepsText = (): boolean => names(UNANSWERED).some((name) => !name.endsWith(PRODUCT_KEY))

export function forgetDrafts({ keepUnanswered = false } = {}): void {
  for (const name of names(keepUnanswered ? UNANSWERED : [])) sessionStorage.removeItem(name)
}

/** The names of what this tab keeps. Those that begin with one of `others` are left out. */
function names(others: string[]): string[] {
  try {
    return Object.keys(sessionStorage).filter(
      (name) => name.startsWith(DRAFTS) && !others.some((one) => name.startsWith(one)),
    )
  } catch {
    // The browser forbids storing, so there is nothing.
    return []
  }
}
