/** Further requests do not wait. They get the order as it stands. */
const MOST_WAITS = 1000

/** Requests that wait for the payment of an order. */
export interface OrderWaits {
  /** Ends the waits for orders that this process has changed and committed. */
  end(orderIds: Iterable<string>): void
  /**
   * Reads an order. If `isOpen` holds for it, waits for something new: until it is closed or `isSame` no longer holds, for `ms`
   * milliseconds at most. It reads again when this process settles something about the order, and after a quarter of the time, because
   * another process may have settled the payment.
   */
  read<T>(orderId: string, reading: Reading<T>): Promise<T>
}

export interface Reading<T> {
  read: () => Promise<T>
  isOpen: (order: T) => boolean
  isSame: (before: T, now: T) => boolean
  ms: number
}

export function orderWaits(most = MOST_WAITS): OrderWaits {
  const waiting = new Map<string, Set<() => void>>()
  let count = 0
  /** Calls `onChange` until the returned function is called. */
  const listen = (orderId: string, onChange: () => void) => {
    const listeners = waiting.get(orderId) ?? new Set()
    waiting.set(orderId, listeners.add(onChange))
    count++
    return () => {
      count--
      listeners.delete(onChange)
      if (listeners.size === 0) waiting.delete(orderId)
    }
  }
  return {
    end(orderIds) {
      if (count > 0) for (const id of orderIds) for (const onChange of waiting.get(id) ?? []) onChange()
    },
    async read(orderId, { read, isOpen, isSame, ms }) {
      if (count >= most) return read()
      let change = Promise.withResolvers<void>()
      // before the first read, so that no change falls between
      const stop = listen(orderId, () => change.resolve())
      const over = new AbortController()
      const timers: NodeJS.Timeout[] = []
      try {
        const first = await read()
        let order = first
        const end = () => {
          over.abort()
          change.resolve()
        }
        timers.push(
          setTimeout(() => change.resolve(), ms / 4),
          setTimeout(end, ms),
        )
        while (isOpen(order) && isSame(first, order) && !over.signal.aborted) {
          await change.promise
          // before the read, as above
          change = Promise.withResolvers()
          order = await read()
        }
        return order
      } finally {
        timers.forEach(clearTimeout)
        stop()
      }
    },
  }
}
