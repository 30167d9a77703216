import { createHmac, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import http from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { atLeastOnce, paymentOf } from './at-least-once.ts'
import { StripeBank, StripeError, type Wire } from './stripe-bank.ts'
import { StripeConnect } from './stripe-connect.ts'

// A server that speaks Stripe's API over HTTP, with its bad days: keeps idempotency keys, pages its lists, signs its
// notifications, and fails where a test says so. Buyers and banks are played through `bank`.

export interface Call {
  method: string
  path: string
  params: Wire
  /** The connected account for which the platform asks: the header Stripe-Account. */
  account: string | undefined
  idempotencyKey: string | undefined
  /** The response, if there was one. */
  status?: number
  replayed: boolean
  /** It has a key with which no request was carried out before. */
  isFirst?: boolean
}

/**
 * Faults of a request. `done`: only after it was carried out, and remembered under its key as a real server would. The other faults
 * replace it.
 */
export type Fault =
  | 'hang'
  | 'drip'
  | 'drop'
  | 'done then drop'
  | 'done then hang'
  | '500'
  | 'done then 500'
  | '429'
  | '503 html'
  | '200 html'
  | 'half an answer'
  | '500 without error'
  | '302 without error'
  | 'null'
  | { answer: (body: Wire) => unknown; status?: number }

export interface Sending {
  times?: number
  secret?: string
  /** How long ago it was signed. */
  ageSeconds?: number
}

const LISTS: Record<string, { of: keyof StripeBank; filters: string[] }> = {
  '/v1/payment_intents': { of: 'paymentIntents', filters: ['customer'] },
  '/v1/payment_method_domains': { of: 'methodDomains', filters: ['domain_name', 'enabled'] },
  '/v1/webhook_endpoints': { of: 'webhookEndpoints', filters: [] },
  '/v1/charges': { of: 'charges', filters: ['payment_intent', 'customer'] },
  '/v1/refunds': { of: 'refunds', filters: ['payment_intent', 'charge'] },
  '/v1/disputes': { of: 'disputes', filters: ['payment_intent', 'charge'] },
  '/v1/events': { of: 'events', filters: ['type'] },
  '/v1/payouts': { of: 'payouts', filters: ['status'] },
  '/v1/balance_transactions': { of: 'balanceTransactions', filters: ['payout', 'type', 'source', 'currency'] },
}
const EVENTS_KEPT_SECONDS = 30 * 86_400

export type StripeServer = Awaited<ReturnType<typeof startStripeServer>>

export async function startStripeServer({
  secretKey = 'sk_test_till',
  webhookSecret = 'whsec_till',
  webhookUrl,
  seed,
}: { secretKey?: string; webhookSecret?: string; webhookUrl?: string; seed?: string } = {}) {
  const bank = new StripeBank(secretKey.includes('_live_'))
  const connect = new StripeConnect(bank)
  const calls: Call[] = []
  const faults: { fault: Fault; match: (call: Call) => boolean }[] = []
  const keys = new Map<string, { request: string; answer?: Answer }>()
  /** The keys of requests that are under way: they are carried out, and not answered yet. */
  const busy = new Set<string>()
  /** How often the idempotency keys were forgotten so far. */
  let forgotten = 0
  /** The payments whose secret a caller has received, with the value of `forgotten` when the call was carried out. */
  const startedPayments = new Map<string, number>()
  const knobs = {
    /** Every answer takes this long. */
    delayMs: 0,
    /** The answer to a request that is carried out waits for this. Answers that need no work come at once. */
    firstAnswer: undefined as Promise<void> | undefined,
    /** Largest page of a list. */
    pageSize: 100,
    /** Its clock is ahead of ours. */
    clockAheadSeconds: 0,
    /** The forbidden requests of a restricted key: the beginnings of paths, or of a method and a path. */
    forbidden: [] as string[],
    webhookUrl,
    /**
     * `now` sends each notification once, as it happens. `at least once` sends some about payments twice, late or in another order, by the
     * seed. `held` keeps it for `release`, `never` loses it.
     */
    notify: (seed === undefined ? 'now' : 'at least once') as 'now' | 'at least once' | 'held' | 'never',
    sending: {} as Sending,
  }
  const held: Wire[] = []
  /** All there ever were, each with its connected account if it is of one, whether they were sent or not. */
  const events: Wire[] = []
  const deliveries: { id: string; type: string; status: number | undefined }[] = []
  const underWay = new Set<Promise<unknown>>()
  const sockets = new Set<Socket>()

  /** False: the shop did not take it, and would get it again. */
  const send = async (event: Wire, sending: Sending = knobs.sending): Promise<boolean> => {
    let isTaken = true
    if (!knobs.webhookUrl) return isTaken
    for (let i = 0; i < (sending.times ?? 1); i++) {
      const { body, headers } = signed(event, sending)
      const status = await fetch(knobs.webhookUrl, { method: 'POST', body, headers, redirect: 'manual' })
        .then(async (response) => (await response.arrayBuffer(), response.status))
        .catch(() => undefined)
      deliveries.push({ id: event['id'], type: event['type'], status })
      isTaken = status === 200
    }
    return isTaken
  }
  const bySeed = atLeastOnce(seed ?? '', (event) => send(event))
  /** The bytes and headers of a notification. */
  const signed = (event: Wire | string, { secret = webhookSecret, ageSeconds = 0 }: Sending = {}) => {
    const body = typeof event === 'string' ? event : JSON.stringify(event, null, 2)
    const time = Math.floor(Date.now() / 1000) - ageSeconds
    return {
      body,
      headers: {
        'content-type': 'application/json; charset=utf-8',
        'stripe-signature': `t=${time},v1=${signature(secret, time, body)},v0=${'0'.repeat(64)}`,
      },
    }
  }
  const deliver = (event: Wire) => {
    events.push(event)
    if (knobs.notify === 'never' || !knobs.webhookUrl) return
    if (knobs.notify === 'held') held.push(event)
    else if (knobs.notify === 'at least once' && paymentOf(event)) bySeed.tell(event)
    else {
      const sent = send(event).finally(() => underWay.delete(sent))
      underWay.add(sent)
    }
  }
  bank.onEvent = deliver
  connect.onEvent = deliver

  /** The response to a request without a fault. */
  function answerTo(call: Call, authorization: string | undefined): Answer {
    try {
      if (authorization !== `Bearer ${secretKey}`)
        throw new StripeError(401, { message: `Invalid API Key provided: ${secretKey.slice(0, 8)}****` })
      if (knobs.forbidden.some((one) => call.path.startsWith(one) || `${call.method} ${call.path}`.startsWith(one)))
        throw new StripeError(403, {
          message: `The provided key '${secretKey.slice(0, 8)}****' does not have the required permissions for this endpoint.`,
        })
      if (call.method !== 'POST' || !call.idempotencyKey) return { status: 200, body: carryOut(call) }
      const request = JSON.stringify([call.path, call.params])
      // each account has keys of its own (https://docs.stripe.com/connect/authentication)
      const key = keyOf(call)
      const kept = keys.get(key)
      if (busy.has(key) || (kept && !kept.answer))
        throw new StripeError(409, {
          type: 'idempotency_error',
          code: 'idempotency_key_in_use',
          message: 'There is currently another in-progress request using this Idempotent Key.',
        })
      if (kept && kept.request !== request)
        throw new StripeError(400, {
          type: 'idempotency_error',
          message: 'Keys for idempotent requests can only be used with the same parameters they were first used with.',
        })
      if (kept?.answer) {
        call.replayed = true
        return kept.answer
      }
      busy.add(key)
      call.isFirst = true
      const answer = carryOutOnce(call)
      keys.set(key, { request, answer })
      return answer
    } catch (error) {
      if (error instanceof StripeError) return { status: error.status, body: error.body }
      throw error
    }
  }

  /** A response to be stored. A refusal before the request began is thrown, and not stored. */
  function carryOutOnce(call: Call): Answer {
    try {
      return { status: 200, body: structuredClone(carryOut(call)) }
    } catch (error) {
      if (error instanceof StripeError && error.kept) return { status: error.status, body: error.body }
      throw error
    }
  }

  function carryOut(call: Call): Wire {
    const { method, path, params } = call
    checkMetadata(params['metadata'] ?? {})
    const bank = connect.bankOf(call.account)
    const ofPlatform = connect.carryOut(call)
    if (ofPlatform) return ofPlatform
    if (method === 'GET' && path === '/v1/accounts') return page(path, params, connect.accounts, [])
    const fees = /^\/v1\/application_fees\/(\w+)\/refunds$/.exec(path)
    if (method === 'GET' && fees) return page(path, params, connect.feeRefunds.filter(({ fee }) => fee === fees[1]), []) // oxfmt-ignore
    const list = LISTS[path]
    if (method === 'GET' && list) return page(path, params, bank[list.of] as Wire[], list.filters)
    if (method === 'GET' && path === '/v1/account') return bank.account()
    if (method === 'GET' && path === '/v1/payment_method_configurations')
      return page(path, params, bank.methodConfigurations(), ['application'])
    // as in countries that have none (https://docs.stripe.com/search)
    if (method === 'GET' && path.endsWith('/search'))
      throw new StripeError(400, { message: 'Search is not available to merchants in your country.' })
    if (method === 'POST' && path === '/v1/payment_intents') {
      allow(
        params,
        'amount application_fee_amount currency automatic_payment_methods allowed_payment_method_types excluded_payment_method_types payment_method_types metadata statement_descriptor statement_descriptor_suffix',
      )
      return bank.createIntent(params)
    }
    if (method === 'POST' && path === '/v1/payment_method_domains') {
      allow(params, 'domain_name enabled')
      return bank.addMethodDomain(params['domain_name'])
    }
    if (method === 'POST' && path === '/v1/refunds') {
      allow(params, 'charge payment_intent amount metadata reason refund_application_fee')
      oneOf(params, 'reason', REASONS)
      return bank.createRefund(params)
    }
    const charge = /^\/v1\/charges\/(\w+)$/.exec(path)?.[1]
    if (method === 'GET' && charge) return bank.find(bank.charges, 'charge', charge)
    const [, id = '', action] = /^\/v1\/payment_intents\/(\w+)(?:\/(\w+))?$/.exec(path) ?? []
    if (method === 'GET' && id && !action) return bank.find(bank.paymentIntents, 'payment_intent', id)
    if (method === 'POST' && action === 'cancel') {
      allow(params, 'cancellation_reason')
      oneOf(params, 'cancellation_reason', ['abandoned', ...REASONS])
      return bank.cancel(id, params)
    }
    throw new StripeError(404, { message: `Unrecognized request URL (${method}: ${path}).` })
  }

  function page(path: string, params: Wire, kept: Wire[], filters: string[]): Wire {
    allow(params, ['limit starting_after ending_before created types expand', ...filters].join(' '))
    const asked = Number(params['limit'] ?? 10)
    if (!(Number.isInteger(asked) && asked >= 1 && asked <= 100))
      throw new StripeError(400, { message: 'Invalid limit', param: 'limit' })
    const limit = Math.min(asked, knobs.pageSize)
    // https://docs.stripe.com/api/events/list
    if (params['types']?.length > 20) throw new StripeError(400, { message: 'Too many types', param: 'types' })
    const earliest = path === '/v1/events' ? bank.now() / 1000 - EVENTS_KEPT_SECONDS : 0
    const created = typeof params['created'] === 'object' ? params['created'] : {}
    let found = kept
      .filter((one) => filters.every((name) => params[name] === undefined || one[name] === params[name]))
      .filter((one) => params['types'] === undefined || params['types'].includes(one['type']))
      .filter(({ created: at }) => at >= earliest && at >= Number(created.gte ?? 0) && at > Number(created.gt ?? -1))
      .filter(({ created: at }) => at < Number(created.lt ?? Infinity) && at <= Number(created.lte ?? Infinity))
      .reverse()
    if (params['starting_after']) {
      const after = found.findIndex(({ id }) => id === params['starting_after'])
      if (after < 0)
        throw new StripeError(400, { code: 'resource_missing', message: 'No such object', param: 'starting_after' })
      found = found.slice(after + 1)
    }
    return { object: 'list', url: path, has_more: found.length > limit, data: found.slice(0, limit) }
  }

  async function serve(request: http.IncomingMessage, response: http.ServerResponse): Promise<void> {
    const url = new URL(request.url!, 'http://stripe')
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const form = request.method === 'POST' ? new URLSearchParams(Buffer.concat(chunks).toString()) : url.searchParams
    const key = request.headers['idempotency-key']
    const account = request.headers['stripe-account']
    const call: Call = {
      method: request.method!,
      path: url.pathname,
      params: unflatten(form),
      account: typeof account === 'string' ? account : undefined,
      idempotencyKey: typeof key === 'string' ? key : undefined,
      replayed: false,
    }
    calls.push(call)
    const at = faults.findIndex(({ match }) => match(call))
    const fault = at < 0 ? undefined : faults.splice(at, 1)[0]!.fault
    const done = fault === undefined || typeof fault === 'object' || fault.startsWith('done')
    const forgottenThen = forgotten
    let answer = done ? answerTo(call, request.headers.authorization) : undefined
    if (fault === 'done then 500' || fault === '500') {
      answer = { status: 500, body: { error: { type: 'api_error', message: 'An unknown error occurred' } } }
      if (call.idempotencyKey && call.method === 'POST')
        keys.set(keyOf(call), { request: JSON.stringify([call.path, call.params]), answer })
    }
    if (knobs.delayMs) await new Promise((resolve) => setTimeout(resolve, knobs.delayMs))
    if (call.isFirst) {
      await knobs.firstAnswer
      busy.delete(keyOf(call))
    }
    if (fault === 'hang' || fault === 'done then hang') return
    if (fault === 'drop' || fault === 'done then drop') return void request.socket.destroy()
    const { status, type = 'application/json', text } = broken(fault, answer)
    call.status = status
    const isWhole = fault === undefined || typeof fault === 'object'
    if (isWhole && status === 200 && call.method === 'POST' && call.path === '/v1/payment_intents') {
      const { id } = answer!.body as Wire
      if (!startedPayments.has(id)) startedPayments.set(id, forgottenThen)
    }
    response.writeHead(status, {
      'content-type': type,
      date: new Date(Date.now() + knobs.clockAheadSeconds * 1000).toUTCString(),
      'request-id': `req_${randomBytes(6).toString('hex')}`,
      'stripe-version': String(request.headers['stripe-version'] ?? ''),
      ...(call.idempotencyKey && { 'idempotency-key': call.idempotencyKey }),
      ...(call.replayed && { 'idempotent-replayed': 'true' }),
      ...(fault === 'half an answer' && { 'content-length': String(text.length + 10) }),
    })
    if (fault === 'drip') {
      const timer = setInterval(() => response.write(' '), 100)
      response.once('close', () => clearInterval(timer))
    } else if (fault === 'half an answer') {
      response.write(text)
      setTimeout(() => request.socket.destroy(), 20)
    } else response.end(text)
  }
  // the client may give up while its body is read
  const server = http.createServer(
    (request, response) => void serve(request, response).catch(() => request.socket.destroy()),
  )
  server.on('connection', (socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')

  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    secretKey,
    webhookSecret,
    bank,
    /** The platform's side: connected accounts, and the fees of their payments. */
    connect,
    /** Every request that arrived. */
    calls,
    knobs,
    events,
    deliveries,
    /** Connections that are open now. */
    sockets,
    signed,
    /** The next `times` requests (that `match`) go wrong. */
    fail(
      fault: Fault,
      { times = 1, match = () => true }: { times?: number; match?: (call: Call) => boolean } = {},
    ): void {
      for (let i = 0; i < times; i++) faults.push({ fault, match })
    },
    works: () => void faults.splice(0),
    /** A day has passed: keys are not remembered. */
    forgetKeys(): void {
      keys.clear()
      forgotten++
    },
    startedPayments,
    /** A request with this key is being carried out, until the function that is returned is called. */
    occupy(key: string): () => void {
      keys.set(key, { request: '' })
      return () => void keys.delete(key)
    },
    send,
    /** Sends the held notifications, in order or reversed. */
    async release({ reversed = false, ...sending }: Sending & { reversed?: boolean } = {}): Promise<void> {
      const events = held.splice(0)
      for (const event of reversed ? events.reverse() : events) await send(event, sending)
    },
    /** Waits for the notifications that are being delivered. */
    delivered: async () => {
      // what was late when a test began to lose notifications is lost too, as it would tell of what happened since
      if (knobs.notify === 'never' || knobs.notify === 'held') bySeed.lose()
      await bySeed.rest()
      while (underWay.size > 0) await Promise.all(underWay)
    },
    async close(): Promise<void> {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}

interface Answer {
  status: number
  body: unknown
}

const keyOf = ({ account, idempotencyKey }: Call): string => [...(account ? [account] : []), idempotencyKey].join(' ')

function broken(fault: Fault | undefined, answer: Answer | undefined): { status: number; type?: string; text: string } {
  const html = '<html><body><h1>Service Unavailable</h1></body></html>'
  switch (fault) {
    case '503 html':
      return { status: 503, type: 'text/html', text: html }
    case '200 html':
      return { status: 200, type: 'text/html', text: html }
    case '429':
      return { status: 429, text: JSON.stringify({ error: { type: 'invalid_request_error', code: 'rate_limit' } }) }
    case '500 without error':
      return { status: 500, text: JSON.stringify({ message: 'upstream connect error' }) }
    case '302 without error':
      return { status: 302, text: JSON.stringify({ object: 'redirect' }) }
    case 'null':
      return { status: 200, text: 'null' }
    case 'drip':
    case 'half an answer':
      return { status: 200, text: '{"id":"pi_' }
  }
  const { status, body } = answer!
  const said = typeof fault === 'object' ? fault.answer(structuredClone(body) as Wire) : body
  return { status: (typeof fault === 'object' && fault.status) || status, text: JSON.stringify(said, null, 2) }
}

export const signature = (secret: string, time: number, body: string | Buffer): string =>
  createHmac('sha256', secret).update(`${time}.`).update(body).digest('hex')

/** `metadata[order_id]=x&types[0]=y` as the members and lists it stands for. */
function unflatten(form: URLSearchParams): Wire {
  const result: Wire = {}
  for (const [name, value] of form) {
    const path = name.replaceAll(']', '').split('[')
    let into = result
    for (const [at, part] of path.slice(0, -1).entries()) into = into[part] ??= /^\d*$/.test(path[at + 1]!) ? [] : {}
    into[path.at(-1)!] = value
  }
  return result
}

const REASONS = ['duplicate', 'fraudulent', 'requested_by_customer']

function oneOf(params: Wire, name: string, values: readonly string[]): void {
  if (params[name] !== undefined && !values.includes(params[name]))
    throw new StripeError(400, { message: `Invalid ${name}: must be one of ${values.join(', ')}`, param: name })
}

/** https://docs.stripe.com/api/metadata */
function checkMetadata(metadata: Wire): void {
  const all = Object.entries(metadata)
  if (all.length > 50 || all.some(([key, value]) => key.length > 40 || /[[\]]/.test(key) || String(value).length > 500))
    throw new StripeError(400, { message: 'Metadata has 50 keys of 40 characters, with 500 each', param: 'metadata' })
}

function allow(params: Wire, names: string): void {
  const unknown = Object.keys(params).find((name) => !names.split(' ').includes(name))
  if (unknown !== undefined)
    throw new StripeError(400, {
      code: 'parameter_unknown',
      message: `Received unknown parameter: ${unknown}`,
      param: unknown,
    })
}
