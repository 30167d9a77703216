import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createApi } from '../../client/api.ts'
import { createTill } from '../../client/checkout.ts'
import { TillError } from '../../client/request.ts'
import { createSeller } from '../../client/seller.ts'

// No service runs in this process: the test controls the clock, and a service's timers would not fire.

const ORDER = { productId: 'prod_1', email: 'bob@example.com' }
const MADE = { orderId: 'ord_1', status: 'pending' }
const WAITING = { ...MADE, createdAt: '2026-11-21T08:00:00.000Z', paid: false, downloads: [], nextPollMs: 2000 }
const PAID = { ...WAITING, status: 'paid', paid: true, nextPollMs: null, downloads: [{ fileId: 'file_1' }] }

interface Asked {
  method: string
  url: URL
  headers: Headers
  body: string
  atMs: number
}
type Says = Response | 'nothing' | 'hangs'

const json = (body: unknown, init?: ResponseInit) => Response.json(body, init)
const refusal = (status: number, code: string, headers: Record<string, string> = {}) =>
  json({ code, detail: `It is ${code}.`, status, requestId: 'req1' }, { status, headers })

/** A service that answers one thing after the other, on a clock of its own, which runs as fast as anybody waits. */
function scripted(t: { mock: { timers: any } }, ...answers: Says[]) {
  t.mock.timers.enable({ apis: ['setTimeout', 'Date'], now: 0 })
  const asked: Asked[] = []
  const fetch = async (url: string | URL | Request, init: RequestInit = {}): Promise<Response> => {
    const body = init.body instanceof ReadableStream ? await new Response(init.body).text() : String(init.body ?? '')
    asked.push({ method: init.method!, url: new URL(String(url)), headers: new Headers(init.headers), body, atMs: Date.now() }) // oxfmt-ignore
    const says = answers.shift()
    assert(says, 'there was one request too many')
    if (says === 'nothing') throw new TypeError('fetch failed')
    if (says !== 'hangs') return says
    return new Promise((_resolve, reject) => init.signal!.addEventListener('abort', () => reject(init.signal!.reason)))
  }
  const settled = async <T>(promise: Promise<T>): Promise<T | TillError> => {
    const state = { ended: false }
    const end = promise.catch((error: unknown) => error as TillError).finally(() => (state.ended = true))
    while (!state.ended) {
      await new Promise(setImmediate)
      t.mock.timers.tick(100)
    }
    return end
  }
  return {
    asked,
    settled,
    till: createTill({ baseUrl: 'http://shop.test/', fetch }),
    api: createApi({ baseUrl: 'http://shop.test/', fetch }),
    fetch,
  }
}

const isError = (error: unknown, code: string): TillError => {
  assert(error instanceof TillError, JSON.stringify(error))
  assert.equal(error.code, code)
  return error
}

test('a refusal is an error with its code, status, fields, request id, and when to come again', async (t) => {
  const { till, settled } = scripted(
    t,
    json({ code: 'validation_failed', detail: 'Not valid.', fields: [{ path: 'email', message: 'x' }] }, { status: 400, headers: { 'x-request-id': 'r1' } }), // oxfmt-ignore
    refusal(429, 'rate_limited', { 'retry-after': '900' }),
    new Response('<h1>Bad gateway</h1>', { status: 403 }),
    new Response('<h1>Welcome</h1>'),
  )
  const invalid = isError(await settled(till.createOrder(ORDER)), 'validation_failed')
  assert.deepEqual([invalid.status, invalid.fields, invalid.requestId, invalid.retryAfterSeconds, invalid.isPassing], [400, [{ path: 'email', message: 'x' }], 'r1', undefined, false]) // oxfmt-ignore
  // a quarter of an hour is not waited for in silence
  const limited = isError(await settled(till.status('ord_1')), 'rate_limited')
  assert.deepEqual([limited.status, limited.retryAfterSeconds, limited.message, limited.requestId], [429, 900, 'It is rate_limited.', 'req1']) // oxfmt-ignore
  assert.equal(isError(await settled(till.status('ord_1')), 'unexpected_answer').status, 403)
  isError(await settled(till.status('ord_1')), 'unexpected_answer')
})

