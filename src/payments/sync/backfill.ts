import { sql } from 'kysely'
import type { Db } from '../../kit/database.ts'
import type { Jobs } from '../../kit/jobs.ts'
import { errorForLog } from '../../kit/log.ts'
import type { Syncing } from './sync.ts'
import { syncLater } from './later.ts'
import { connectedNames } from './accounts.ts'
import { unseenEvents, recordWithoutEffect } from '../settle/unseen-events.ts'
import type { Processor, ProcessorEvent } from '../../processors/processor.ts'
import { PaymentUnknown } from '../../processors/refusals.ts'
import type { Outcome, RecordedAs } from '../settle/fact.ts'

/** The pause between two backfills. Each skips the events that a notification has already brought. */
const PAUSE_SECONDS = 3600
/** The pause after an outage or a crash. It is longer than a backfill takes. */
const TRY_AGAIN_SECONDS = 300
/** Each backfill begins this long before the cursor, because lists lag and clocks differ. */
const OVERLAP_SECONDS = 900
/** A backfill stops this long after its first page. The job starts each minute and counts as lost after five minutes. */
const SETTLING_MS = 180_000
const PAGE = 100
/** Sellers' accounts that are read at the same time. Those that a run does not reach are due in the next one. */
const ACCOUNTS_AT_ONCE = 4
/** Requests about payments that run at the same time. */
const ASKED_AT_ONCE = 4
const DAY_MS = 86_400_000
/** This many failed payments in a row count as an outage. */
const FAILURES = 5

type Backfilling = Syncing & { jobs: Jobs }

/**
 * Reads each processor's list of past events from the cursor to now, and settles the events that no notification has brought. So a
 * shop catches up after a day of downtime, or after a restored backup. A payment that cannot be settled goes to a job of its own.
 * The cursor moves forward when every event before it is settled or has such a job. Processors whose backfill is not due are skipped.
 */
export async function backfill(syncing: Backfilling): Promise<void> {
  const { processors, db, log } = syncing
  const one = async (processor: Processor) => {
    try {
      const claim = processor.eventsSince && (await claimWalk(db, processor.name))
      if (claim) await walk(syncing, processor, claim)
    } catch (error) {
      const { name } = processor
      log.warn({ processor: name, ...errorForLog(error) }, 'the backfill broke off, and goes on in some minutes')
    }
  }
  // the list of our account has no events of the connected accounts: each has a list of its own
  const connected = (await connectedNames(db)).values()
  const lane = async () => {
    for (const end = performance.now() + SETTLING_MS; performance.now() < end;) {
      const { value: name } = connected.next()
      if (name === undefined) return
      const processor = processors.get(name)
      if (processor) await one(processor)
    }
  }
  await Promise.all([...Array.from(processors.values(), one), ...Array.from({ length: ACCOUNTS_AT_ONCE }, lane)])
}

interface Claim {
  seenUntil: Date
  now: Date
}

/** Undefined while the backfill is not due, or another instance runs it. */
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
  // The first cursor of a new shop begins now: its account may hold a month of payments that are not its own. If the shop has older
  // orders that are still open, from a time without a cursor, it begins with the oldest of them.
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
  /** The outcomes of the payments that this backfill has already asked about. */
  outcomes: Map<string, Outcome>
  /** Every answer in this backfill already contains the events before this moment. */
  asOf: string
  failuresInARow: number
  end: number
}

