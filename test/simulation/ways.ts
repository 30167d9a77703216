import { Random } from './random.ts'

/** How sellers get their money (PAYOUTS): the operator pays by bank, or the processor pays them. */
export const WAYS = ['manual', 'stripe-connect', 'razorpay-route'] as const
export type Way = (typeof WAYS)[number]

/** The way of a history. Each is as likely as the others. */
export const wayOf = (seed: number): Way => new Random(seed ^ 0x3a75).pick(WAYS)