test('an order without a response is requested again with the same key, and made once', async (t) => {
  const { till, settled, asked } = scripted(t, 'nothing', 'hangs', refusal(503, 'database_unavailable', { 'retry-after': '2' }), json(MADE, { status: 201 })) // oxfmt-ignore
  assert.deepEqual(await settled(till.createOrder(ORDER)), MADE)
  assert.equal(asked.length, 4)
  assert.equal(new Set(asked.map(({ headers }) => headers.get('idempotency-key'))).size, 1)
  assert.match(asked[0]!.headers.get('idempotency-key')!, /^[\x21-\x7e]{16,255}$/)
  const pauses = asked.slice(1).map(({ atMs }, at) => atMs - asked[at]!.atMs)
  assert(pauses[0]! >= 300 && pauses[0]! <= 700, String(pauses))
  assert(pauses[1]! >= 15_000 + 600, String(pauses))
  assert(pauses[2]! >= 2000 && pauses[2]! <= 3300, `Retry-After is kept: ${pauses}`)
})

test('a further order after a failure has the same key, and after a success or a refusal another', async (t) => {
  const away = () => refusal(503, 'processor_unavailable', { 'retry-after': '60' })
  const { till, settled, asked } = scripted(t, away(), json(MADE), json(MADE), refusal(404, 'product_not_found'), json(MADE), json(MADE)) // oxfmt-ignore
  isError(await settled(till.createOrder(ORDER)), 'processor_unavailable')
  await settled(till.createOrder(ORDER))
  await settled(till.createOrder(ORDER))
  isError(await settled(till.createOrder(ORDER)), 'product_not_found')
  await settled(till.createOrder(ORDER))
  await settled(till.createOrder(ORDER, { idempotencyKey: 'a key that I keep' }))
  const keys = asked.map(({ headers }) => headers.get('idempotency-key'))
  assert.equal(keys[0], keys[1])
  assert.equal(new Set(keys.slice(1)).size, 5)
  assert.equal(keys[5], 'a key that I keep')
})

test('an order whose response cannot be read may exist, so a further call has the same key', async (t) => {
  const { till, settled, asked } = scripted(t, new Response('<h1>Welcome</h1>', { status: 201 }), json(MADE))
  isError(await settled(till.createOrder(ORDER)), 'unexpected_answer')
  await settled(till.createOrder(ORDER))
  assert.equal(new Set(asked.map(({ headers }) => headers.get('idempotency-key'))).size, 1)
})

test('a refund that failed without an answer keeps its key for the same call, and for no other', async (t) => {
  const away = () => refusal(503, 'database_unavailable', { 'retry-after': '60' })
  const { api, settled, asked } = scripted(t, away(), away(), json({}), json({}), refusal(422, 'refund_too_large'), json({})) // oxfmt-ignore
  const refund = (amount: number) =>
    settled(api.request('POST /api/orders/{orderId}/refunds', { params: { orderId: 'ord_1' }, body: { amount } }))
  isError(await refund(500), 'database_unavailable')
  isError(await refund(700), 'database_unavailable')
  await refund(500)
  await refund(500)
  isError(await refund(700), 'refund_too_large')
  await refund(700)
  const [one, other, again, next, refused, last] = asked.map(({ headers }) => headers.get('idempotency-key'))
  assert.deepEqual([again, refused], [one, other])
  assert.equal(new Set([one, other, next, last]).size, 4)
})

test('two equal refunds that fail at once keep a key each, for an hour, and a key of the caller changes nothing', async (t) => {
  const away = () => refusal(503, 'database_unavailable', { 'retry-after': '60' })
  const { api, settled, asked } = scripted(t, away(), away(), away(), json({}), json({}), away(), json({}))
  const refund = (more: object = {}) =>
    api.request('POST /api/orders/{orderId}/refunds', { params: { orderId: 'ord_1' }, body: { amount: 500 }, ...more })
  await settled(Promise.allSettled([refund(), refund()]))
  await settled(Promise.allSettled([refund({ idempotencyKey: 'a key of the caller' })]))
  await settled(Promise.all([refund(), refund()]))
  await settled(Promise.allSettled([refund()]))
  t.mock.timers.tick(3600_000)
  await settled(refund())
  const keys = asked.map(({ headers }) => headers.get('idempotency-key'))
  assert.deepEqual(keys.slice(3, 5), keys.slice(0, 2))
  assert.equal(keys[2], 'a key of the caller')
  assert.equal(new Set(keys).size, 5)
})

