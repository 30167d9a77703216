import type { RefusalCode } from './types.ts'

const TIMEOUT_MS = 15_000
const RETRIES = 3
const FIRST_PAUSE_MS = 300
/** When the service asks to wait longer than this, the call throws instead of waiting in silence. */
const LONGEST_PAUSE_MS = 20_000

export interface TillOptions {
  /** The address of the service: `https://api.shop.example`. */
  baseUrl: string
  /** A seller's API key, `till_live_…`. Keep it on a server: whoever has it can do what its scopes allow. */
  apiKey?: string | undefined
  /** A `fetch` to use instead of the global one. */
  fetch?: typeof globalThis.fetch
  /** How long one try may take. 15 seconds by default. */
  timeoutMs?: number
  /** How often a request is repeated where that is safe. 3 times by default. */
  retries?: number
}

/** For a single call. */
export interface CallOptions {
  /** Ends the call with the signal's own reason. */
  signal?: AbortSignal | undefined
}

/** The codes of the service, and those of the client itself, such as `unreachable` when no answer came. */
export type TillErrorCode =
  | RefusalCode
  | 'unreachable'
  | 'timeout'
  | 'unexpected_answer'
  | 'email_mismatch'
  | 'not_paid'
  | 'message_too_old'

/** Why a call failed. `code` stays the same from version to version; `message` is for people. */
export class TillError extends Error {
  override readonly name = 'TillError'
  /** A newer service may send codes that these types do not know, so a `switch` over them needs a `default`. */
  readonly code: TillErrorCode
  /** The HTTP status, or 0 where no answer came. */
  readonly status: number
  /** The members of the request that are wrong, with `validation_failed`. */
  readonly fields: readonly { path: string; message: string }[]
  /** When another try is worthwhile. */
  readonly retryAfterSeconds: number | undefined
  /** The id under which the service's log has the request. */
  readonly requestId: string | undefined

  constructor(
    code: TillErrorCode,
    message: string,
    more: Partial<Pick<TillError, 'status' | 'fields' | 'retryAfterSeconds' | 'requestId' | 'cause'>> = {},
  ) {
    super(message, 'cause' in more ? { cause: more.cause } : {})
    this.code = code
    this.status = more.status ?? 0
    this.fields = more.fields ?? []
    this.retryAfterSeconds = more.retryAfterSeconds
    this.requestId = more.requestId
  }

  /** Whether the same request may succeed a little later. The failed one may have been carried out. */
  get isPassing(): boolean {
    return this.status >= 500 || this.status === 429 || this.code === 'unreachable' || this.code === 'timeout'
  }
}

/** Whether the failed request may have been carried out: the same call again must carry the same Idempotency-Key. */
export const mayBeDone = (error: unknown): boolean =>
  !(error instanceof TillError) || error.isPassing || error.code === 'unexpected_answer'

/** How many keys and tokens are kept. A server may call for years. */
const MOST_KEPT = 10_000

/** Keeps a value, and forgets the one that was kept first where there are too many. */
export function keep(map: Map<string, string>, name: string, value: string): void {
  map.delete(name)
  map.set(name, value)
  if (map.size > MOST_KEPT) for (const first of map.keys()) return void map.delete(first)
}

export interface Ask extends CallOptions {
  method?: string
  query?: object | undefined
  json?: unknown
  body?: RequestInit['body']
  headers?: Record<string, string | undefined>
  /** Whether a repetition has no second effect. A GET never has one. */
  repeatable?: boolean
  timeoutMs?: number | undefined
}

/**
 * Sends one request, repeats it where that is safe, and reads the answer with `read` within the time. Throws a
 * TillError.
 */
export async function ask<Answer>(
  options: TillOptions,
  path: string,
  request: Ask = {},
  read: (response: Response) => Promise<Answer> = readJson,
): Promise<Answer> {
  const { method = 'GET', repeatable = method === 'GET', signal } = request
  let mayBeGone = false
  for (let tries = 0; ; tries++) {
    try {
      return await askOnce(options, path, request, read)
    } catch (error) {
      // an earlier try has removed it, and its answer was lost; a proxy's 404 says nothing of it
      if (mayBeGone && error instanceof TillError && error.code.endsWith('_not_found')) return undefined as Answer
      if (!(error instanceof TillError && error.isPassing && repeatable)) throw error
      mayBeGone ||= method === 'DELETE' && error.status !== 429
      const pauseMs = (error.retryAfterSeconds ?? 0) * 1000 || FIRST_PAUSE_MS * 2 ** tries
      if (tries >= (options.retries ?? RETRIES) || pauseMs > LONGEST_PAUSE_MS) throw error
      // Never earlier than the service asked, and spread so that clients do not all return at one moment.
      await pause(pauseMs * (1 + Math.random() / 2), signal)
    }
  }
}

