/** A payment form needs these to show before there is a payment, where the processor's form can do that. */
export interface FormSetup {
  publishableKey: string
  /** The seller's connected account, where the browser pays. */
  account?: string | undefined
  /** The processor's units of the currency for one of our minor units: the form tells the amount in them. */
  unitsPerMinor: number
  /** The only payment methods that our payments allow, by the processor's names. Undefined: the account decides. */
  allowedMethods?: string[] | undefined
  /** The payment methods that our payments leave out. */
  excludedMethods?: string[] | undefined
}