test('requests that must not be repeated are not, and others are repeated three times', async (t) => {
  const away = () => refusal(503, 'database_unavailable')
  const { till, settled, asked } = scripted(t, away(), away(), away(), away(), away())
  isError(await settled(till.sendReceipt('ord_1', ORDER.email)), 'database_unavailable')
  assert.equal(asked.length, 1)
  isError(await settled(till.product('prod/1')), 'database_unavailable')
  assert.equal(asked.length, 5)
  assert.equal(asked[4]!.url.href, 'http://shop.test/api/products/prod%2F1/public')
})

test('every route is repeated exactly when that is safe: reads, what ends in the same state, and what carries a key', async (t) => {
  const away = () => refusal(503, 'database_unavailable')
  const { api, settled, asked } = scripted(t, ...Array.from({ length: 30 }, away))
  const params = { orderId: 'ord_1', productId: 'prod_1', discountId: 'dsc_1' }
  const tries = async (ask: () => Promise<unknown>) => {
    const before = asked.length
    isError(await settled(ask()), 'database_unavailable')
    return asked.length - before
  }
  assert.equal(await tries(() => api.request('GET /api/balance')), 4)
  assert.equal(await tries(() => api.request('DELETE /api/discounts/{discountId}', { params })), 4)
  assert.equal(await tries(() => api.request('POST /api/orders/{orderId}/refunds', { params, body: {} })), 4)
  assert.equal(new Set(asked.slice(-4).map(({ headers }) => headers.get('idempotency-key'))).size, 1)
  assert.equal(await tries(() => api.request('PUT /api/products/{productId}/image', { params, body: new Uint8Array([1]) })), 4) // oxfmt-ignore
  // a stream can be read once only
  assert.equal(await tries(() => api.request('PUT /api/products/{productId}/image', { params, body: new Blob(['x']).stream() })), 1) // oxfmt-ignore
  assert.equal(await tries(() => api.request('POST /api/products', { body: { name: 'x', amount: 1, currency: 'USD' } })), 4) // oxfmt-ignore
  assert.equal(new Set(asked.slice(-4).map(({ headers }) => headers.get('idempotency-key'))).size, 1)
  assert.equal(await tries(() => api.request('POST /api/discounts', { body: { code: 'SPRING', percentOff: 10 } })), 1)
  assert.equal(asked.at(-1)!.headers.get('idempotency-key'), null)
  assert.equal(
    await tries(() => api.request('PATCH /api/discounts/{discountId}', { params, body: { active: false } })),
    1,
  )
})

test('what an earlier try has removed, whose answer was lost, is removed', async (t) => {
  const gone = () => refusal(404, 'webhook_endpoint_not_found')
  const away = refusal(503, 'database_unavailable')
  const { api, settled, asked } = scripted(t, 'nothing', gone(), away, gone(), gone(), refusal(429, 'rate_limited'), gone(), 'nothing', refusal(404, 'not_found'), 'nothing', new Response('', { status: 404 }), 'nothing', gone()) // oxfmt-ignore
  const params = { endpointId: 'we_1' }
  const remove = () => settled(api.request('DELETE /api/webhook-endpoints/{endpointId}', { params }))
  assert.equal(await remove(), undefined)
  assert.equal(await remove(), undefined)
  // nothing was removed before: at the first try, after a limit, and where another program answers
  isError(await remove(), 'webhook_endpoint_not_found')
  isError(await remove(), 'webhook_endpoint_not_found')
  isError(await remove(), 'not_found')
  isError(await remove(), 'unexpected_answer')
  isError(await settled(api.request('GET /api/orders/{orderId}', { params: { orderId: 'ord_1' } })), 'webhook_endpoint_not_found') // oxfmt-ignore
  assert.equal(asked.length, 13)
})

