import type { Processor } from '../processor.ts'

/** Whom each currency goes to first, where it is configured. All others, and all other currencies, in the order of PROCESSORS. */
const FIRST: Readonly<Record<string, readonly string[]>> = {
  // UPI, netbanking and the wallets of India are there, and nowhere else
  INR: ['razorpay'],
}

/** Which processor serves a currency: the first in the table above that offers a rail for it. None: card payments are not live. */
export function processorFor(processors: ReadonlyMap<string, Processor>, currency: string): Processor | undefined {
  const first = (FIRST[currency] ?? []).flatMap((name) => processors.get(name) ?? [])
  return [...first, ...processors.values()].find((processor) => processor.rails(currency).length > 0)
}
