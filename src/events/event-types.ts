/** Everything that a seller's program can hear of. */
export const EVENT_TYPES = [
  'order.paid',
  'order.processing',
  'order.expired',
  'order.needs_review',
  'order.refunded',
  'order.partially_refunded',
  'order.disputed',
  'order.dispute_won',
  'order.charged_back',
  'order.email_changed',
  'order.withdrawn',
  'refund.failed',
  'file.recalled',
  'product.published',
  'product.archived',
  'endpoint.test',
] as const
export type EventType = (typeof EVENT_TYPES)[number]
