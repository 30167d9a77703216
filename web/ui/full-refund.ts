import type { OrderStatus } from './api.ts'

/** Paid, with a refund of all of it pending: the files have ended, and the status changes when the money has gone. */
export const isFullRefundPending = ({
  status,
  paid,
}: Pick<OrderStatus, 'status'> & Partial<Pick<OrderStatus, 'paid'>>) =>
  paid === false && (status === 'paid' || status === 'partially_refunded')