async function walk(syncing: Backfilling, processor: Processor, { seenUntil, now }: Claim): Promise<void> {
  const { db, log } = syncing
  const { name } = processor
  // the earlier of the two clocks, because the adapter's list ends at this machine's time
  const until = Math.min(now.getTime(), Date.now())
  const { eventsDays = Infinity } = processor
  if (seenUntil.getTime() < until - eventsDays * DAY_MS) {
    const command = `npm run reconcile -- --from ${seenUntil.toISOString().slice(0, 10)}`
    const why = `the processor does not list events of more than ${eventsDays} days ago`
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
  let [newEvents, remaining] = [0, 0]
  // a long list takes longer than the claim: no other backfill may begin meanwhile
  const onPage = () => moveCursor(db, name, undefined, TRY_AGAIN_SECONDS)
  for await (const page of pagesOf(processor.eventsSince!(overlap(Math.min(seenUntil.getTime(), until)), onPage))) {
    // the clock starts with the first page: some lists take long to come, and each backfill must get something done
    if (state.end === Infinity) state.end = performance.now() + SETTLING_MS
    const fresh = await unseenEvents(db, name, page)
    newEvents += fresh.length
    remaining += await settlePage(state, fresh)
    const { at } = page.at(-1)!
    // moves the next due time too, so that no other instance begins meanwhile
    if (remaining === 0 && at !== undefined) await moveCursor(db, name, new Date(at), TRY_AGAIN_SECONDS)
    if (performance.now() > state.end) {
      log.info({ processor: name, newEvents, remaining }, 'the backfill goes on in the next round')
      return moveCursor(db, name, undefined, 0)
    }
  }
  if (newEvents > 0) log.info({ processor: name, newEvents, remaining }, 'the backfill found new events')
  await moveCursor(db, name, remaining === 0 ? new Date(until) : undefined, PAUSE_SECONDS)
}

/** Groups events into pages. If the list breaks off, it first yields the events that came before the error. */
async function* pagesOf(events: AsyncIterable<ProcessorEvent>): AsyncGenerator<ProcessorEvent[]> {
  let page: ProcessorEvent[] = []
  let failure: { error: unknown } | undefined
  try {
    for await (const event of events) {
      if (page.push({ ...event, isBackfilled: true }) < PAGE) continue
      yield page
      page = []
    }
  } catch (error) {
    failure = { error }
  }
  if (page.length > 0) yield page
  if (failure) throw failure.error
}

/** Settles the events of a page and asks once about each payment. Returns how many events are left for another backfill. */
async function settlePage(walk: Walk, events: readonly ProcessorEvent[]): Promise<number> {
  const { syncing, processor, outcomes } = walk
  const { name } = processor
  const byOutcome = { ignored: [], unknown_payment: [], repeat: [] } as Record<RecordedAs, ProcessorEvent[]>
  const toAsk = new Map<string, ProcessorEvent[]>()
  for (const event of events) {
    const paymentId = event.paymentId ?? event.payment?.processorPaymentId
    const outcome = event.at === undefined || event.at < walk.asOf ? outcomes.get(paymentId ?? '') : undefined
    if (paymentId === undefined) byOutcome.ignored.push(event)
    else if (outcome) byOutcome[outcome === 'unknown_payment' ? outcome : 'repeat'].push(event)
    else toAsk.set(paymentId, [...(toAsk.get(paymentId) ?? []), event])
  }
  for (const outcome of ['ignored', 'unknown_payment', 'repeat'] as const)
    await recordWithoutEffect(syncing.db, name, byOutcome[outcome], outcome)

  const queue = [...toAsk]
  let remaining = 0
  const lane = async () => {
    for (let next; (next = queue.shift());) {
      const [paymentId, itsEvents] = next
      let outcome: Outcome | undefined
      try {
        if (performance.now() <= walk.end) outcome = await settlePayment(walk, paymentId, itsEvents)
        walk.failuresInARow = 0
      } catch (error) {
        syncing.log.warn(
          { processor: name, paymentId, ...errorForLog(error) },
          'the backfill could not settle a payment',
        )
        // even in an outage: if the fault lies in these payments, the next backfill gets past them
        await syncLater(syncing.db, syncing.jobs, name, paymentId, itsEvents)
        outcomes.set(paymentId, 'repeat')
        if (++walk.failuresInARow < FAILURES) continue
        queue.length = 0
        throw error
      }
      // `too_early` names an order whose payment is just starting: the reconciler asks about it too
      if (outcome === undefined || outcome === 'too_early') remaining += itsEvents.length
      else outcomes.set(paymentId, outcome)
    }
  }
  const lanes = await Promise.allSettled(Array.from({ length: ASKED_AT_ONCE }, lane))
  for (const one of lanes) if (one.status === 'rejected') throw one.reason
  return remaining
}

/** Settles one snapshot of the payment for all the events that name it. */
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

/** Moves the cursor forward only, so two backfills at the same time never move it back. */
async function moveCursor(db: Db, processor: string, to: Date | undefined, dueInSeconds: number): Promise<void> {
  await sql`
    update processor_cursors set seen_until = greatest(seen_until, ${to ?? null}::timestamptz),
      due_at = now() + make_interval(secs => ${dueInSeconds})
    where processor = ${processor}`.execute(db)
}
