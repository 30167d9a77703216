import { sql } from 'kysely'
import type { Db } from '../../kit/database.ts'
import type { Jobs } from '../../kit/jobs.ts'
import { errorForLog } from '../../kit/log.ts'
import type { Syncing } from './sync.ts'
import { syncLater } from './later.ts'
import { type RecordedAs, unseenEvents, recordWithoutEffect } from '../settle/unseen-events.ts'
import { PaymentUnknown, type Processor, type ProcessorEvent } from '../../processors/processor.ts'
import type { Outcome } from '../settle/fact.ts'

/** How often a list is walked. What a notification tells in time is only skipped there. */
const PAUSE_SECONDS = 3600
/** When it is walked again after an outage or a crash. Longer than a walk. */
const TRY_AGAIN_SECONDS = 300
/** Lists lag, and clocks differ: what happened so long before the cursor is looked at again. */
const OVERLAP_SECONDS = 900
/** How long one walk settles, from its first page on. The job that walks is started each minute, and lost after five. */
const SETTLING_MS = 180_000
const PAGE = 100
/** Payments asked about side by side. */
const ASKED_AT_ONCE = 4
const DAY_MS = 86_400_000
/** So many payments in a row that cannot be settled are taken for an outage. */
const FAILURES = 5

type Backfilling = Syncing & { jobs: Jobs }

/**
 * Walks the processors' own lists of what happened, from where everything was seen to now, and settles what no notification
 * has told: so a shop that was down for a day, or whose backup was restored, catches up. What it has settled stays settled;
 * a payment that cannot be settled is left to a job of its own; and the cursor follows where all before it is one or the other.
 * Walks that are not due yet are left out.
 */
export async function backfill(syncing: Backfilling): Promise<void> {
  const { processors, log } = syncing
  await Promise.all(
    Array.from(processors.values(), async (processor) => {
      try {
        const claim = processor.eventsSince && (await claimWalk(syncing.db, processor.name))
        if (claim) await walk(syncing, processor, claim)
      } catch (error) {
        const { name } = processor
        log.warn({ processor: name, ...errorForLog(error) }, 'catching up was broken off, and goes on in some minutes')
      }
    }),
  )
}

interface Claim {
  seenUntil: Date
  now: Date
}

/** Undefined while it is not due, or another instance walks. */
async function claimWalk(db: Db, processor: string): Promise<Claim | undefined> {
  const claim = async () => {
    const { rows } = await sql<Claim>`
      update processor_cursors set due_at = now() + make_interval(secs => ${TRY_AGAIN_SECONDS})
      where processor = ${processor} and due_at <= now()
      returning seen_until as "seenUntil", now() as now`.execute(db)
    return rows[0]
  }
  const due = await claim()
  if (due) return due
  // An account may have served others before us: a new shop does not ask about a month of payments that are not its own, and
  // begins now. Orders that are older and still open were made before there was a cursor, and it begins with the oldest.
  const { rows } = await sql`
    insert into processor_cursors (processor, seen_until, due_at)
    select ${processor}, coalesce(oldest, now()), case when oldest is null then now() + make_interval(secs => ${PAUSE_SECONDS}) else now() end
    from (select min(p.created_at) as oldest from orders o join payments p on p.order_id = o.id
      where o.due_at is not null and o.state in ('pending', 'processing', 'expired') and p.processor = ${processor}) as open
    where not exists (select from processor_cursors where processor = ${processor})
    on conflict (processor) do nothing returning processor`.execute(db)
  return rows.length > 0 ? claim() : undefined
}

interface Walk {
  syncing: Backfilling
  processor: Processor
  /** What is known of payments that were asked about in this walk. */
  outcomes: Map<string, Outcome>
  /** What happened before this is in the answer of whoever was asked in this walk. */
  asOf: string
  failuresInARow: number
  end: number
}

async function walk(syncing: Backfilling, processor: Processor, { seenUntil, now }: Claim): Promise<void> {
  const { db, log } = syncing
  const { name } = processor
  // whichever clock is behind: the list ends where the processor's adapter believes that it is now
  const until = Math.min(now.getTime(), Date.now())
  const { eventsDays = Infinity } = processor
  if (seenUntil.getTime() < until - eventsDays * DAY_MS) {
    const command = `npm run reconcile -- --from ${seenUntil.toISOString().slice(0, 10)}`
    const why = `what happened more than ${eventsDays} days ago is not listed any more`
    log.error({ processor: name, seenUntil }, `${why}: ${command} finds what was missed`)
  }
  const overlap = (time: number) => new Date(time - OVERLAP_SECONDS * 1000)
  const state: Walk = {
    syncing,
    processor,
    outcomes: new Map(),
    asOf: overlap(until).toISOString(),
    failuresInARow: 0,
    end: Infinity,
  }
  let [news, left] = [0, 0]
  for await (const page of pagesOf(processor.eventsSince!(overlap(Math.min(seenUntil.getTime(), until))))) {
    // some lists come whole, however long that takes: each walk gets something done
    if (state.end === Infinity) state.end = performance.now() + SETTLING_MS
    const fresh = await unseenEvents(db, name, page)
    news += fresh.length
    left += await settlePage(state, fresh)
    const { at } = page.at(-1)!
    // nobody else begins while this one walks
    if (left === 0 && at !== undefined) await moveCursor(db, name, new Date(at), TRY_AGAIN_SECONDS)
    if (performance.now() > state.end) {
      log.info({ processor: name, news, left }, 'catching up goes on in the next round')
      return moveCursor(db, name, undefined, 0)
    }
  }
  if (news > 0) log.info({ processor: name, news, left }, 'caught up with what happened meanwhile')
  await moveCursor(db, name, left === 0 ? new Date(until) : undefined, PAUSE_SECONDS)
}

