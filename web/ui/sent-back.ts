import type { OrderStatus } from './api.ts'

/** The payment did not match the price, and the operator has sent it back. The order stays under review, and nobody looks at it any more. */
export const isSentBack = ({ status, timeline }: Pick<OrderStatus, 'status' | 'timeline'>): boolean =>
  status === 'needs_review' && timeline?.at(-1)?.what === 'payment_returned'