test('a value in an address cannot lead to another route, and is not sent', async () => {
  const api = createApi({ baseUrl: 'http://shop.test', fetch: () => assert.fail('it was sent') })
  for (const orderId of ['..', '.', '', undefined as unknown as string]) {
    const error = isError(await api.request('GET /api/orders/{orderId}', { params: { orderId } }).catch((problem: unknown) => problem), 'validation_failed') // oxfmt-ignore
    assert.equal(error.fields[0]!.path, 'params.orderId')
  }
  const sent: string[] = []
  const quoting = createApi({
    baseUrl: 'http://shop.test',
    fetch: async (url) => (sent.push(String(url)), json({})),
  })
  await quoting.request('GET /api/orders/{orderId}', { params: { orderId: '../auth?x#y' } })
  assert.deepEqual(sent, ['http://shop.test/api/orders/..%2Fauth%3Fx%23y'])
})

test('a proxy’s Retry-After with a date is obeyed as one with seconds is', async (t) => {
  const at = (ms: number) => refusal(503, 'shutting_down', { 'retry-after': new Date(ms).toUTCString() })
  const { api, settled, asked } = scripted(t, at(7000), at(0), json({ items: [] }))
  await settled(api.request('GET /api/balance'))
  assert(asked[1]!.atMs >= 7000 && asked[2]!.atMs - asked[1]!.atMs >= 300, String(asked.map(({ atMs }) => atMs)))
})

test('waiting for a payment follows the service’s pauses, continues through an outage, and syncs now and then', async (t) => {
  const gone = Array.from({ length: 4 }, (): Says => 'nothing')
  const { till, settled, asked } = scripted(t, json(WAITING), json(WAITING), ...gone, json({ ...WAITING, nextPollMs: 5000 }), json(PAID)) // oxfmt-ignore
  const seen: string[] = []
  const paid = await settled(till.waitUntilPaid('ord_1', 'a+b@example.com', { onStatus: ({ status }) => void seen.push(status) })) // oxfmt-ignore
  assert.deepEqual(paid, PAID)
  assert.deepEqual(seen, ['pending', 'pending', 'pending', 'paid'])
  assert.equal(asked[0]!.url.searchParams.get('email'), 'a+b@example.com')
  const synced = asked.filter(({ url }) => url.searchParams.get('sync') === '1').map(({ atMs }) => atMs)
  assert.equal(synced[0], 0)
  assert(synced.at(-1)! > 0, 'it syncs again')
  assert(synced.every((at, before) => before === 0 || at - synced[before - 1]! >= 10_000 || at === synced[before - 1]), String(synced)) // oxfmt-ignore
  // a request that waits follows each sync at once, and all others the pause of the service
  for (const [at, pauseMs] of [
    [0, 2000],
    [1, 2000],
    [asked.length - 2, 5000],
  ] as const) {
    const [one, next] = [asked[at]!, asked[at + 1]!]
    const isSync = one.url.searchParams.get('sync') === '1'
    assert.equal(one.url.searchParams.has('wait'), !isSync)
    assert.equal(next.atMs - one.atMs >= pauseMs, !isSync, `${next.atMs - one.atMs} ms after request ${at}`)
  }
})

test('waiting ends with a reason: another address, an order that will not be paid, an abort signal', async (t) => {
  const { createdAt: _for, ...others } = WAITING
  const { till, settled } = scripted(t, json(others), json({ ...WAITING, status: 'expired', nextPollMs: null }), json(WAITING), 'hangs') // oxfmt-ignore
  isError(await settled(till.waitUntilPaid('ord_1', 'eve@example.com')), 'email_mismatch')
  isError(await settled(till.waitUntilPaid('ord_1', ORDER.email)), 'not_paid')
  for (const seconds of [1, 1]) {
    const ended = new AbortController()
    setTimeout(() => ended.abort(new Error('the buyer has left')), seconds * 1000)
    const error = await settled(till.waitUntilPaid('ord_1', ORDER.email, { signal: ended.signal }))
    assert.equal((error as unknown as Error).message, 'the buyer has left')
  }
  const before = AbortSignal.abort(new Error('never begun'))
  assert.equal(((await settled(till.status('ord_1', { signal: before }))) as Error).message, 'never begun')
})

