import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { batched } from '../kit/batch.ts'
import { type Db, isDatabaseOutage, retryConflicts } from '../kit/database.ts'
import { type Log, errorForLog } from '../kit/log.ts'
import type { TextSeal } from '../kit/sealed-text.ts'
import { type PageUrls, envelopeOf } from './envelope.ts'
import { type Due, type Leased, type Outcome, type Slots, type Target, leaseEndpoints, readDue, recordOutcomes, releaseEndpoints, renewLease } from './queue.ts' // oxfmt-ignore
import { waitAfter } from './schedule.ts'
import type { Send, Sent } from './send.ts'
import { signedHeaders } from './signature.ts'

/** How many tries of one endpoint are under way at once. */
const AT_ONCE = 4
/** A receiver that fails gets one try at a time. */
const AT_ONCE_FAILING = 1
/** Endpoints of this process at once. A seller's share is small, so that slow receivers of a few sellers leave room for the others. */
const SLOTS: Slots = { healthy: 100, failing: 50, ofSeller: 5 }
/** An endpoint that always has something due gives its slot to the next one after this time. The tries under way still end. */
const TURN_MS = 30_000
const LOOK_EVERY_MS = 500
/** A look rests this many times as long as it took, so that many endpoints never keep the database busy by looks alone. */
const REST_TIMES = 20
const LONGEST_REST_MS = 10_000
/** These ask for a rest of the whole receiver, and not only of one delivery. */
const HOLDS: ReadonlySet<unknown> = new Set([429, 503])
const GONE = 410

interface DispatcherParts {
  db: Db
  send: Send
  seal: TextSeal
  urls: PageUrls
  log: Log
  /** For tests. */
  slots?: Slots
  turnMs?: number
}

/** Sends due deliveries to sellers' endpoints, until it is stopped. */
export function startDispatcher(parts: DispatcherParts) {
  const { db, log, slots = SLOTS } = parts
  const sender = randomUUID()
  const stopping = new AbortController()
  const working = new Map<string, Leased & { done: Promise<void> }>()
  const record = batched(
    async (outcomes: readonly Outcome[]) => {
      await retryConflicts(() => recordOutcomes(db, outcomes))
      return outcomes.map(() => undefined)
    },
    { most: 200, atOnce: 2, isOutage: isDatabaseOutage },
  )
  let isAway = false

  function failed(error: unknown): void {
    if (!isAway && !stopping.signal.aborted) log.warn(errorForLog(error), 'webhooks: the deliveries wait')
    isAway = true
  }

  async function look(): Promise<void> {
    for (const { id, isFailing } of await leaseEndpoints(db, { sender, slots, working: [...working.values()] })) {
      const work = sendToEndpoint({ ...parts, sender, record, stopped: stopping.signal }, id, isFailing)
      const done = work.catch(failed).finally(() => working.delete(id))
      working.set(id, { id, isFailing, done })
    }
    isAway = false
  }

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      const began = performance.now()
      await look().catch(failed)
      const restMs = Math.min(LONGEST_REST_MS, (performance.now() - began) * REST_TIMES)
      await sleep(Math.max(LOOK_EVERY_MS, restMs), undefined, { signal: stopping.signal }).catch(() => {})
    }
  }
  const running = run()

  return {
    /** Begins no further try. Those under way get `waitMs` to finish; another process sends the unfinished ones again. */
    async stop(waitMs: number) {
      stopping.abort()
      await running
      await Promise.race([
        Promise.all([...working.values()].map(({ done }) => done)),
        sleep(waitMs, undefined, { ref: false }),
      ])
      await releaseEndpoints(db, sender).catch(() => {})
    },
  }
}

interface WorkParts extends DispatcherParts {
  sender: string
  record: (outcome: Outcome) => Promise<void>
  stopped: AbortSignal
}

/** Sends to one leased endpoint until nothing is due, its turn is over, the lease is lost, or a try fails. Ends the lease. */
async function sendToEndpoint(parts: WorkParts, endpointId: string, isFailing: boolean): Promise<void> {
  const { db, sender, record, stopped, turnMs = TURN_MS } = parts
  /** The deliveries being sent or written, by event. */
  const underWay = new Map<string, Promise<void>>()
  const end = { hasFailed: false }
  let sending = 0
  let changed = Promise.withResolvers<void>()
  let atOnce = isFailing ? AT_ONCE_FAILING : AT_ONCE
  let waiting: Due[] = []
  let target: Target | undefined
  let renewedAt = 0
  const turnEndsAt = performance.now() + turnMs
  const isOver = () => stopped.aborted || end.hasFailed || performance.now() > turnEndsAt

  // the next one begins with the answer, and does not wait until the answer is written
  const answered = (hasFailed: boolean) => {
    sending--
    if (hasFailed) end.hasFailed = true
    else atOnce = AT_ONCE
    changed.resolve()
  }
  const begin = (due: Due, to: Target) => {
    sending++
    const work = tryOnce(parts, to, due)
      .then(
        (outcome) => {
          answered(outcome.error !== undefined)
          return record(outcome)
        },
        () => answered(true),
      )
      .catch(() => void (end.hasFailed = true))
      .finally(() => {
        underWay.delete(due.eventId)
        changed.resolve()
      })
    underWay.set(due.eventId, work)
  }

  while (!isOver()) {
    // the seller may have removed the endpoint, or given it another address or secret, after the deliveries were read
    if (waiting.length === 0 || performance.now() > renewedAt + LOOK_EVERY_MS) {
      renewedAt = performance.now()
      target = await renewLease(db, { endpointId, sender })
      if (!target) break
      if (waiting.length === 0) waiting = await readDue(db, { endpointId, underWay: [...underWay.keys()] })
      if (waiting.length === 0 && underWay.size === 0) break
    }
    changed = Promise.withResolvers<void>()
    for (const due of waiting.splice(0, Math.max(0, atOnce - sending))) begin(due, target!)
    // something new can become due while a slow try is under way
    await Promise.race([changed.promise, sleep(LOOK_EVERY_MS, undefined, { ref: false })])
  }
  await Promise.all(underWay.values())
  await releaseEndpoints(db, sender, endpointId)
}

async function tryOnce({ send, seal, urls }: WorkParts, to: Target, due: Due): Promise<Outcome> {
  const at = new Date()
  const sent = await sendSigned()
  const { status, error, retryAfterSeconds } = sent
  return {
    endpointId: due.endpointId,
    url: to.url,
    eventId: due.eventId,
    tries: due.tries,
    at,
    ...sent,
    waitSeconds: error && waitAfter(due.step, retryAfterSeconds),
    holdSeconds: HOLDS.has(status) ? (retryAfterSeconds ?? 0) : 0,
    isGone: status === GONE,
  }

  async function sendSigned(): Promise<Sent> {
    const sealed = [to.secret, ...to.oldSecrets]
    const secrets = sealed.flatMap((one) => seal.open(one)?.text ?? [])
    if (secrets.length === 0)
      return { tookMs: 0, error: 'secret', answer: 'The secret of this endpoint cannot be read any more: rotate it.' }
    const body = JSON.stringify(envelopeOf({ ...due, id: due.eventId }, urls))
    const signed = signedHeaders(secrets, { id: due.eventId, at: Math.floor(at.getTime() / 1000), body })
    return send({ url: to.url, headers: signed, body })
  }
}