async function askOnce<Answer>(
  { baseUrl, apiKey, fetch = globalThis.fetch, timeoutMs: usualMs = TIMEOUT_MS }: TillOptions,
  path: string,
  { method = 'GET', query, json, body, headers = {}, signal, timeoutMs = usualMs }: Ask,
  read: (response: Response) => Promise<Answer>,
): Promise<Answer> {
  signal?.throwIfAborted()
  const url = new URL(baseUrl.replace(/\/+$/, '') + path)
  for (const [name, value] of Object.entries(query ?? {}))
    if (value !== undefined) url.searchParams.set(name, String(value))
  const named = Object.entries({
    ...(json !== undefined && { 'content-type': 'application/json' }),
    ...(apiKey !== undefined && { authorization: `Bearer ${apiKey}` }),
    ...headers,
  })
  const ended = new AbortController()
  const end = () => ended.abort()
  const timer = timeoutMs < Infinity ? setTimeout(end, timeoutMs) : undefined
  signal?.addEventListener('abort', end)
  try {
    const sent = json === undefined ? body : JSON.stringify(json)
    const response = await fetch(url.href, {
      method,
      headers: named.filter((one): one is [string, string] => one[1] !== undefined),
      credentials: 'omit',
      signal: ended.signal,
      ...(sent !== undefined && sent !== null && { body: sent }),
      // Browsers and Node accept a streamed body only with this option.
      ...(typeof sent === 'object' && sent instanceof ReadableStream && { duplex: 'half' }),
    })
    if (!response.ok) throw await refusalOf(response)
    return await read(response)
  } catch (error) {
    if (error instanceof TillError) throw error
    signal?.throwIfAborted()
    throw ended.signal.aborted
      ? new TillError('timeout', 'The service did not answer in time.', { cause: error })
      : new TillError('unreachable', 'The service could not be reached.', { cause: error })
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', end)
  }
}

/** Reads a JSON body, or undefined where the answer has none. */
export async function readJson<Answer>(response: Response): Promise<Answer> {
  const text = await response.text()
  if (text === '') return undefined as Answer
  try {
    return JSON.parse(text) as Answer
  } catch (cause) {
    throw new TillError('unexpected_answer', 'The answer is not the service’s.', { status: response.status, cause })
  }
}

/** Reads a problem of RFC 9457, or whatever a proxy between client and service answers. */
async function refusalOf(response: Response): Promise<TillError> {
  const { status, headers } = response
  const said: unknown = await response.json().catch(() => null)
  const { code, detail, fields, requestId } = (said ?? {}) as Record<string, never>
  return new TillError(code ?? 'unexpected_answer', detail ?? `The answer was ${status}.`, {
    status,
    fields: fields ?? [],
    retryAfterSeconds: secondsUntil(headers.get('retry-after')),
    requestId: requestId ?? headers.get('x-request-id') ?? undefined,
  })
}

/** A proxy may send a date instead of seconds. */
function secondsUntil(retryAfter: string | null): number | undefined {
  const text = retryAfter ?? ''
  const seconds = /^\d+$/.test(text) ? Number(text) : Math.ceil((Date.parse(text) - Date.now()) / 1000)
  return Number.isNaN(seconds) ? undefined : Math.max(seconds, 0)
}

/** Waits. Rejects with the signal's reason when the signal ends the wait. */
export function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = () => {
      clearTimeout(timer)
      reject(signal!.reason)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', end)
      resolve()
    }, ms)
    if (signal?.aborted) end()
    else signal?.addEventListener('abort', end, { once: true })
  })
}

/** A random key. Pages without https have no randomUUID. */
export function newKey(): string {
  const parts = [...crypto.getRandomValues(new Uint32Array(5))]
  return parts.map((part) => part.toString(36).padStart(7, '0')).join('')
}
