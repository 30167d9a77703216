/** The wait before each try. After the last one the delivery has failed: a replay sends it again, or resuming the endpoint. */
export const SCHEDULE_SECONDS = [0, 5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400] as const
/** An endpoint is paused by the first try that fails after this time without a success. */
export const PAUSE_AFTER_HOURS = 72
/** Waits differ by up to this part, so that the deliveries of an outage do not all come back at the same moment. */
const JITTER = 0.1
/** A receiver can ask for a longer wait than the schedule's, up to this. */
const LONGEST_WAIT_SECONDS = 86_400

/**
 * How long to wait after a failed try; `step` tries of the schedule came before it. Undefined: it was the last one. `askedSeconds` is
 * the receiver's Retry-After. `chance` is between 0 and 1.
 */
export function waitAfter(step: number, askedSeconds: number | undefined, chance = Math.random()): number | undefined {
  const planned = SCHEDULE_SECONDS[step + 1]
  if (planned === undefined) return undefined
  return Math.max(planned * (1 + JITTER * (2 * chance - 1)), Math.min(askedSeconds ?? 0, LONGEST_WAIT_SECONDS))
}

/** The seconds that a Retry-After names: a number, or a time (RFC 9110, section 10.2.3). Undefined when it is neither. */
export function secondsOfRetryAfter(text: string | undefined, now = Date.now()): number | undefined {
  if (text === undefined) return undefined
  const seconds = /^\d{1,9}$/.test(text.trim()) ? Number(text) : (Date.parse(text) - now) / 1000
  return Number.isFinite(seconds) && seconds > 0 ? Math.min(seconds, LONGEST_WAIT_SECONDS) : undefined
}
