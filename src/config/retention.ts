import { whole } from './parsers.ts'
import type { Reader } from './reader.ts'

export interface RetentionConfig {
  /** How many days a processor's notifications and the mails of the outbox are kept. */
  readonly retention: { readonly eventDays: number; readonly outboxDays: number }
}

/**
 * Stripe lists events for 30 days, and the backfill skips the listed events that are stored here. An event that was removed too early
 * would change nothing, but with each backfill the service would ask about its payment again.
 */
export const EVENT_DAYS_LEAST = 35
const LONGEST_DAYS = 3650

export function readRetention({ checked }: Reader): RetentionConfig {
  const days = (name: string, usual: number, least: number, why = '') =>
    checked(name, usual, (value) => whole(value, least, LONGEST_DAYS), `${least} to ${LONGEST_DAYS} days${why}`)
  return {
    retention: {
      eventDays: days('EVENT_RETENTION_DAYS', 90, EVENT_DAYS_LEAST, ', because Stripe lists events for 30 days'),
      outboxDays: days('OUTBOX_RETENTION_DAYS', 30, 1),
    },
  }
}
