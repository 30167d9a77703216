import type { Processor } from './processor.ts'

// A payment at a seller's connected account has the processor's name and the account: `stripe@acct_1`. This name stands
// wherever a processor's name does: in attempts, captures, refunds, disputes, events, cursors and the ledger. So a fact
// about one account never counts for another.

const BETWEEN = '@'
/** The adapters of this many accounts are kept. They hold no state beside the breaker. */
const MOST_KEPT = 500

export const connectedName = (processor: string, account: string): string => processor + BETWEEN + account
/** The processor without the account. */
export const familyOf = (name: string): string => name.split(BETWEEN)[0]!
/** In words, for people. */
export const dashboardOf = (name: string): string =>
  accountOf(name) ? `${familyOf(name)} (sellers’ own accounts)` : familyOf(name)
export const accountOf = (name: string): string | undefined => name.split(BETWEEN)[1]

/**
 * The configured processors. `get` finds an account of one of them too, also of a seller who has left: its payments can still be
 * refunded. Only the processors themselves are listed and counted.
 */
export class OpenProcessors extends Map<string, Processor> {
  readonly #accounts = new Map<string, Processor>()

  override get(name: string): Processor | undefined {
    const account = accountOf(name)
    if (account === undefined) return super.get(name)
    const known = this.#accounts.get(name)
    if (known) return known
    const opened = super.get(familyOf(name))?.connected?.(account)
    if (!opened) return undefined
    if (this.#accounts.size >= MOST_KEPT) this.#accounts.delete(this.#accounts.keys().next().value!)
    this.#accounts.set(name, opened)
    return opened
  }
}
