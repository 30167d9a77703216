import { createHmac, timingSafeEqual } from 'node:crypto'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Request, newBank } from './razorpay-bank.ts'
import { type Json, Refused, nowSeconds, razorpayId } from './razorpay-refusal.ts'

// A server that speaks Razorpay's API over HTTP as badly as the real one can: with the faults that a test gives it, and with
// notifications that are late, doubled, in another order, or never come (https://razorpay.com/docs/webhooks).

/** Faults of a request or its response. `…_after`: the request is done, and its response is lost. */
export type Fault =
  | 'hang'
  | 'hang_after'
  | 'drop'
  | 'drop_after'
  | 'server_error'
  | 'rate_limited'
  | 'not_allowed'
  | 'in_progress'
  | 'not_found'
  | 'bad_request'
  | 'proxy_401'
  | 'proxy_403'
  | 'html'
  | 'html_error'
  | 'json_without_error'
  | 'empty'
  | 'cut'
  | 'endless'
  | 'redirect'
  | 'first_page'
  | 'wrong_entity'
  | 'wrong_id'
  | 'wrong_amount'
  | 'wrong_currency'
  | 'wrong_parent'
  | 'amount_as_text'

export interface RazorpayOptions {
  keyId: string
  keySecret: string
  webhookSecret: string
  /** The address for notifications, which can also be set later. */
  webhookUrl?: string | undefined
}

/** How notifications are sent. `held` ones wait for `sendHeld`. */
interface Telling {
  when: 'now' | 'held' | 'never'
  times: number
  lateMs: number
  tries: number
  /** Signs with another secret than the account's. */
  secret?: string | undefined
}

export interface Notification {
  id: string
  event: string
  body: string
}

export const razorpaySignature = (body: string | Buffer, secret: string): string =>
  createHmac('sha256', secret).update(body).digest('hex')

export type RazorpayServer = Awaited<ReturnType<typeof startRazorpayServer>>

export async function startRazorpayServer(options: RazorpayOptions) {
  const faults: { on: RegExp; fault: Fault; left: number }[] = []
  const holding: { on: RegExp; until: Promise<void> }[] = []
  const open = new Set<Promise<unknown>>()
  const held: Notification[] = []

  const bank = Object.assign(newBank(emit), {
    url: '',
    webhookUrl: options.webhookUrl,
    requests: [] as Request[],
    notifications: [] as Notification[],
    /** Every try to tell, and how it was answered: 0 is no answer. */
    deliveries: [] as { id: string; event: string; status: number }[],
    notifying: { when: 'now', times: 1, lateMs: 0, tries: 6 } as Telling,
    /** Between a request and its answer. */
    delayMs: 0,
    /** Its clock is ahead of ours. */
    clockAheadSeconds: 0,

    /** The next `times` requests whose "METHOD /path" fits have this fault. */
    break(on: RegExp, fault: Fault, times = 1) {
      faults.push({ on, fault, left: times })
    },
    works: () => void faults.splice(0),
    /** Requests whose "METHOD /path" fits wait for their answer until the test calls the returned function. */
    hold(on: RegExp): () => void {
      const { promise: until, resolve } = Promise.withResolvers<void>()
      holding.push({ on, until })
      return resolve
    },
    requestsTo: (on: RegExp) => bank.requests.filter(({ method, path }) => on.test(`${method} ${path}`)),
    /** Sends the held ones, in the order that `arrange` returns. */
    async sendHeld(arrange: (all: Notification[]) => Notification[] = (all) => all) {
      for (const notification of arrange(held.splice(0))) await deliver(notification)
    },
    /** The same notification once more, with the same id. */
    again: (notification: Notification) => deliver(notification),
    /** Resolves when all pending notifications are sent. */
    async delivered() {
      while (open.size > 0) await Promise.all(open)
    },
    async close() {
      server.closeAllConnections()
      await new Promise((done) => server.close(done))
    },
  })

  function emit(event: string, about: Json, account = 'acc_BFQ7uQEaa7j2z7'): void {
    const parts = Object.entries(about).map(([name, entity]) => [name, { entity: bank.shown(entity, true) }])
    const body = JSON.stringify({
      entity: 'event',
      account_id: account,
      event,
      contains: Object.keys(about),
      payload: Object.fromEntries(parts),
      created_at: nowSeconds(),
    })
    const notification = { id: razorpayId(''), event, body }
    bank.notifications.push(notification)
    if (bank.notifying.when === 'held') held.push(notification)
    if (bank.notifying.when !== 'now' || !bank.webhookUrl) return
    const { times, lateMs } = bank.notifying
    for (let i = 0; i < times; i++) {
      const told: Promise<unknown> = sleep(lateMs)
        .then(() => deliver(notification))
        .finally(() => open.delete(told))
      open.add(told)
    }
  }

  /** Until it is answered with a 2xx, with growing pauses; the real one goes on for 24 hours. */
  async function deliver({ id, event, body }: Notification): Promise<number> {
    let status = 0
    for (let tries = 0, pauseMs = 50; tries < bank.notifying.tries; tries++, pauseMs *= 2) {
      if (tries > 0) await sleep(pauseMs)
      try {
        const response = await fetch(bank.webhookUrl!, {
          method: 'POST',
          headers: {
            'content-type': 'application/json',
            'x-razorpay-signature': razorpaySignature(body, bank.notifying.secret ?? options.webhookSecret),
            'x-razorpay-event-id': id,
          },
          body,
          signal: AbortSignal.timeout(120_000),
        })
        await response.arrayBuffer()
        status = response.status
      } catch {
        status = 0
      }
      bank.deliveries.push({ id, event, status })
      if (status >= 200 && status < 300) break
    }
    return status
  }

  function checkSignIn({ headers, path }: Request): void {
    const given = Buffer.from(headers.authorization ?? '')
    const isGiven = (secret: string) => {
      const wanted = Buffer.from(`Basic ${Buffer.from(`${options.keyId}:${secret}`).toString('base64')}`)
      return given.length === wanted.length && timingSafeEqual(given, wanted)
    }
    const isPublic = path === '/v1/methods'
    if (isGiven(isPublic ? '' : options.keySecret)) return
    if (isPublic && isGiven(options.keySecret))
      throw new Refused('Please do not provide your secret on public sided requests', { source: 'NA' })
    throw new Refused('Authentication failed', { status: 401, source: 'NA' })
  }

  const server = http.createServer((incoming, outgoing) => {
    void serve(incoming, outgoing).catch(() => incoming.socket.destroy())
  })

  async function serve(incoming: http.IncomingMessage, outgoing: http.ServerResponse): Promise<void> {
    const chunks: Buffer[] = []
    for await (const chunk of incoming) chunks.push(chunk as Buffer)
    const { pathname, searchParams } = new URL(incoming.url!, 'http://localhost')
    const text = Buffer.concat(chunks).toString()
    const request: Request = {
      method: incoming.method!,
      path: pathname,
      query: searchParams,
      headers: incoming.headers,
      body: text ? (JSON.parse(text) as Json) : {},
    }
    bank.requests.push(request)
    const found = faults.find(({ on, left }) => left > 0 && on.test(`${request.method} ${pathname}`))
    if (found) found.left--
    const fault = found?.fault
    if (fault === 'first_page') request.query.delete('skip')
    if (fault === 'hang') return
    if (fault === 'drop') return void incoming.socket.destroy()

    let [status, body]: [number, Json] = [200, {}]
    try {
      checkSignIn(request)
      if (!fault || !(fault in INSTEAD)) body = bank.answer(request)
    } catch (error) {
      if (!(error instanceof Refused)) throw error
      ;[status, body] = [error.status, { error: error.error }]
    }
    await holding.find(({ on }) => on.test(`${request.method} ${pathname}`))?.until
    if (bank.delayMs > 0) await sleep(bank.delayMs)
    bank.answered(request)
    if (fault === 'hang_after') return
    if (fault === 'drop_after') return void incoming.socket.destroy()
    const [otherStatus, type, content] = fault
      ? (INSTEAD[fault] ?? [status, JSON_TYPE, undefined])
      : [status, JSON_TYPE]
    outgoing.writeHead(otherStatus, {
      'content-type': type,
      date: new Date(Date.now() + bank.clockAheadSeconds * 1000).toUTCString(),
      ...(fault === 'redirect' && { location: incoming.url }),
    })
    if (fault === 'endless') {
      while (!outgoing.destroyed) {
        outgoing.write(`"${'x'.repeat(1_048_576)}",`)
        await sleep(1)
      }
      return
    }
    const answered = content ?? JSON.stringify(fault ? changed(body, fault) : body)
    outgoing.end(fault === 'cut' ? answered.slice(0, -10) : answered)
  }

  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  bank.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return bank
}

