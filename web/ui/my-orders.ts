import { read, write } from './storage.ts'

const PLACE = 'till:orders'
const MOST = 50

/** The orders made or opened in this browser and the address of each, newest first, so that the order page need not ask. */
interface Mine {
  orderId: string
  email: string
}

const all = (): Mine[] => read<Mine[]>(PLACE) ?? []

export const emailOf = (orderId: string): string | undefined => all().find((one) => one.orderId === orderId)?.email

export const forgetOrder = (orderId: string): void =>
  write(
    PLACE,
    all().filter((one) => one.orderId !== orderId),
  )

export function rememberOrder(orderId: string, email: string): void {
  if (emailOf(orderId) === email) return
  write(PLACE, [{ orderId, email }, ...all().filter((one) => one.orderId !== orderId)].slice(0, MOST))
}
