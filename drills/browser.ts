import { setTimeout as sleep } from 'node:timers/promises'
import { Pool } from 'undici'

/** As many connections as a browser opens to one host. */
const CONNECTIONS = 6
/** After this time the hosted page takes a request to the API for lost, and a browser a page or a download. */
const PATIENCE_MS = { api: 20_000, browser: 300_000 }
/** The pauses before a request is repeated. They vary by half, so that buyers do not come back all at once. */
const PAUSE_MS = { first: 250, growth: 2, most: 8_000 }
/** The service has not read the request in time, and answers so. A client may repeat it on a new connection (RFC 9110, 15.5.9). */
const REQUEST_TIMEOUT = 408
const UNAVAILABLE = 503
/** A proxy has lost the instance that it had given the request to. */
const LOST_BEHIND_PROXY = [502, 504]
const AWAY = new Set([REQUEST_TIMEOUT, UNAVAILABLE, ...LOST_BEHIND_PROXY])

export interface Asked {
  body?: object
  headers?: Record<string, string>
  /** How long it waits and how it repeats: as the hosted page's script does, or as the browser itself does. */
  by?: keyof typeof PATIENCE_MS
  /** The answers that the buyer can go on with. */
  expected: readonly number[]
}

export interface Answer {
  status: number
  /** The seconds that the service asks the client to wait. */
  retryAfter?: string | undefined
  bytes: Buffer
}

/** A buyer's browser, with connections of its own. */
export interface Browser {
  /**
   * Sends a request until the service answers it. The same request is repeated while the service is away: the connection is refused or
   * breaks, or the answer is 408, 502, 503 or 504. Throws for any other answer that is not expected, and after `giveUpAt`.
   */
  ask(method: 'GET' | 'POST', path: string, asked: Asked): Promise<Answer>
  close(): Promise<void>
}

/** `giveUpAt` is a time of `performance.now()`. */
export function openBrowser(
  port: number,
  { giveUpAt, onRepeat }: { giveUpAt: number; onRepeat: (answer: Answer | undefined) => void },
): Browser {
  const pool = new Pool(`http://127.0.0.1:${port}`, { connections: CONNECTIONS })
  const once = async (method: 'GET' | 'POST', path: string, { body, headers, by = 'api' }: Asked): Promise<Answer> => {
    const response = await pool.request({
      method,
      path,
      headersTimeout: PATIENCE_MS[by],
      bodyTimeout: PATIENCE_MS[by],
      headers: { ...(body && { 'content-type': 'application/json' }), ...headers },
      ...(body && { body: JSON.stringify(body) }),
    })
    const retryAfter = response.headers['retry-after']?.toString()
    return { status: response.statusCode, retryAfter, bytes: Buffer.from(await response.body.arrayBuffer()) }
  }
  return {
    async ask(method, path, asked) {
      let pauseMs = PAUSE_MS.first
      for (;;) {
        const answer = await once(method, path, asked).catch((error: Error) => error)
        const isAway = answer instanceof Error || AWAY.has(answer.status)
        if (!isAway && asked.expected.includes(answer.status)) return answer
        const what = answer instanceof Error ? `failed (${answer.message})` : `was answered with ${answer.status}`
        if (!isAway) throw new Error(`${method} ${path} ${what}: ${answer.bytes.toString().slice(0, 300)}`)
        if (performance.now() > giveUpAt) throw new Error(`${method} ${path} ${what}, and the buyer gave up`)
        onRepeat(answer instanceof Error ? undefined : answer)
        await sleep(pauseMs * (0.5 + Math.random()))
        pauseMs = Math.min(pauseMs * PAUSE_MS.growth, PAUSE_MS.most)
      }
    },
    close: () => pool.destroy(),
  }
}
