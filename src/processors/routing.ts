import type { Processor } from './processor.ts'

/** Whom each currency goes to first, where it is configured. All others, and all other currencies, in the order of PROCESSORS. */
const FIRST: Readonly<Record<string, readonly string[]>> = {
  // UPI, netbanking and the wallets of India are there, and nowhere else
  INR: ['razorpay'],
}

/**
 * Which processor serves a currency: the first in the table above that offers a rail for it. Where none offers one, the first that
 * takes the currency: starting a payment there says why it cannot be paid, and the seller is told. None: card payments are not live.
 */
export function processorFor(processors: ReadonlyMap<string, Processor>, currency: string): Processor | undefined {
  const first = (FIRST[currency] ?? []).flatMap((name) => processors.get(name) ?? [])
  const all = [...first, ...processors.values()]
  return all.find(({ rails }) => rails(currency).length > 0) ?? all.find((processor) => processor.takes?.(currency))
}
