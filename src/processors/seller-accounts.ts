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

/** Money that the processor has sent from a seller's own account to the seller's bank. */
export interface AccountPayout {
  id: string
  amountMinor: number
  currency: string
  state: 'sent' | 'paid' | 'failed'
  /** ISO 8601. */
  createdAt: string
  /** When the bank has it, or will have it (ISO 8601). */
  arrivesAt: string
  failure?: string | undefined
  /** The processor knows what the payout is made of. It does not for payouts of an amount that the seller has chosen. */
  isItemised: boolean
}

/** A movement of the account's balance that is in a payout. The movements of a payout add up to it. */
export interface PayoutItem {
  id: string
  kind: 'sale' | 'refund' | 'dispute' | 'other'
  /** The processor's own name of the movement. */
  what: string
  /** The id of the capture, refund or dispute. */
  sourceId: string | undefined
  amountMinor: number
  feeMinor: number
  /** ISO 8601. */
  at: string
}
