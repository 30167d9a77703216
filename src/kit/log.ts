import { type Logger, pino } from 'pino'

export type Log = Logger

/** Lines are written in batches. The rest is written when the process ends normally. */
const WRITE_AT_BYTES = 12 * 1024
const WRITE_AFTER_MS = 200
/** The most bytes that wait while the log cannot be written: some 30,000 lines. Later lines are lost. */
const MOST_BYTES = 8 * 1024 * 1024

/** JSON lines on standard output. Callers log no names, addresses or other personal data. */
export const newLog = (level: string): Log =>
  pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime, hooks: { streamWrite: withoutSecretIds } }, outputOf(level)) // oxfmt-ignore

/** Standard output. When it cannot be written, such as to a full disk, lines wait or are lost, and the service goes on. */
function outputOf(level: string) {
  const output = pino.destination({
    dest: 1,
    sync: false,
    minLength: WRITE_AT_BYTES,
    maxLength: MOST_BYTES,
    periodicFlush: level === 'silent' ? 0 : WRITE_AFTER_MS,
  })
  const flushSync = output.flushSync.bind(output)
  let isFailing = false
  // the library tries again with the next lines; without a listener the error would end the process
  output.on('error', () => (isFailing = true))
  output.on('drain', () => (isFailing = false))
  // after a fatal error and at the end the library would repeat a failing write for ever
  output.flushSync = () => void (isFailing || flushSync())
  return output
}

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