/** A list that breaks off gives first what it has told. */
async function* pagesOf(events: AsyncIterable<ProcessorEvent>): AsyncGenerator<ProcessorEvent[]> {
  let page: ProcessorEvent[] = []
  let failure: { error: unknown } | undefined
  try {
    for await (const event of events) {
      if (page.push(event) < PAGE) continue
      yield page
      page = []
    }
  } catch (error) {
    failure = { error }
  }
  if (page.length > 0) yield page
  if (failure) throw failure.error
}

/** Settles what a page tells, each payment with one question. Returns how many of its events are left for another walk. */
async function settlePage(walk: Walk, events: readonly ProcessorEvent[]): Promise<number> {
  const { syncing, processor, outcomes } = walk
  const { name } = processor
  const noted = { ignored: [], unknown_payment: [], repeat: [] } as Record<RecordedAs, ProcessorEvent[]>
  const toAsk = new Map<string, ProcessorEvent[]>()
  for (const event of events) {
    const paymentId = event.paymentId ?? event.payment?.processorPaymentId
    const outcome = event.at === undefined || event.at < walk.asOf ? outcomes.get(paymentId ?? '') : undefined
    if (paymentId === undefined) noted.ignored.push(event)
    else if (outcome) noted[outcome === 'unknown_payment' ? outcome : 'repeat'].push(event)
    else toAsk.set(paymentId, [...(toAsk.get(paymentId) ?? []), event])
  }
  for (const outcome of ['ignored', 'unknown_payment', 'repeat'] as const)
    await recordWithoutEffect(syncing.db, name, noted[outcome], outcome)

  const queue = [...toAsk]
  let left = 0
  const lane = async () => {
    for (let next; (next = queue.shift());) {
      const [paymentId, itsEvents] = next
      let outcome: Outcome | undefined
      try {
        if (performance.now() <= walk.end) outcome = await settlePayment(walk, paymentId, itsEvents)
        walk.failuresInARow = 0
      } catch (error) {
        syncing.log.warn({ processor: name, paymentId, ...errorForLog(error) }, 'a payment could not be caught up with')
        // in an outage too: should it be these payments after all, the next walk gets beyond them
        await syncLater(syncing.db, syncing.jobs, name, paymentId, itsEvents)
        outcomes.set(paymentId, 'repeat')
        if (++walk.failuresInARow < FAILURES) continue
        queue.length = 0
        throw error
      }
      // too early: it names an order that is just being started, which the reconciler asks about too
      if (outcome === undefined || outcome === 'too_early') left += itsEvents.length
      else outcomes.set(paymentId, outcome)
    }
  }
  const lanes = await Promise.allSettled(Array.from({ length: ASKED_AT_ONCE }, lane))
  for (const one of lanes) if (one.status === 'rejected') throw one.reason
  return left
}

/** What the processor says of the payment now covers all the events that name it. */
async function settlePayment(
  { syncing: { db, settle }, processor }: Walk,
  paymentId: string,
  events: readonly ProcessorEvent[],
): Promise<Outcome> {
  let payment
  try {
    payment = await processor.fetchPayment(paymentId)
  } catch (error) {
    if (!(error instanceof PaymentUnknown)) throw error
    await recordWithoutEffect(db, processor.name, events, 'unknown_payment')
    return 'unknown_payment'
  }
  const outcomes = await Promise.all(events.map((event) => settle({ processor: processor.name, payment, event })))
  return outcomes.find((outcome) => outcome === 'too_early') ?? outcomes[0]!
}

/** Forward only: two that walk at once never take it back. */
async function moveCursor(db: Db, processor: string, to: Date | undefined, dueInSeconds: number): Promise<void> {
  await sql`
    update processor_cursors set seen_until = greatest(seen_until, ${to ?? null}::timestamptz),
      due_at = now() + make_interval(secs => ${dueInSeconds})
    where processor = ${processor}`.execute(db)
}
