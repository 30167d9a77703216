import type { OrderStatus } from './api.ts'

/** Paid, and all of it on its way back: the files have ended, and the state follows when the money has gone. */
export const isFullRefundPending = ({
  status,
  paid,
}: Pick<OrderStatus, 'status'> & Partial<Pick<OrderStatus, 'paid'>>) =>
  paid === false && (status === 'paid' || status === 'partially_refunded')
