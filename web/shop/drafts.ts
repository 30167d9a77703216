/** The names of all unsaved texts begin with this, so that signing out deletes them. */
export const DRAFTS = 'till:shop-draft:'

export function forgetDrafts(): void {
  try {
    for (const name of Object.keys(sessionStorage)) if (name.startsWith(DRAFTS)) sessionStorage.removeItem(name)
  } catch {
    // The browser forbids storing, so there is nothing to delete.
  }
}
