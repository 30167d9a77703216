import { type Logger, pino } from 'pino'

export type Log = Logger

/** Lines are written some at a time, soon, and the rest of them when the process ends by itself. */
const WRITE_AT_BYTES = 4096
const WRITE_AFTER_MS = 200

/** JSON lines on standard output. Nothing is logged but what the caller names, and nobody names a person. */
export const newLog = (level: string): Log =>
  pino(
    { level, base: null, timestamp: pino.stdTimeFunctions.isoTime, hooks: { streamWrite: withoutSecretIds } },
    pino.destination({
      dest: 1,
      sync: false,
      minLength: WRITE_AT_BYTES,
      periodicFlush: level === 'silent' ? 0 : WRITE_AFTER_MS,
    }),
  )

/**
 * With its address, an `ord_` id opens what was bought. A line keeps its beginning, which is the time it was made and enough to find it
 * by, and none of its random characters. All lines pass by here, whoever wrote them and wherever the id stands in them.
 */
export const withoutSecretIds = (line: string): string => line.replace(/(ord_[0-9a-z]{10})[0-9a-z]{16}/g, '$1…')

/** An error may repeat what a client sent. */
const LONGEST_TEXT = 4000

/** What of an error may reach a log: where and what kind, never the values a database puts into `detail`. */
export function errorForLog(error: unknown): Record<string, unknown> {
  if (!(error instanceof Error))
    return { error: typeof error, message: nameless(String((error as { message?: unknown })?.message ?? error)) }
  const { code, constraint, table } = error as { code?: unknown; constraint?: unknown; table?: unknown }
  return {
    error: error.name,
    message: nameless(error.message),
    code,
    constraint,
    table,
    stack: error.stack?.slice(0, LONGEST_TEXT).replace(/[^\s@]+@[^\s@.]+(?:\.[^\s@.]+)+(?=\s)/g, '(address)'),
  }
}

const nameless = (text: string): string => text.slice(0, LONGEST_TEXT).replace(/[^\s@]+@\S+/g, '(address)')
