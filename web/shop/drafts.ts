/** The names of all unsaved texts begin with this, so that signing out deletes them. */
export const DRAFTS = 'till:shop-draft:'

/** A refund whose answer was lost, by its order. The same request must be sent again, also after another account was here. */
export const REFUND = `${DRAFTS}refund:`

export function forgetDrafts({ keep }: { keep?: string } = {}): void {
  try {
    for (const name of Object.keys(sessionStorage))
      if (name.startsWith(DRAFTS) && !(keep && name.startsWith(keep))) sessionStorage.removeItem(name)
  } catch {
    // The browser forbids storing, so there is nothing to delete.
  }
}
