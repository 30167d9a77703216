import { type RawBuilder, sql } from 'kysely'

/** Of a refund and what belongs to it. The pauses grow, and the tries last nearly two weeks, longer than any outage of a processor. */
export const TRIES = { retries: 340, retryDelaySeconds: 5, retryDelayMaxSeconds: 3600, expireSeconds: 60, atOnce: 4 }

/** The ids of the orders with a job that waits or runs in this queue, such as sql`'take_back'`. */
export const ordersWithJob = (queue: RawBuilder<unknown>) => sql`(
  select data->>'orderId' from pgboss.job where name = ${queue} and state in ('created', 'retry', 'active'))`
