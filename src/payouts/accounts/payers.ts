/** The processors below which sellers have accounts, and their names for people. */
export const PAYERS = { stripe: 'Stripe', razorpay: 'Razorpay' } as const
export type Payer = keyof typeof PAYERS

const BY: Readonly<Record<string, Payer>> = { 'stripe-connect': 'stripe', 'razorpay-route': 'razorpay' }

/** The processor that pays sellers, by PAYOUTS. Undefined: the operator pays by bank. */
export const payerOf = (payoutsBy: string): Payer | undefined => BY[payoutsBy]

/** The value of PAYOUTS with which this processor pays sellers. */
export const settingOf = (payer: Payer): string => Object.keys(BY).find((by) => BY[by] === payer)!