test('a seller’s script walks through all pages, changes a product, and streams a file', async (t) => {
  const page = (items: number[], nextCursor: string | null) => json({ items: items.map((id) => ({ id })), nextCursor })
  const { asked, settled, fetch } = scripted(t, page([1, 2], 'b'), page([3], null), json({ id: 'p' }, { headers: { etag: '"3"' } }), json({ id: 'p' }), refusal(412, 'changed_meanwhile'), json({ id: 'f' }, { status: 201 }), new Response(null, { status: 204 })) // oxfmt-ignore
  const seller = createSeller({ baseUrl: 'http://api.test', apiKey: 'till_test_k', fetch }) as any
  const ids: number[] = []
  const walk = async () => {
    for await (const { id } of seller.orders.list({ status: 'paid' })) ids.push(id)
  }
  await settled(walk())
  assert.deepEqual(ids, [1, 2, 3])
  assert.deepEqual(asked.map(({ url }) => url.search), ['?limit=100&status=paid', '?limit=100&status=paid&cursor=b']) // oxfmt-ignore
  const { etag } = (await settled(seller.products.get('p'))) as { etag: string }
  await settled(seller.products.update('p', { amount: 5 }, { etag }))
  isError(await settled(seller.products.update('p', { amount: 6 }, { etag })), 'changed_meanwhile')
  assert.deepEqual(
    [asked[3]!.method, asked[3]!.headers.get('if-match'), asked[3]!.body],
    ['PATCH', '"3"', '{"amount":5}'],
  )
  async function* chunks() {
    yield Buffer.from('a ')
    yield Buffer.from('book')
  }
  await settled(seller.products.addFile('p', { name: 'a&b.pdf', data: chunks(), size: 6 }))
  assert.deepEqual([asked[5]!.url.search, asked[5]!.body, asked[5]!.headers.get('content-length')], ['?name=a%26b.pdf', 'a book', '6']) // oxfmt-ignore
  assert.equal(await settled(seller.products.archive('p')), undefined)
  for (const { headers } of asked) assert.equal(headers.get('authorization'), 'Bearer till_test_k')
})

test('events are read from the last one to the present end, page by page', async (t) => {
  const page = (ids: string[], hasMore: boolean) => json({ items: ids.map((id) => ({ id })), hasMore })
  const { asked, settled, fetch } = scripted(t, page(['evt_2', 'evt_3'], true), page(['evt_4'], false), page([], false))
  const seller = createSeller({ baseUrl: 'http://api.test', apiKey: 'till_test_k', fetch })
  const ids = async (after?: string) => (await Array.fromAsync(seller.events(after))).map(({ id }) => id)
  assert.deepEqual(await settled(ids('evt_1')), ['evt_2', 'evt_3', 'evt_4'])
  assert.deepEqual(await settled(ids()), [])
  assert.deepEqual(asked.map(({ url }) => url.search), ['?limit=100&after=evt_1', '?limit=100&after=evt_3', '?limit=100']) // oxfmt-ignore
})

test('a proxy’s response is an error, whatever it contains, and a list of orders ends with its signal', async () => {
  const nothing = createTill({
    baseUrl: 'http://shop.test',
    fetch: async () => json(null, { status: 404 }),
    retries: 0,
  })
  const error = isError(await nothing.product('p').catch((problem: unknown) => problem), 'unexpected_answer')
  assert.equal(error.status, 404)

  const ended = Promise.withResolvers<unknown>()
  const endless = () =>
    new ReadableStream({ pull: (stream) => stream.enqueue(Buffer.from('a,b\r\n')), cancel: ended.resolve })
  const seller = createSeller({ baseUrl: 'http://shop.test', apiKey: 'x', fetch: async () => new Response(endless()) })
  const leaving = new AbortController()
  const reader = (await seller.orders.csv({}, { signal: leaving.signal })).getReader()
  assert.equal((await reader.read()).done, false)
  leaving.abort(new Error('seen enough'))
  await assert.rejects(async () => {
    for (let read = 0; read < 10; read++) await reader.read()
  }, /seen enough/)
  assert.match(String(await ended.promise), /seen enough/)
})
