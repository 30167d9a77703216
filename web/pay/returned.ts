/** Where a bank or another app sends the buyer back to: this page, and which order it was about. */
export const returnUrl = (productId: string, orderId: string): string =>
  `${location.origin}${location.pathname}?${new URLSearchParams({ product: productId, order: orderId })}`

/**
 * The order of a buyer who comes back from a bank, and nothing else of what the address says: anybody can write one that
 * tells of a success. It is taken out of the address at once, since a secret of the payment is in it.
 */
export function takeReturn(): string | undefined {
  const asked = new URLSearchParams(location.search)
  const order = asked.get('order')
  const names = [...asked.keys()].filter((name) => /^(order|payment_intent.*|redirect_status|source_.*)$/.test(name))
  if (names.length === 0) return undefined
  for (const name of names) asked.delete(name)
  history.replaceState(history.state, '', `${location.pathname}?${asked}`)
  return order !== null && /^ord_[0-9a-z]{26}$/.test(order) ? order : undefined
}
