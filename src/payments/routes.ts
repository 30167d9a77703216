import type { IncomingHttpHeaders } from 'node:http'
import { Type } from 'typebox'
import type { Db } from '../kit/database.ts'
import { DEADLINES } from '../kit/deadlines.ts'
import { Refusal } from '../kit/errors.ts'
import type { Server } from '../kit/http.ts'
import type { Log } from '../kit/log.ts'
import { refusing } from '../kit/schema.ts'
import { OutOfTime, inTime } from '../kit/time.ts'
import { recordWithoutEffect } from './settle/unseen-events.ts'
import { type PaymentSnapshot, PaymentUnknown, type Processor, ProcessorUnavailable } from '../processors/processor.ts'
import type { Settle } from './settle/settle.ts'

const BODY_LIMIT_BYTES = 256 * 1024
/** A notification that overtook our own commit: the next moment it will be known. */
const TOO_EARLY_RETRY_SECONDS = 2
/** So many refused ones in so long are no accident. */
const MANY_REFUSALS = 10
const REFUSALS_MS = 10 * 60_000

/**
 * Where processors notify us. The signature is checked over the raw bytes, and a 2xx is given only after the commit: whatever
 * is not answered so comes again.
 */
export async function webhookRoutes(
  parent: Server,
  {
    db,
    processors,
    settle,
    log,
    askMs = DEADLINES.webhookAskMs,
  }: {
    db: Db
    processors: ReadonlyMap<string, Processor>
    settle: Settle
    log: Log
    /** How long a notification waits for its processor: what is not answered comes again. */
    askMs?: number
  },
): Promise<void> {
  await parent.register(async (server: Server) => {
    // the bytes are all that counts: whatever type they are said to be of, also one that is none
    server.addHook('onRequest', async ({ headers }) => void (headers['content-type'] = 'application/octet-stream'))
    server.removeAllContentTypeParsers()
    server.addContentTypeParser('*', { parseAs: 'buffer' }, async (_request: unknown, body: Buffer) => body)

    const refused = new Map<string, { count: number; since: number }>()
    // a clock that is wrong, or another secret, would refuse all of them: that must be heard of, and not once for each
    const warnOfRefusals = ({ name }: Processor) => {
      const before = refused.get(name)
      const now = performance.now()
      const { count, since } = before && now - before.since < REFUSALS_MS ? before : { count: 0, since: now }
      refused.set(name, { count: count + 1, since })
      if (count + 1 === MANY_REFUSALS)
        log.error({ processor: name }, 'notifications are refused: are the clock and the webhook secret right?')
    }
    const warnOfStranger = ({ name }: Processor, { id }: { id: string }) =>
      log.warn({ processor: name, eventId: id }, 'a notification about a payment that is not ours')

    server.post(
      '/api/webhooks/:processor',
      {
        bodyLimit: BODY_LIMIT_BYTES,
        // a processor sends a crowd of them from one address, and would send those it is refused hours later
        config: { unmetered: true },
        schema: {
          operationId: 'receiveNotification',
          summary: 'Notifications of a payment processor',
          tags: ['Operation'],
          params: Type.Object({ processor: Type.String({ maxLength: 40 }) }),
          response: {
            200: Type.Object({ received: Type.Boolean() }),
            ...refusing('invalid_signature', 'not_found', 'payment_unknown', 'processor_unavailable'),
          },
        },
      },
      async (request) => {
        const processor = processors.get(request.params.processor)
        if (!processor) throw new Refusal('not_found', 'There is nothing at this address.')
        const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0)
        const verified = processor.verifyEvent(body, request.headers)
        if (!verified) {
          if (looksSigned(processor, request.headers)) warnOfRefusals(processor)
          throw new Refusal('invalid_signature', 'The notification is not genuine, or not fresh.')
        }
        const { told, ...event } = verified
        const payment =
          event.payment ?? (event.paymentId ? await ask(processor, event.paymentId, told, askMs) : 'ignored')
        if (payment === 'ignored' || payment === 'unknown_payment') {
          await recordWithoutEffect(db, processor.name, [event], payment)
          if (payment === 'unknown_payment') warnOfStranger(processor, event)
          return { received: true }
        }
        // one that was asked about has taken its time already
        const outcome = await settle({ processor: processor.name, payment, event }, { deferrable: !event.payment })
        if (outcome === 'too_early') {
          throw new Refusal('payment_unknown', 'This payment is not known here yet.', {
            retryAfterSeconds: TOO_EARLY_RETRY_SECONDS,
          })
        }
        if (outcome === 'unknown_payment') warnOfStranger(processor, event)
        return { received: true }
      },
    )
  })
}

/** Who sends anything at all must not be able to raise an alarm that names the clock and the secret. */
const looksSigned = ({ signature: { header, form } }: Processor, headers: IncomingHttpHeaders): boolean =>
  form.test(String(headers[header] ?? ''))

/** A notification says that something happened; what, the processor itself is asked. While it is away, the notification must come again. */
async function ask(
  processor: Processor,
  paymentId: string,
  told: unknown,
  askMs: number,
): Promise<PaymentSnapshot | 'unknown_payment'> {
  try {
    return await inTime(processor.fetchPayment(paymentId, told), askMs)
  } catch (error) {
    if (error instanceof PaymentUnknown) return 'unknown_payment'
    if (!(error instanceof ProcessorUnavailable || error instanceof OutOfTime)) throw error
    throw new Refusal('processor_unavailable', 'The payment cannot be looked up right now.', {
      retryAfterSeconds: TOO_EARLY_RETRY_SECONDS,
      cause: error,
    })
  }
}
