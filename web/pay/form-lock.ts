// A tab in which the buyer is paying right now holds its order, so that another tab does not take it for left behind. What a
// tab holds ends with it, whatever becomes of it.

const nameOf = (orderId: string): string => `till:paying:${orderId}`

/** Until the function that is returned is called. Browsers have locks on https and localhost only. */
export function hold(orderId: string): () => void {
  let release = () => {}
  const held = new Promise<void>((resolve) => (release = resolve))
  void navigator.locks?.request(nameOf(orderId), { mode: 'shared' }, () => held)
  return release
}

export async function isHeld(orderId: string): Promise<boolean> {
  const state = await navigator.locks?.query()
  return state?.held?.some(({ name }) => name === nameOf(orderId)) ?? false
}
