import type { Db } from '../kit/database.ts'
import type { Log } from '../kit/log.ts'
import { withBreaker } from './breaker.ts'
import { OpenProcessors } from './connected.ts'
import type { FindStored, Processor } from './processor.ts'
import type { RazorpaySettings, StripeSettings } from './settings.ts'
import { accountMethods } from './account-methods.ts'

export interface ProcessorOptions {
  /** In order of preference. */
  processors: readonly string[]
  stripe: StripeSettings | undefined
  razorpay: RazorpaySettings | undefined
  sandbox: () => Processor
  /** The beginning of every statement descriptor. */
  statementPrefix: string
  /** How long one call of ours may take. */
  callMs?: number | undefined
  /** For payments that a processor shows only by their captures after a while. */
  stored?: FindStored | undefined
  /** Stores which payment methods the accounts offer. Without a database the service does not ask for them. */
  db?: Db | undefined
}

/** Opens the configured processors, in order of preference. It loads only those, because their libraries take a while. */
export async function openProcessors(options: ProcessorOptions, log: Log): Promise<Map<string, Processor>> {
  const methods = options.db && accountMethods(options.db, log)
  const open: Record<string, () => Promise<Processor>> = {
    async stripe() {
      const { stripeProcessor } = await import('./stripe/stripe.ts')
      const { statementPrefix, callMs } = options
      return withBreaker(
        stripeProcessor({ ...options.stripe!, statementPrefix, callMs, ways: () => methods?.of('stripe') }),
        log,
      )
    },
    async razorpay() {
      const { razorpayProcessor } = await import('./razorpay/razorpay.ts')
      const { callMs, stored } = options
      return withBreaker(
        razorpayProcessor({ ...options.razorpay!, callMs, stored, ways: () => methods?.of('razorpay') }),
        log,
      )
    },
    sandbox: async () => options.sandbox(),
  }
  const opened = new OpenProcessors(
    await Promise.all(options.processors.map(async (name) => [name, await open[name]!()] as const)),
  )
  await methods?.begin(opened)
  return opened
}