const JSON_TYPE = 'application/json'
const errorText = (code: string, description: string) => JSON.stringify({ error: { code, description } })

/** A response instead of doing the request. */
const INSTEAD: Partial<Record<Fault, [number, string, string]>> = {
  server_error: [500, JSON_TYPE, errorText('SERVER_ERROR', 'We are facing some trouble completing your request')],
  rate_limited: [429, JSON_TYPE, errorText('BAD_REQUEST_ERROR', 'Request failed. Please try after sometime.')],
  not_allowed: [400, JSON_TYPE, errorText('BAD_REQUEST_ERROR', 'This is not enabled for the merchant.')],
  in_progress: [
    409,
    JSON_TYPE,
    errorText('BAD_REQUEST_ERROR', 'Another request with the same idempotency key is still in progress.'),
  ],
  html: [200, 'text/html', '<!doctype html><title>Just a moment…</title>'],
  html_error: [502, 'text/html', '<html><h1>502 Bad Gateway</h1></html>'],
  not_found: [404, JSON_TYPE, errorText('BAD_REQUEST_ERROR', 'The requested URL was not found on the server.')],
  // as a proxy on the way answers
  bad_request: [400, 'text/html', '<h1>Bad Request</h1>'],
  proxy_401: [401, 'text/html', '<h1>401 Authorization Required</h1>'],
  proxy_403: [403, JSON_TYPE, '{"error":{"code":403,"message":"Forbidden"}}'],
  json_without_error: [500, JSON_TYPE, '{"success":false}'],
  empty: [200, JSON_TYPE, ''],
  redirect: [302, 'text/html', ''],
  endless: [200, JSON_TYPE, '['],
}

/** The response, with the changes of a fault. */
function changed(body: Json, fault: Fault): Json {
  if (Array.isArray(body.items)) {
    if (fault === 'wrong_entity') return { ...body, entity: 'list' }
    return { ...body, items: body.items.map((one: Json) => changed(one, fault)) }
  }
  switch (fault) {
    case 'wrong_entity':
      return { ...body, entity: 'invoice' }
    case 'wrong_id':
      return { ...body, id: razorpayId(body.id.replace(/_.*/, '_')) }
    case 'wrong_amount':
      return { ...body, amount: body.amount + 1 }
    // of another order, of another payment
    case 'wrong_parent':
      return {
        ...body,
        ...(body.order_id && { order_id: razorpayId('order_') }),
        ...(body.payment_id && { payment_id: razorpayId('pay_') }),
      }
    case 'wrong_currency':
      return { ...body, currency: 'USD' }
    case 'amount_as_text':
      return { ...body, amount: String(body.amount) }
    default:
      return body
  }
}
