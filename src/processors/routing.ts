import type { Processor } from './processor.ts'

/** The processors that serve a currency first, if they are configured. After them the order of PROCESSORS holds. */
const FIRST: Readonly<Record<string, readonly string[]>> = {
  // only Razorpay has UPI, netbanking and the wallets of India
  INR: ['razorpay'],
}

/**
 * Returns the processor for a currency: the first, with those of the table above before the others, that offers a rail for it. If
 * none offers a rail, it is the first that takes the currency: its refusal says why the payment fails, and the seller gets a mail.
 * Undefined means that payments are not live.
 */
export function processorFor(processors: ReadonlyMap<string, Processor>, currency: string): Processor | undefined {
  const first = (FIRST[currency] ?? []).flatMap((name) => processors.get(name) ?? [])
  const all = [...first, ...processors.values()]
  return all.find(({ rails }) => rails(currency).length > 0) ?? all.find((processor) => processor.takes?.(currency))
}
