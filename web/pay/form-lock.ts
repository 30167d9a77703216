// A tab in which the buyer is paying holds a lock on its order, so that another tab does not treat the attempt as abandoned.
// The browser releases the lock when the tab ends in any way.

const nameOf = (orderId: string): string => `till:paying:${orderId}`

/** Holds the lock until the caller calls the returned function. Browsers have locks on https and localhost only. */
export function hold(orderId: string): () => void {
  let release = () => {}
  const held = new Promise<void>((resolve) => (release = resolve))
  // In a frame the browser may forbid them, and there no other tab has the order.
  navigator.locks?.request(nameOf(orderId), { mode: 'shared' }, () => held).catch(() => {})
  return release
}

export async function isHeld(orderId: string): Promise<boolean> {
  const state = await navigator.locks?.query().catch(() => undefined)
  return state?.held?.some(({ name }) => name === nameOf(orderId)) ?? false
}
