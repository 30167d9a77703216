import { BrokenCircuitError, ConsecutiveBreaker, circuitBreaker, handleWhen } from 'cockatiel'
import { type Log, errorForLog } from '../kit/log.ts'
import { PaymentUnknown, type Processor, ProcessorUnavailable } from './processor.ts'

/** So many calls in a row without any answer are an outage. */
const FAILURES = 5
/** How long nobody asks then; after it one call tries for all. */
const PAUSE_SECONDS = 10

/**
 * A processor that is away is left alone for a while: who asks meanwhile hears at once that it is unavailable, and nobody
 * waits through a time limit for it. A "no" of its own is an answer and no outage.
 */
export function withBreaker(processor: Processor, log: Log): Processor {
  const breaker = circuitBreaker(
    handleWhen((error) => error instanceof ProcessorUnavailable && !error.answered),
    { halfOpenAfter: PAUSE_SECONDS * 1000, breaker: new ConsecutiveBreaker(FAILURES) },
  )
  const { name } = processor
  breaker.onBreak((reason) =>
    log.error({ processor: name, ...('error' in reason && errorForLog(reason.error)) }, 'the processor is away'),
  )
  breaker.onReset(() => log.info({ processor: name }, 'the processor is back'))
  const guarded = async <T>(what: string, call: () => Promise<T>): Promise<T> => {
    try {
      return await breaker.execute(call)
    } catch (error) {
      // at once, and each: what is refused for good would otherwise be known to buyers alone
      if (error instanceof ProcessorUnavailable && error.said && !(error instanceof PaymentUnknown))
        log.warn({ processor: name, call: what, ...error.said }, 'the processor refused')
      if (!(error instanceof BrokenCircuitError)) throw error
      throw new ProcessorUnavailable(`${name} is away and was not asked`, { retryAfterSeconds: PAUSE_SECONDS })
    }
  }
  return {
    ...processor,
    startPayment: (payment) => guarded('startPayment', () => processor.startPayment(payment)),
    fetchPayment: (id, told) => guarded('fetchPayment', () => processor.fetchPayment(id, told)),
    cancelPayment: (id) => guarded('cancelPayment', () => processor.cancelPayment(id)),
    refund: (refund) => guarded('refund', () => processor.refund(refund)),
  }
}
