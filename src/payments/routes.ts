import type { IncomingHttpHeaders } from 'node:http'
import { Type } from 'typebox'
import type { Db } from '../kit/database.ts'
import { DEADLINES } from '../kit/deadlines.ts'
import { Refusal } from '../kit/errors.ts'
import type { Server } from '../kit/http.ts'
import type { Jobs } from '../kit/jobs.ts'
import type { Log } from '../kit/log.ts'
import { refusing } from '../kit/schema.ts'
import { OutOfTime, inTime } from '../kit/time.ts'
import { accountOf, connectedName } from '../processors/connected.ts'
import { isAboutAccount, isConnected } from './sync/accounts.ts'
import { syncLater } from './sync/later.ts'
import { recordWithoutEffect } from './settle/unseen-events.ts'
import type { PaymentSnapshot, Processor, ProcessorEvent } from '../processors/processor.ts'
import { PaymentUnknown, ProcessorUnavailable, isBusy } from '../processors/refusals.ts'
import type { Settle } from './settle/settle.ts'

const BODY_LIMIT_BYTES = 256 * 1024
/** After this pause a notification that arrived before our own commit finds its payment. */
const TOO_EARLY_RETRY_SECONDS = 2
/** This many refusals within this time are no accident. */
const MANY_REFUSALS = 10
const REFUSALS_MS = 10 * 60_000

interface WebhookParts {
  db: Db
  jobs: Jobs
  processors: ReadonlyMap<string, Processor>
  settle: Settle
  log: Log
  /** How long a notification waits for the processor's answer. After that a job asks. */
  askMs?: number
  /** Called when a connected account has changed or has paid out. The promise resolves once this is stored. */
  onAccountNews: (processor: string) => Promise<void>
}

/**
 * The route to which processors send notifications. The signature covers the raw bytes. The answer is a 2xx only after the commit: the
 * processor sends a notification again until it gets a 2xx.
 */
export async function webhookRoutes(parent: Server, parts: WebhookParts): Promise<void> {
  await parent.register(async (server: Server) => {
    // only the bytes count, so any content type is accepted, even a malformed one
    server.addHook('onRequest', ({ headers }, _reply, done) => {
      headers['content-type'] = 'application/octet-stream'
      done()
    })
    server.removeAllContentTypeParsers()
    server.addContentTypeParser('*', { parseAs: 'buffer' }, async (_request: unknown, body: Buffer) => body)
    notificationRoute(server, parts)
  })
}

function notificationRoute(server: Server, parts: WebhookParts): void {
  const { processors } = parts
  const warnOfRefusal = refusalAlarm(parts.log)
  server.post(
    '/api/webhooks/:processor',
    {
      bodyLimit: BODY_LIMIT_BYTES,
      // a processor sends many from one address, and repeats a refused one only hours later
      config: { unmetered: true },
      schema: {
        operationId: 'receiveNotification',
        summary: 'Notifications of a payment processor',
        tags: ['Operation'],
        params: Type.Object({
          processor: Type.String({ maxLength: 40, description: 'The processor that sends the notification.' }),
        }),
        response: {
          200: Type.Object({ received: Type.Boolean() }),
          ...refusing('invalid_signature', 'not_found', 'payment_unknown', 'processor_unavailable'),
        },
      },
    },
    async (request) => {
      // the notifications about a seller's account come to the address of its processor
      const processor = accountOf(request.params.processor) === undefined && processors.get(request.params.processor)
      if (!processor) throw new Refusal('not_found', 'There is nothing at this address.')
      const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0)
      const event = processor.verifyEvent(body, request.headers)
      if (!event) {
        if (looksSigned(processor, request.headers)) warnOfRefusal(processor)
        throw new Refusal('invalid_signature', 'The signature of this notification is not valid, or it is too old.')
      }
      await settleEvent(parts, processor, event)
      return { received: true }
    },
  )
}

