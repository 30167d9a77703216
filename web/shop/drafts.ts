/** The names of all unsaved texts begin with this, so that signing out deletes them. */
export const DRAFTS = 'till:shop-draft:'

// Requests that move money and whose answer was lost, by their order or seller. The same request must be sent again, also after another
// account was here.
export const REFUND = `${DRAFTS}refund:`
export const OPERATOR_REFUND = `${DRAFTS}operator-refund:`
export const ADJUSTMENT = `${DRAFTS}adjustment:`
const UNANSWERED = [REFUND, OPERATOR_REFUND, ADJUSTMENT]

export function forgetDrafts({ keepUnanswered = false } = {}): void {
  const kept = keepUnanswered ? UNANSWERED : []
  try {
    for (const name of Object.keys(sessionStorage))
      if (name.startsWith(DRAFTS) && !kept.some((one) => name.startsWith(one))) sessionStorage.removeItem(name)
  } catch {
    // The browser forbids storing, so there is nothing to delete.
  }
}
