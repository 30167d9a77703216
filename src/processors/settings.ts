/** Whether a processor's key moves real money. */
export const modeOf = (key: string): 'live' | 'test' => (key.includes('_live_') ? 'live' : 'test')

/** The operator's settings for Stripe. */
export interface StripeSettings {
  readonly secretKey: string
  readonly publishableKey: string
  /** Each of them can sign a notification: there are two while one replaces the other. Without any, no notification is genuine. */
  readonly webhookSecrets: readonly string[]
  /** Another server that speaks Stripe's API. */
  readonly apiUrl?: string | undefined
  /** The payment methods, by Stripe's names. Without this list the account's dashboard decides. */
  readonly paymentMethodTypes?: readonly string[] | undefined
}

/** A key of Razorpay's API, and where to use it. */
export interface RazorpayKey {
  readonly keyId: string
  readonly keySecret: string
  /** Another server that speaks Razorpay's API. */
  readonly apiUrl?: string | undefined
}

/** The operator's settings for Razorpay. */
export interface RazorpaySettings extends RazorpayKey {
  /** Each of them can sign a notification: there are two while one replaces the other. Without any, no notification is genuine. */
  readonly webhookSecrets: readonly string[]
}

/** Whether the payments that the service takes are real. They are not when each processor is the sandbox, or has a key for tests. */
export function modeOfPayments({ processors, stripe, razorpay }: PaymentSettings): 'live' | 'test' {
  const keys = [
    ...(processors.includes('stripe') ? [stripe?.secretKey ?? ''] : []),
    ...(processors.includes('razorpay') ? [razorpay?.keyId ?? ''] : []),
  ]
  return processors.length > 0 && keys.every((key) => modeOf(key) === 'test') ? 'test' : 'live'
}

/** Whether a public service takes payments that are not real: good for tries, and everybody can get the files for nothing. */
export const sellsOnTrial = ({ isPublic, ...settings }: PaymentSettings & { readonly isPublic: boolean }): boolean =>
  isPublic && modeOfPayments(settings) === 'test'

export interface PaymentSettings {
  readonly processors: readonly string[]
  readonly stripe: Pick<StripeSettings, 'secretKey'> | undefined
  readonly razorpay: Pick<RazorpaySettings, 'keyId'> | undefined
}