/** Settles an event at our own account, or at the account of a seller who is here. */
async function settleEvent(parts: WebhookParts, processor: Processor, event: ProcessorEvent): Promise<void> {
  const { account } = event
  if (account === undefined) return settleAt(parts, processor, event)
  const name = connectedName(processor.name, account)
  // the operator's account may have accounts below it that are not here
  const isHere = await isConnected(parts.db, name)
  if (isHere && isAboutAccount(event.type)) await parts.onAccountNews(name)
  const own = isHere && parts.processors.get(name)
  if (!own) return recordWithoutEffect(parts.db, processor.name, [event], 'ignored')
  await settleAt(parts, own, event)
}

async function settleAt(
  { db, jobs, settle, log, askMs = DEADLINES.webhookAskMs }: WebhookParts,
  processor: Processor,
  { reported, ...event }: ProcessorEvent,
): Promise<void> {
  const warnOfStranger = () =>
    log.warn({ processor: processor.name, eventId: event.id }, 'a notification about a payment that is not ours')
  const { paymentId } = event
  const payment = event.payment ?? (paymentId ? await ask(processor, paymentId, reported, askMs) : 'ignored')
  if (payment === 'later') {
    // A repeat would be too late as well: some payments take longer to read than a processor waits for our answer. Razorpay disables
    // the address after a day without a 2xx. A busy processor would send each refused notification again, and each would ask it once more
    log.info({ processor: processor.name, eventId: event.id }, 'the payment of a notification is read by a job')
    return syncLater(db, jobs, processor.name, paymentId!, [event])
  }
  if (payment === 'ignored' || payment === 'unknown_payment') {
    await recordWithoutEffect(db, processor.name, [event], payment)
    if (payment === 'unknown_payment') warnOfStranger()
    if (event.isUnreadable)
      log.warn(
        { processor: processor.name, eventId: event.id, type: event.type },
        'a notification in a form that cannot be read',
      )
    return
  }
  // a notification that had to ask the processor has waited already
  const outcome = await settle({ processor: processor.name, payment, event }, { deferrable: !event.payment })
  if (outcome === 'too_early') {
    throw new Refusal('payment_unknown', 'This payment is not known here yet.', {
      retryAfterSeconds: TOO_EARLY_RETRY_SECONDS,
    })
  }
  if (outcome === 'unknown_payment') warnOfStranger()
}

/** A wrong clock or a wrong secret makes the service refuse every notification. The log says so once, not each time. */
function refusalAlarm(log: Log): (processor: Processor) => void {
  const refused = new Map<string, { count: number; since: number }>()
  return ({ name }) => {
    const before = refused.get(name)
    const now = performance.now()
    const { count, since } = before && now - before.since < REFUSALS_MS ? before : { count: 0, since: now }
    refused.set(name, { count: count + 1, since })
    if (count + 1 === MANY_REFUSALS)
      log.error({ processor: name }, 'notifications are refused: are the clock and the webhook secret right?')
  }
}

/** Only requests with a signature of the right form count for the warning, so random requests cannot raise a false alarm. */
const looksSigned = ({ signature: { header, form } }: Processor, headers: IncomingHttpHeaders): boolean =>
  form.test(String(headers[header] ?? ''))

/**
 * Asks the processor how the payment of a notification stands. `later`: it is too slow or too busy, and a job must ask. If the processor
 * cannot answer, the notification must come again.
 */
async function ask(
  processor: Processor,
  paymentId: string,
  reported: unknown,
  askMs: number,
): Promise<PaymentSnapshot | 'unknown_payment' | 'later'> {
  try {
    return await inTime(processor.fetchPayment(paymentId, reported), askMs)
  } catch (error) {
    if (error instanceof PaymentUnknown) return 'unknown_payment'
    if (error instanceof OutOfTime || isBusy(error)) return 'later'
    if (!(error instanceof ProcessorUnavailable)) throw error
    throw new Refusal('processor_unavailable', 'The payment cannot be looked up right now.', {
      retryAfterSeconds: TOO_EARLY_RETRY_SECONDS,
      cause: error,
    })
  }
}
