import { type Logger, pino } from 'pino'
import { logOutput } from './log-output.ts'

export type Log = Logger

/** JSON lines on standard output. Callers log no names, addresses or other personal data. */
export const newLog = (level: string): Log =>
  pino(
    { level, base: null, timestamp: pino.stdTimeFunctions.isoTime, hooks: { streamWrite: withoutSecretIds } },
    level === 'silent' ? { write() {} } : logOutput(),
  )

/**
 * Cuts the random characters from order ids, because an order id and the buyer's address together open the downloads. The beginning
 * stays: it is the time of creation and is enough to find the order. Every log line passes through here.
 */
export const withoutSecretIds = (line: string): string =>
  line
    .replace(/(ord_[0-9a-z]{10})[0-9a-z]{16}/g, '$1…')
    // an API key is in no line of ours; this is for a text that a client sent
    .replace(/(till_(?:live|test)_)[0-9A-Za-z]{6,}/g, '$1…')

/** An error can quote a client's input. */
const LONGEST_TEXT = 4000

/** The parts of an error that may be logged: its kind and place, but not the values that a database puts into `detail`. */
export function errorForLog(error: unknown): Record<string, unknown> {
  if (!(error instanceof Error))
    return {
      error: typeof error,
      message: withoutAddresses(String((error as { message?: unknown })?.message ?? error)),
    }
  const { code, constraint, table } = error as { code?: unknown; constraint?: unknown; table?: unknown }
  const message = withoutAddresses(error.message)
  const stack = `${error.name}: ${message}${framesOf(error)}`.slice(0, LONGEST_TEXT)
  return { error: error.name, message, code, constraint, table, stack }
}

/** A stack begins with the message as it was, with each address in it, so only the lines after it are taken. */
function framesOf({ stack = '', message }: Error): string {
  const at = stack.indexOf(message)
  const frames = stack.indexOf('\n    at ', at === -1 ? 0 : at + message.length)
  return frames === -1 ? '' : stack.slice(frames)
}

const withoutAddresses = (text: string): string => text.slice(0, LONGEST_TEXT).replace(/[^\s@]+@\S+/g, '(address)')
