// Payments at sellers' own accounts: the money never lies with this service, which gets only its fee.

/** How a seller's own account stands at a processor. */
export interface AccountReport {
  account: string
  /** `open`: the seller has not told everything. `restricted`: it takes no payments for now. */
  state: 'open' | 'restricted' | 'active'
  /** What the processor misses, in words for the seller. */
  missing: string[]
  /** Whether money goes on to the seller's bank. */
  paysOut: boolean
  /** The beginning of its statement descriptors. Undefined: the processor does not say. */
  statementPrefix?: string | undefined
}

/** The accounts that sellers have at a processor, below ours. */
export interface SellerAccounts {
  /** Makes an account, or finds the one of an earlier call with this key, since `since`. */
  make(wanted: { key: string; since: Date }): Promise<AccountReport>
  /** Undefined: the account is gone, or gives us no access any more. */
  read(account: string): Promise<AccountReport | undefined>
  /** An address where the seller tells the processor what it misses. It opens once, and for some minutes. */
  link(account: string, to: { refreshUrl: string; returnUrl: string }): Promise<string>
}

/** A part of our fee that goes back to the seller's own account. */
export interface FeeReturn {
  /** The same key returns once. */
  key: string
  captureId: string
  amountMinor: number
  currency: string
  /** All that has to be back by now. Never more than this goes back, whatever came before. */
  totalMinor: number
}
