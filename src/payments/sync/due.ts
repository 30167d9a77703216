import { sql } from 'kysely'
import { type Db, retryConflicts } from '../../kit/database.ts'
import { genericPlanArray } from '../../kit/plans.ts'
import type { State } from '../../orders/states.ts'

/** A due order that this instance has claimed. */
export interface Due {
  id: string
  state: State
  /** No other instance looks at the order before this moment. */
  claimedUntil: string
  /** When the next look is due, once this one has ended. */
  nextAt: string
  over: boolean
  /** The order ended so long ago that it no longer waits for a processor that cannot be asked. */
  forgotten: boolean
  /** After this look nothing more is to be expected. */
  last: boolean
}

/** A look is given up after this time. */
export const LOOK_MS = 100_000
/** Longer than a look. When a process dies while it looks, another one looks again after this time. */
const CLAIM_SECONDS = LOOK_MS / 1000 + 20
/** Orders that the reconciler looks at side by side. */
const LOOKS_AT_ONCE = 8
/** An order whose processor was removed, or whose payment belongs to another account, is kept for so long after its end. */
const UNASKABLE_DAYS = 14

/**
 * Claims orders that are due, for one instance each, and says when the next look is due: for an open order after pauses that
 * double with its age, for a paid one after a day, a week and a month, and for one with an open dispute each week until the bank
 * has decided. That can take long, and the order can meanwhile be refunded or lost to another dispute, or the dispute can be
 * about a duplicate capture. The claim itself lasts for minutes only: `endClaims` writes the next time after the look, so an
 * order whose process died is due again soon, however long its pauses have become.
 */
export async function claimDue(db: Db): Promise<Due[]> {
  const { rows } = await sql<Due>`
    update orders o set due_at = now() + make_interval(secs => ${CLAIM_SECONDS})
    where id in (select id from orders where due_at <= now() order by due_at limit ${LOOKS_AT_ONCE} for update skip locked)
    returning id, state, due_at::text as "claimedUntil",
      (case
        when state in ('pending', 'processing') and expires_at > now()
          then least(expires_at, now() + greatest(interval '1 minute', least(interval '6 hours', now() - created_at)))
        when state in ('pending', 'processing', 'expired') then now() + interval '1 hour'
        when now() - coalesce(paid_at, created_at) < interval '1 day' then now() + interval '1 day'
        when ${IS_DISPUTED} then now() + interval '7 days'
        when now() - coalesce(paid_at, created_at) < interval '7 days' then now() + interval '7 days'
        when now() - coalesce(paid_at, created_at) < interval '30 days' then now() + interval '30 days'
        else now() + interval '1 hour' end)::text as "nextAt",
      expires_at <= now() as over,
      expires_at <= now() - make_interval(days => ${UNASKABLE_DAYS}) as forgotten,
      state = 'expired' or (not ${IS_DISPUTED} and now() - coalesce(paid_at, created_at) >= interval '30 days') as last`.execute(
    db,
  )
  return rows
}

/** Read for the few orders that are claimed, each by an index. */
const IS_DISPUTED = sql`exists (select from disputes d where d.order_id = o.id and d.state = 'open')`

/**
 * Writes when the next looks are due, also after a failed look, so the pauses between requests grow while a processor is down. It writes
 * only where the claim is still valid: an event during the look may have set another time, or another instance may have claimed the
 * order since. It locks the orders by their ids, as settle does.
 */
export async function endClaims(db: Db, claimed: readonly Due[]): Promise<void> {
  const texts = (pick: (one: Due) => string) => genericPlanArray(claimed.map(pick), 'text')
  const statement = sql`
    with locked as materialized (
      select o.id, c.next_at::timestamptz
      from unnest(${texts(({ id }) => id)}, ${texts(({ claimedUntil }) => claimedUntil)}, ${texts(({ nextAt }) => nextAt)})
        as c(id, claimed_until, next_at)
      join orders o on o.id = c.id and o.due_at = c.claimed_until::timestamptz
      order by o.id for no key update of o)
    update orders o set due_at = l.next_at from locked l where o.id = l.id`
  await retryConflicts(() => statement.execute(db))
}
