import { BrokenCircuitError, ConsecutiveBreaker, circuitBreaker, handleWhen } from 'cockatiel'
import { type Log, errorForLog } from '../kit/log.ts'
import { ApiRefusal } from './api-refusal.ts'
import type { Processor } from './processor.ts'
import { PaymentUnknown, ProcessorUnavailable, isBusy } from './refusals.ts'

/** This many calls in a row without an answer count as an outage. */
const FAILURES = 5
/** The breaker stops all calls for this long. Then one call tests whether the processor answers again. */
const PAUSE_SECONDS = 10

/**
 * Puts a breaker before a processor. During an outage each call fails at once, so buyers do not wait for a time limit. A refusal
 * is an answer and no outage. A processor that is busy is not away either: many notifications at once must stop no checkout. A repeated
 * answer of earlier says nothing of the processor now, so it counts as an answer.
 */
export function withBreaker(processor: Processor, log: Log): Processor {
  const { connected } = processor
  return {
    ...guarded(processor, log),
    // each account has a breaker of its own: one that has trouble stops no other
    ...(connected && { connected: (account: string) => guarded(connected(account), log) }),
  }
}

const isOutage = (error: unknown): boolean =>
  error instanceof ProcessorUnavailable &&
  !error.answered &&
  !(error instanceof ApiRefusal && error.isReplayed) &&
  !isBusy(error)

function guarded(processor: Processor, log: Log): Processor {
  const breaker = circuitBreaker(handleWhen(isOutage), {
    halfOpenAfter: PAUSE_SECONDS * 1000,
    breaker: new ConsecutiveBreaker(FAILURES),
  })
  const { name, takeBack } = processor
  breaker.onBreak((reason) =>
    log.error({ processor: name, ...('error' in reason && errorForLog(reason.error)) }, 'the processor is away'),
  )
  breaker.onReset(() => log.info({ processor: name }, 'the processor is back'))
  const run = async <T>(what: string, call: () => Promise<T>): Promise<T> => {
    try {
      return await breaker.execute(call)
    } catch (error) {
      // every refusal is logged: otherwise only buyers would see a permanent one
      if (error instanceof ProcessorUnavailable && error.details && !(error instanceof PaymentUnknown))
        log.warn({ processor: name, call: what, ...error.details }, 'the processor refused')
      if (!(error instanceof BrokenCircuitError)) throw error
      throw new ProcessorUnavailable(`${name} does not answer, so the breaker stopped this call`, {
        retryAfterSeconds: PAUSE_SECONDS,
      })
    }
  }
  return {
    ...processor,
    startPayment: (payment) => run('startPayment', () => processor.startPayment(payment)),
    fetchPayment: (...asked) => run('fetchPayment', () => processor.fetchPayment(...asked)),
    cancelPayment: (id) => run('cancelPayment', () => processor.cancelPayment(id)),
    refund: (refund) => run('refund', () => processor.refund(refund)),
    ...(takeBack && { takeBack: (wanted) => run('takeBack', () => takeBack(wanted)) }),
  }
}
