// A shop whose host names are this machine's, over TLS: the checks that the drills of docs/deploy.md make of it.
import assert from 'node:assert/strict'
import http from 'node:http'
import https from 'node:https'
import { buffer } from 'node:stream/consumers'

const ANSWER_MS = 20_000
const EMAIL = 'bob@example.com'

/** Which certificates are good. */
export type Trust = Pick<https.RequestOptions, 'ca' | 'rejectUnauthorized'>

/** A request to this machine, whatever the host's name. */
export async function ask(url: string, { body, ...trust }: Trust & { body?: object } = {}) {
  const { protocol, hostname, host, port, pathname, search } = new URL(url)
  const text = body && JSON.stringify(body)
  const options = {
    host: '127.0.0.1',
    port,
    path: pathname + search,
    method: text ? 'POST' : 'GET',
    headers: { host, accept: 'text/html', ...(text && { 'content-type': 'application/json' }) },
    agent: false as const,
    timeout: ANSWER_MS,
  }
  const request = protocol === 'https:' ? https.request({ ...options, ...trust, servername: hostname }) : http.request(options) // oxfmt-ignore
  request.on('timeout', () => request.destroy(new Error(`${url} does not answer`)))
  const response = await new Promise<http.IncomingMessage>((resolve, reject) => {
    request.once('response', resolve).once('error', reject)
    request.end(text)
  })
  return { status: response.statusCode, bytes: await buffer(response) }
}

export async function isReady(url: string, trust: Trust = {}): Promise<boolean> {
  return (await ask(`${url}/readyz`, trust)).status === 200
}

export async function buy(url: string, productId: string, trust: Trust = {}): Promise<string> {
  const post = async (at: string, body: object): Promise<Record<string, string>> => {
    const { status, bytes } = await ask(`${url}${at}`, { ...trust, body })
    assert(status! < 300, String(bytes))
    return JSON.parse(String(bytes))
  }
  const { orderId, clientSecret } = await post('/api/checkout', { productId, email: EMAIL })
  await post('/api/sandbox/confirm', { clientSecret, rail: 'card' })
  return orderId!
}

/** Throws unless the order is paid and its first file arrives. */
export async function hasFiles(url: string, orderId: string, trust: Trust = {}): Promise<void> {
  const { bytes } = await ask(`${url}/api/checkout/${orderId}/status?email=${EMAIL}&sync=1`, trust)
  const { status, downloads } = JSON.parse(String(bytes)) as { status: string; downloads?: { url: string }[] }
  assert.equal(status, 'paid')
  const file = await ask(downloads![0]!.url, trust)
  assert(file.status === 200 && file.bytes.length > 0)
}

/** While it starts, connections are refused or cut. Any other error is ours. */
export function isAway(error: NodeJS.ErrnoException): false {
  if (error.code || /does not answer|socket hang up/.test(error.message)) return false
  throw error
}
