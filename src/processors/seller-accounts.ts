// Sellers' connected accounts: payments made there, and payments at our account that the processor passes on to them.

/** How a seller's connected account stands at a processor. */
export interface AccountReport {
  account: string
  /** The processor's product for which the account is activated, where that has an id of its own. */
  product?: string | undefined
  /** `open`: the seller has not told everything. `restricted`: it takes no payments for now. */
  state: 'open' | 'restricted' | 'active'
  /** The processor misses these, in words for the seller. */
  missing: string[]
  /** Whether money goes on to the seller's bank. */
  paysOut: boolean
  /** The beginning of its statement descriptors. Undefined: the processor does not say. */
  statementPrefix?: string | undefined
}

/**
 * The accounts that sellers have at a processor, below ours. The seller tells the processor about the business on the processor's own
 * pages (`hosted`), or, where there are none, tells us (`told`).
 */
export interface SellerAccounts {
  readonly hosted?: HostedAccounts
  readonly told?: ToldAccounts
  read(account: string, product?: string): Promise<AccountReport | AccountEnd>
  /** The payouts from these accounts, where the processor lists them at ours. */
  readonly settlements?: AccountSettlements
}

/** The account is gone, or gives us no access any more. */
export interface AccountEnd {
  /** In the processor's words, for the operator. */
  endedWhy: string
}

export interface AccountSettlements {
  /** Those of money that was passed on since a moment. A payout that failed can be paid later. */
  since(moment: Date): AsyncIterable<AccountSettlement>
  items(payout: AccountPayout): AsyncIterable<PayoutItem>
}

interface HostedAccounts {
  /** Makes an account, or finds the one of an earlier call with this key, since `since`. */
  make(wanted: { key: string; since: Date }): Promise<AccountReport>
  /** An address where the seller gives the processor the missing details. It opens once, and for some minutes. */
  link(account: string, to: { refreshUrl: string; returnUrl: string }): Promise<string>
}

interface ToldAccounts {
  /**
   * Makes the account, or changes `wanted.account`, with the details that the seller gives. Each step finds the result of an earlier call
   * with this key. `note` gets each id as soon as it is known. Nothing of the details is kept. It sends what the processor takes now, and
   * awaits `begin` before that. Fails with DetailsRefused, also when the processor takes none of the details now: then `begin` is not called.
   */
  tell(
    wanted: { key: string; account?: string | undefined; product?: string | undefined; details: BusinessDetails },
    steps: {
      begin: (sends: { bank: boolean }) => Promise<void>
      note: (known: { account: string; product?: string }) => Promise<void>
    },
  ): Promise<AccountReport>
}

/** A seller in India tells this about the business. */
export interface BusinessDetails {
  email: string
  phone: string
  legalName: string
  businessType: string
  sells: string
  contactName: string
  street1: string
  street2: string
  city: string
  state: string
  postalCode: string
  /** The tax number (PAN) of the person. */
  pan: string
  /** Of the business, if it has one of its own. */
  businessPan?: string | undefined
  gst?: string | undefined
  accountNumber: string
  ifsc: string
  beneficiaryName: string
}

/** A part of our fee that goes back to the seller's connected account. */
export interface FeeReturn {
  /** The same key returns once. */
  key: string
  captureId: string
  amountMinor: number
  currency: string
  /** All that has to be back by now. Never more than this goes back, whatever came before. */
  totalMinor: number
}

/** Money that the processor has sent from a seller's connected account to the seller's bank. */
export interface AccountPayout {
  id: string
  amountMinor: number
  currency: string
  state: 'sent' | 'paid' | 'failed'
  /** ISO 8601. */
  createdAt: string
  /** When the bank has it, or will have it (ISO 8601). */
  arrivesAt: string
  /** Undefined: the processor does not say why. */
  failure?: string | undefined
  /** It failed because it was cancelled at the processor. No bank has refused it. */
  isCancelled?: boolean
  /** The number by which the seller's bank shows it: the UTR in India, the trace id at Stripe. The processor can learn it days later. */
  bankReference?: string | undefined
  /** The processor knows the items of the payout. It does not know them when the seller chose the amount. */
  isItemised: boolean
}

/** A payout from an account below ours, which the processor lists at ours. */
export interface AccountSettlement {
  account: string
  payout: AccountPayout
}

/** A movement of the account's balance that is in a payout. The movements of a payout add up to it. */
export interface PayoutItem {
  id: string
  kind: 'sale' | 'refund' | 'dispute' | 'other'
  /** The processor's own name of the movement. */
  what: string
  /** The id of the capture, refund, dispute or transfer. */
  sourceId: string | undefined
  amountMinor: number
  feeMinor: number
  /** ISO 8601. */
  at: string
}

/**
 * Money of a payment that the processor passes on from our account to a seller's account below it. `passed` is final. After `failed` the
 * processor can try again.
 */
export interface TransferFact {
  id: string
  /** The seller's account. */
  account: string
  amountMinor: number
  currency: string
  state: 'pending' | 'passed' | 'failed'
  /** So much of it is back at our account. It only grows. */
  reversedMinor: number
  failure?: string | undefined
  /** The settlement by which the seller's bank gets it. */
  settlement?: string | undefined
  /** ISO 8601. */
  madeAt: string
}

/** How much of a payment's passed-on money is to come back. */
export interface WantedBack {
  processorPaymentId: string
  leaveMinor: number
  waits: boolean
  /** The amounts known to be back, by the transfer's id: the processor's list can be older. */
  reversedMinor: Readonly<Record<string, number>>
}
