/** The rails, with the same names everywhere. The processor reports the rail that the buyer used, and the order stores it. */
export const RAILS = ['card', 'debit', 'bank_transfer', 'upi', 'apple_pay', 'google_pay', 'wallet'] as const
export type Rail = (typeof RAILS)[number]

/** Rails where days can pass between the buyer's "yes" and the money. */
export const SLOW_RAILS: ReadonlySet<Rail> = new Set(['bank_transfer', 'upi'])
