import { accountOf, familyOf } from '../../processors/connected.ts'
import type { Processor, StartPayment } from '../../processors/processor.ts'

/**
 * Where an order with a seller's account is paid: at that account, or, where the processor passes money on to it, at our own. Undefined
 * when the processor is not configured any more.
 */
export function homeOf(processors: ReadonlyMap<string, Processor>, account: string): Processor | undefined {
  const family = processors.get(familyOf(account))
  return processors.get(account) ?? (family?.takeBack ? family : undefined)
}

/** The processor passes this part of a payment at our own account on to the order's seller: all but the fee. */
export function partPassedOn(
  { name }: Processor,
  order: { connectedAccount: string | null; amountMinor: number; feeMinor: number },
): StartPayment['passOn'] {
  const { connectedAccount, amountMinor, feeMinor } = order
  const account = connectedAccount === null ? undefined : accountOf(connectedAccount)
  if (!account || familyOf(connectedAccount!) !== name) return undefined
  return { account, amountMinor: amountMinor - feeMinor }
}
