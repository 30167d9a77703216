/**
 * The address to which a bank or another app sends the buyer back: this page, with the order's id. The token tells the page where
 * the order leads on to, if the window does not know the order because a frame had begun the payment.
 */
export const returnUrl = (orderId: string, token: string): string =>
  `${location.href.split('#')[0]}&order=${orderId}&back=${token}`

/**
 * Reads the order's id from the address of a buyer who comes back from a bank, and nothing else: anybody can write an
 * address that claims success. It removes the rest from the address at once, because that contains a secret of the
 * payment.
 */
export function takeReturn(): { orderId: string; back: string } | undefined {
  const asked = new URLSearchParams(location.search)
  const orderId = asked.get('order') ?? ''
  const back = asked.get('back') ?? ''
  const names = [...asked.keys()].filter((name) =>
    /^(order|back|payment_intent.*|redirect_status|source_.*)$/.test(name),
  )
  if (names.length === 0) return undefined
  for (const name of names) asked.delete(name)
  // a buyer who comes from the order's page to pay stays here
  history.replaceState(history.state, '', `?${asked}${/^#pay$/.exec(location.hash) ?? ''}`)
  return /^ord_[0-9a-z]{26}$/.test(orderId) ? { orderId, back } : undefined
}
