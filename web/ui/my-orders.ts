import { listen, names, read, write } from './storage.ts'

const PLACE = 'till:orders'
const MOST = 50

/**
 * The orders made or opened in this browser with their addresses, newest first, so that the order page need not ask.
 */
interface Mine {
  orderId: string
  email: string
  /** Proves to the service that this browser got the order from it. */
  token?: string | undefined
}

/** The name under which the payment page keeps its order for a product. */
export const placeOf = (productId: string): string => `till:product:${productId}`

export const emailOf = (orderId: string): string | undefined => find(orderId)?.email

/** The token of an order, from the link of its receipt or from this browser's storage. */
export const tokenOf = (orderId: string): string | undefined =>
  /^#t=([\w-]+)$/.exec(location.hash)?.[1] ?? find(orderId)?.token

export function rememberOrder(orderId: string, email: string, newToken?: string): void {
  const known = find(orderId)
  const isKnown = known?.email === email
  const token = newToken ?? (isKnown ? known.token : undefined)
  if (isKnown && known.token === token) return
  write(PLACE, [{ orderId, email, token }, ...without(orderId)].slice(0, MOST))
}

/** Deletes the order from this browser, also the payment page's copy of it. */
export function forgetOrder(orderId: string): void {
  write(PLACE, without(orderId))
  for (const place of names(placeOf(''))) {
    if (read<Partial<Mine>>(place)?.orderId === orderId) write(place, undefined)
  }
}

/** The same for all orders of an address. */
export function forgetEmail(email: string): void {
  for (const one of all()) if (one.email.toLowerCase() === email.toLowerCase()) forgetOrder(one.orderId)
}

/** Whether an order that was in the list was forgotten. A full list has dropped its oldest orders, which were not. */
export const isForgotten = (orderId: string): boolean => !find(orderId) && all().length < MOST

/** Calls back when another tab has forgotten this order. A page in the browser's cache hears of it when it comes back. */
export function whenForgotten(shown: () => string | undefined, forgotten: () => void): void {
  const look = () => {
    const orderId = shown()
    if (orderId && isForgotten(orderId)) forgotten()
  }
  listen(PLACE, look)
  addEventListener('pageshow', look)
}

const find = (orderId: string): Mine | undefined => all().find((one) => one.orderId === orderId)
const all = (): Mine[] => read<Mine[]>(PLACE) ?? []
const without = (orderId: string): Mine[] => all().filter((one) => one.orderId !== orderId)
