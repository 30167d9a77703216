import type { Log } from '../kit/log.ts'
import { withBreaker } from './attempts/breaker.ts'
import type { Processor } from './processor.ts'
import type { RazorpayOptions } from './razorpay.ts'
import type { StripeOptions } from './stripe.ts'

export interface ProcessorsWanted {
  /** In order of preference. */
  processors: readonly string[]
  stripe: StripeOptions | undefined
  razorpay: RazorpayOptions | undefined
  sandbox: () => Processor
}

/** The processors that serve, in order of preference. Each is loaded only where it is wanted: their libraries take a while. */
export async function openProcessors(wanted: ProcessorsWanted, log: Log): Promise<Map<string, Processor>> {
  const open: Record<string, () => Promise<Processor>> = {
    stripe: async () => withBreaker((await import('./stripe.ts')).stripeProcessor(wanted.stripe!), log),
    razorpay: async () => withBreaker((await import('./razorpay.ts')).razorpayProcessor(wanted.razorpay!), log),
    sandbox: async () => wanted.sandbox(),
  }
  return new Map(await Promise.all(wanted.processors.map(async (name) => [name, await open[name]!()] as const)))
}
