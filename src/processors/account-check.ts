import type { RefusalDetails } from './refusal-details.ts'

/** An address to which a processor sends notifications about our account. */
export interface NotificationAddress {
  url: string
  enabled: boolean
  /** It gets the notifications about the accounts of sellers, and none about ours. */
  ofSellers?: boolean | undefined
  /** Types of notifications that we need and that this address does not get. */
  missingTypes: string[]
}

/** A processor's information about our account. The check moves no money. */
export interface AccountCheck {
  /** False: the processor does not know the key. */
  keyAccepted: boolean
  /** The permissions that we need and this key does not have, by the processor's names. */
  lacks: string[]
  /** Undefined: the API or the key does not allow us to read them. */
  addresses?: NotificationAddress[] | undefined
  /** Whether sellers can have accounts below ours. Undefined: the processor has no such thing. */
  takesSellers?: boolean | undefined
  /** The same as `lacks`, for what only sellers' accounts below ours need. */
  lacksForSellers?: string[] | undefined
  /** The account's prefix of statement descriptors. Empty: none. Undefined: the processor does not say. */
  statementPrefix?: string | undefined
  /** Each payment method in our settings. `refused` says why a payment cannot start with it. */
  methods?: { name: string; refused?: RefusalDetails | undefined }[] | undefined
  /** The hosts where wallets may show. Undefined: the processor needs none, or the key may not read them. */
  hosts?: string[] | undefined
  /** The processor's clock at the time of its answer. */
  clock?: Date | undefined
}
