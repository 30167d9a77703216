import { type Logger, pino } from 'pino'

export type Log = Logger

/** Lines are written some at a time, soon, and the rest of them when the process ends by itself. */
const WRITE_AT_BYTES = 4096
const WRITE_AFTER_MS = 200

/** JSON lines on standard output. Nothing is logged but what the caller names, and nobody names a person. */
export const newLog = (level: string): Log =>
  pino(
    { level, base: null, timestamp: pino.stdTimeFunctions.isoTime },
    pino.destination({
      dest: 1,
      sync: false,
      minLength: WRITE_AT_BYTES,
      periodicFlush: level === 'silent' ? 0 : WRITE_AFTER_MS,
    }),
  )

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
    stack: error.stack?.replace(/\S+@\S+\.\S+(?=\s)/g, '(address)'),
  }
}

const nameless = (text: string): string => text.replace(/\S+@\S+/g, '(address)')
