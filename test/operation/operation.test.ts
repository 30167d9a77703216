import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import Schema from 'typebox/schema'
import { liveCode } from '../support/buyer.ts'
import { BUSINESS } from '../support/route-shop.ts'
import { wholeSchema } from '../support/operations.ts'
import { newBrowser, newMailbox } from '../support/seller.ts'
import { type Service, startService } from '../support/service.ts'
import { assertProblem, eventually, newDatabase, sharedShop, temporaryFolder } from '../support/shop.ts'

const shared = sharedShop()
const EMAIL = 'bob@example.com'

test('a load balancer and a supervisor learn that the service lives and can work', async () => {
  const shop = shared()
  for (const path of ['/healthz', '/readyz']) {
    const { status, body, headers } = await shop.call('GET', path)
    assert.deepEqual([status, body], [200, { status: 'ok' }])
    assert.equal((await shop.call('HEAD', path)).status, 200)
    assert.match(headers.get('content-type')!, /^application\/json/)
  }
})

test('the metrics are Prometheus’ own, by route, and name no order and no person', async () => {
  const shop = shared()
  const { orderId } = await shop.checkout()
  await shop.status(orderId, EMAIL)
  await shop.call('GET', `/api/downloads/${orderId}`)
  await shop.call('GET', `/${orderId}/${EMAIL}`)
  const read = async () => shop.call<string>('GET', '/metrics')
  const { headers } = await read()
  assert.match(headers.get('content-type')!, /^text\/plain; version=0\.0\.4/)
  const { body } = await eventually(read, ({ body: text }) => text.includes('/api/downloads/:token'))
  for (const line of body.split('\n').filter(Boolean))
    assert.match(
      line,
      /^(# (HELP|TYPE) \w+ .+|[a-zA-Z_:][\w:]*(\{(\w+="[^"\n]*",?)*\})? (-?[\d.]+(e[+-]?\d+)?|Nan|[+-]Inf))$/,
    )
  const count = 'till_http_request_duration_seconds_count'
  assert.match(body, new RegExp(`${count}\\{method="POST",route="/api/checkout",status="201"\\} [1-9]`))
  assert.match(body, new RegExp(`${count}\\{method="GET",route="/api/checkout/:orderId/status",status="200"\\} [1-9]`))
  assert.match(body, /^process_resident_memory_bytes \d+/m)
  assert.doesNotMatch(body, new RegExp(`${orderId}|${EMAIL}|example\\.com`))
})

interface Described {
  openapi: string
  servers: { url: string }[]
  tags: { name: string }[]
  paths: Record<string, Record<string, Operation>>
}
interface Operation {
  operationId: string
  summary: string
  tags: string[]
  parameters?: { name: string; in: string; schema: object }[]
  requestBody?: { content: Record<string, { schema: object }> }
  security?: object[]
  responses: Record<string, { description: string; content?: Record<string, { schema: object }> }>
}

test('the description of the API names every route, and says all that a caller must know of it', async () => {
  const shop = shared()
  const { body, headers } = await shop.call<Described>('GET', '/api/openapi.json')
  assert.match(headers.get('content-type')!, /^application\/json/)
  assert.equal(body.openapi, '3.1.0')
  assert.deepEqual(body.servers, [{ url: 'http://shop.test' }])
  const operations = Object.entries(body.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      route: `${method.toUpperCase()} ${path}`,
      path,
      operation,
    })),
  )
  assert.deepEqual(operations.map(({ route }) => route).sort(), [
    'DELETE /api/auth/identities/{identityId}',
    'DELETE /api/auth/session',
    'DELETE /api/auth/sessions',
    'DELETE /api/auth/sessions/{sessionId}',
    'DELETE /api/brand/logo',
    'DELETE /api/discounts/{discountId}',
    'DELETE /api/keys/{keyId}',
    'DELETE /api/library',
    'DELETE /api/operator/payout-runs/{runId}/left-out/{sellerId}/{currency}',
    'DELETE /api/operator/sellers/{sellerId}/approval',
    'DELETE /api/operator/sellers/{sellerId}/keys',
    'DELETE /api/operator/sellers/{sellerId}/sessions',
    'DELETE /api/operator/sellers/{sellerId}/suspension',
    'DELETE /api/payout-details/{currency}',
    'DELETE /api/products/{productId}',
    'DELETE /api/products/{productId}/files/{fileId}',
    'DELETE /api/products/{productId}/image',
    'DELETE /api/sites/{host}',
    'DELETE /api/tax/profile',
    'DELETE /api/uploads/{id}',
    'DELETE /api/webhook-endpoints/{endpointId}',
    'GET /api/activity',
    'GET /api/attention',
    'GET /api/auth/history',
    'GET /api/auth/identities',
    'GET /api/auth/idp',
    'GET /api/auth/idp/callback',
    'GET /api/auth/mails',
    'GET /api/auth/otp',
    'GET /api/auth/providers',
    'GET /api/auth/session',
    'GET /api/auth/sessions',
    'GET /api/balance',
    'GET /api/balance/history',
    'GET /api/brand',
    'GET /api/checkout/{orderId}/status',
    'GET /api/confirmations/{confirmationId}',
    'GET /api/discounts',
    'GET /api/downloads/{token}',
    'GET /api/events',
    'GET /api/images/{imageId}/{width}',
    'GET /api/invoice-profile',
    'GET /api/invoices',
    'GET /api/invoices/{invoiceId}/document.pdf',
    'GET /api/keys',
    'GET /api/library',
    'GET /api/logos/{logoId}',
    'GET /api/operator/attention',
    'GET /api/operator/log',
    'GET /api/operator/orders',
    'GET /api/operator/orders/{orderId}',
    'GET /api/operator/payout-runs',
    'GET /api/operator/payout-runs/{runId}',
    'GET /api/operator/payout-runs/{runId}/files/{currency}',
    'GET /api/operator/payouts',
    'GET /api/operator/sellers',
    'GET /api/operator/sellers/{sellerId}',
    'GET /api/operator/statistics',
    'GET /api/operator/tax-rates',
    'GET /api/orders',
    'GET /api/orders/{orderId}',
    'GET /api/orders/{orderId}/refunds',
    'GET /api/outbox',
    'GET /api/payout-details',
    'GET /api/payouts',
    'GET /api/payouts/account',
    'GET /api/payouts/next',
    'GET /api/payouts/{payoutId}',
    'GET /api/payouts/{payoutId}/statement.pdf',
    'GET /api/products',
    'GET /api/products/{productId}',
    'GET /api/products/{productId}/public',
    'GET /api/sites',
    'GET /api/stats',
    'GET /api/tax/profile',
    'GET /api/tax/report',
    'GET /api/transfers',
    'GET /api/webhook-endpoints',
    'GET /api/webhook-endpoints/{endpointId}',
    'GET /api/webhook-endpoints/{endpointId}/deliveries',
    'GET /api/webhook-endpoints/{endpointId}/deliveries/{eventId}',
    'GET /healthz',
    'GET /readyz',
    'HEAD /api/uploads/{id}',
    'PATCH /api/auth/mails',
    'PATCH /api/auth/seller',
    'PATCH /api/brand',
    'PATCH /api/discounts/{discountId}',
    'PATCH /api/products/{productId}',
    'PATCH /api/products/{productId}/files/{fileId}',
    'PATCH /api/uploads/{id}',
    'PATCH /api/webhook-endpoints/{endpointId}',
    'POST /api/auth/email',
    'POST /api/auth/email/verify',
    'POST /api/auth/identities',
    'POST /api/auth/otp',
    'POST /api/auth/otp/verify',
    'POST /api/auth/password',
    'POST /api/charges/code',
    'POST /api/charges/verify',
    'POST /api/checkout',
    'POST /api/checkout/{orderId}/email',
    'POST /api/checkout/{orderId}/email/consent',
    'POST /api/checkout/{orderId}/email/keep',
    'POST /api/checkout/{orderId}/payment',
    'POST /api/checkout/{orderId}/receipt',
    'POST /api/confirmations/{confirmationId}/confirm',
    'POST /api/confirmations/{confirmationId}/decline',
    'POST /api/discounts',
    'POST /api/keys',
    'POST /api/keys/{keyId}/roll',
    'POST /api/library/code',
    'POST /api/library/verify',
    'POST /api/operator/files/{fileId}/recall',
    'POST /api/operator/orders/{orderId}/accept',
    'POST /api/operator/orders/{orderId}/receipt',
    'POST /api/operator/orders/{orderId}/refunds',
    'POST /api/operator/orders/{orderId}/send-back',
    'POST /api/operator/payout-runs',
    'POST /api/operator/payout-runs/{runId}/approve',
    'POST /api/operator/payout-runs/{runId}/cancel',
    'POST /api/operator/payout-runs/{runId}/files/{currency}',
    'POST /api/operator/payout-runs/{runId}/sent',
    'POST /api/operator/payouts/statement',
    'POST /api/operator/payouts/{payoutId}/failed',
    'POST /api/operator/payouts/{payoutId}/paid',
    'POST /api/operator/payouts/{payoutId}/pay-again',
    'POST /api/operator/payouts/{payoutId}/reversed',
    'POST /api/operator/sellers/{sellerId}/adjustments',
    'POST /api/orders/{orderId}/email',
    'POST /api/orders/{orderId}/receipt',
    'POST /api/orders/{orderId}/refunds',
    'POST /api/orders/{orderId}/withdrawals/done',
    'POST /api/payouts/account',
    'POST /api/products',
    'POST /api/products/{productId}/files',
    'POST /api/sandbox/confirm',
    'POST /api/sandbox/dispute',
    'POST /api/sandbox/refund',
    'POST /api/uploads',
    'POST /api/webhook-endpoints',
    'POST /api/webhook-endpoints/{endpointId}/deliveries/{eventId}/replay',
    'POST /api/webhook-endpoints/{endpointId}/replay',
    'POST /api/webhook-endpoints/{endpointId}/resume',
    'POST /api/webhook-endpoints/{endpointId}/secret',
    'POST /api/webhook-endpoints/{endpointId}/test',
    'POST /api/webhooks/{processor}',
    'POST /api/withdrawals',
    'PUT /api/auth/password',
    'PUT /api/brand/logo',
    'PUT /api/checkout/{orderId}/invoice-details',
    'PUT /api/invoice-profile',
    'PUT /api/operator/payout-runs/{runId}/left-out/{sellerId}/{currency}',
    'PUT /api/operator/sellers/{sellerId}/approval',
    'PUT /api/operator/sellers/{sellerId}/quota',
    'PUT /api/operator/sellers/{sellerId}/suspension',
    'PUT /api/operator/tax-rates',
    'PUT /api/payout-details/{currency}',
    'PUT /api/payouts/account',
    'PUT /api/products/{productId}/image',
    'PUT /api/sites/{host}',
    'PUT /api/tax/profile',
  ])
  assert.equal(new Set(operations.map(({ operation }) => operation.operationId)).size, operations.length)
  const tags = new Set(body.tags.map(({ name }) => name))
  for (const { route, path, operation } of operations) {
    assert.match(operation.operationId, /^[a-z][A-Za-z]+$/, route)
    assert(operation.summary.length > 3, route)
    assert(operation.tags.length === 1 && tags.has(operation.tags[0]!), route)
    const inPath = (operation.parameters ?? []).filter((one) => one.in === 'path').map(({ name }) => `{${name}}`)
    assert.deepEqual(inPath, path.match(/\{\w+\}/g) ?? [], route)
    const statuses = Object.keys(operation.responses)
    assert(
      statuses.some((status) => (path.startsWith('/api/auth/idp') ? status === '302' : /^2\d\d$/.test(status))),
      route,
    )
    for (const status of path.startsWith('/api/') ? ['4XX', '5XX'] : ['5XX'])
      assert.deepEqual(
        Object.keys(operation.responses[status]?.content ?? {}),
        ['application/problem+json'],
        `${route} ${status}`,
      )
    for (const { description } of Object.values(operation.responses)) assert(description.length > 0, route)
  }
  assert.doesNotMatch(JSON.stringify(body), /"\$id"|undefined|\[object/)
})

test('the description says of every route whether it needs a session, and it is so', async () => {
  const shop = shared()
  const { body } = await shop.call<Described & { components: unknown }>('GET', '/api/openapi.json')
  const { session } = (body.components as { securitySchemes: Record<string, Record<string, string>> }).securitySchemes
  assert.deepEqual([session!.type, session!.in, session!.name], ['apiKey', 'cookie', 'till_session'])
  const id = (kind: string) => `${kind}_${'0'.repeat(26)}`
  const ids: Record<string, string> = {
    sessionId: id('ses'),
    identityId: id('idn'),
    orderId: id('ord'),
    productId: id('prod'),
    fileId: id('file'),
    id: id('file'),
    discountId: id('dsc'),
    keyId: id('key'),
    endpointId: id('we'),
    eventId: id('evt'),
    confirmationId: id('cnf'),
    payoutId: id('po'),
    runId: id('run'),
    currency: 'EUR',
  }
  const bodies: Record<string, object> = {
    changeMailSettings: { saleMails: 'daily' },
    renameSeller: { name: 'Zoe' },
    requestEmailChange: { email: newMailbox() },
    verifyEmailChange: { code: '123456' },
    setPassword: { newPassword: 'a password of the seller' },
    changeBrand: { accent: '#000000' },
    putInvoiceProfile: {
      on: true,
      name: 'Ann',
      address: ['1 Road'],
      postcode: '',
      city: 'Berlin',
      country: 'DE',
      taxIds: [],
    },
    tellPayoutAccount: BUSINESS,
    saveTaxProfile: { country: 'DE', prices: 'inclusive', exempt: true },
    createProduct: { name: 'A book', amount: 1900, currency: 'USD' },
    createDiscount: { code: 'SUMMER', percentOff: 10 },
    requestBuyerEmailChange: { email: newMailbox() },
    createKey: { name: 'A key', scopes: ['orders:read'] },
    rollKey: { overlapHours: 0 },
    createWebhookEndpoint: { url: 'https://shop.example/hook', events: ['*'] },
    putPayoutDetails: { kind: 'iban', name: 'Ann', iban: 'DE89370400440532013000' },
    replayWebhookDeliveries: { since: '2026-11-01' },
  }
  const queries: Record<string, string> = { addFile: '?name=book.pdf', getTaxReport: '?period=2026' }
  const marked = []
  for (const [path, methods] of Object.entries(body.paths)) {
    for (const [method, { operationId, security }] of Object.entries(methods)) {
      const sent = ['get', 'head', 'delete'].includes(method) ? undefined : (bodies[operationId] ?? {})
      const answer = await newBrowser(shop).call(
        method.toUpperCase(),
        path.replaceAll(/\{(\w+)\}/g, (_all, name) => ids[name] ?? 'x') + (queries[operationId] ?? ''),
        sent,
      )
      // a buyer's library knows a proved mailbox, by a cookie of its own
      const refused =
        method === 'head' ? answer.status === 401 : answer.body?.code === 'not_signed_in' && path !== '/api/library'
      assert.equal(
        security !== undefined,
        refused,
        `${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`,
      )
      if (!security) continue
      assert.deepEqual((security as object[])[0], { session: [] })
      marked.push(operationId)
    }
  }
  assert.equal(marked.length, 89, marked.join())
})

test('the API’s responses match its description', async () => {
  const shop = shared()
  const { body: api } = await shop.call<Described & { components: any }>('GET', '/api/openapi.json')
  const check = (route: string, status: string, value: unknown) => {
    const [method, path] = route.split(' ') as [string, string]
    const [content] = Object.values(api.paths[path]![method.toLowerCase()]!.responses[status]!.content ?? {})
    const schema = closed(wholeSchema(api, content!.schema))
    assert(
      Schema.Check(schema as never, value),
      `${route}: ${JSON.stringify(Schema.Errors(schema as never, value))} ${JSON.stringify(value)}`,
    )
  }
  const productId = await shop.product({ imageUrl: 'https://shop.example/a.png' })
  const product = await shop.call('GET', `/api/products/${productId}/public`)
  check('GET /api/products/{productId}/public', '200', product.body)
  const created = await shop.call('POST', '/api/checkout', { productId, email: EMAIL })
  check('POST /api/checkout', '201', created.body)
  const { orderId } = created.body
  check('GET /api/checkout/{orderId}/status', '200', await shop.status(orderId))
  check('POST /api/sandbox/confirm', '200', (await shop.confirm(created.body)).body)
  await shop.until(orderId, ({ paid }) => paid)
  check('GET /api/checkout/{orderId}/status', '200', await shop.status(orderId, EMAIL, true))
  check(
    'GET /api/outbox',
    '200',
    await eventually(
      () => shop.mails(),
      ({ length }) => length > 0,
    ),
  )

  const browser = newBrowser(shop)
  const email = newMailbox()
  check('POST /api/auth/otp', '202', (await browser.askCode(email)).body)
  check('GET /api/auth/otp', '200', (await browser.call('GET', '/api/auth/otp')).body)
  const signedIn = await browser.tryCode(email, await browser.codeFor(email))
  check('POST /api/auth/otp/verify', '200', signedIn.body)
  await browser.setPassword()
  check('POST /api/auth/password', '200', (await browser.signIn(email)).body)
  for (const path of ['session', 'sessions', 'identities', 'providers'])
    check(`GET /api/auth/${path}`, '200', (await browser.call('GET', `/api/auth/${path}`)).body)
  check('PATCH /api/auth/seller', '200', (await browser.call('PATCH', '/api/auth/seller', { name: 'Zoe' })).body)
  const newer = newMailbox()
  check('POST /api/auth/email', '202', (await browser.call('POST', '/api/auth/email', { email: newer })).body)

  const ann = newBrowser(shop)
  await ann.signInByCode('ann@shop.test')
  const refunds = `/api/orders/${orderId}/refunds`
  const refunded = await ann.call('POST', refunds, { amount: 1, reason: 'A page was missing.' })
  check('POST /api/orders/{orderId}/refunds', '201', refunded.body)
  check('GET /api/orders/{orderId}/refunds', '200', (await ann.call('GET', refunds)).body)
  check('GET /api/products', '200', (await ann.call('GET', '/api/products')).body)
  check('GET /api/products/{productId}', '200', (await ann.call('GET', `/api/products/${productId}`)).body)
  const book = { name: 'A book', amount: 0, currency: 'USD', payWhatYouWant: true, suggestedAmount: 500 }
  check('POST /api/products', '201', (await ann.call('POST', '/api/products', book)).body)
  const changed = await ann.call('PATCH', `/api/products/${productId}`, { amount: 500 })
  check('PATCH /api/products/{productId}', '200', changed.body)
  check('POST /api/orders/{orderId}/refunds', '4XX', (await ann.call('POST', refunds, { amount: 1900 })).body)
  const line = { email: EMAIL, descriptor: 'TILL A BOOK' }
  check('POST /api/charges/code', '202', (await browser.call('POST', '/api/charges/code', line)).body)
  const charge = await browser.call('POST', '/api/charges/verify', { ...line, code: await liveCode(shop, EMAIL) })
  check('POST /api/charges/verify', '200', charge.body)

  for (const [route, answer] of [
    ['POST /api/charges/code', await shop.call('POST', '/api/charges/code', {})],
    ['POST /api/checkout', await shop.call('POST', '/api/checkout', {})],
    ['GET /api/checkout/{orderId}/status', await shop.call('GET', '/api/checkout/x/status')],
    ['GET /api/downloads/{token}', await shop.call('GET', '/api/downloads/x')],
    ['POST /api/auth/otp', await shop.call('POST', '/api/auth/otp', {})],
    ['GET /api/auth/session', await shop.call('GET', '/api/auth/session')],
    ['POST /api/webhooks/{processor}', await shop.call('POST', '/api/webhooks/sandbox', {})],
  ] as const) {
    assert(answer.status >= 400)
    check(route, '4XX', answer.body)
  }
})

/** The schema, with every object closed: a member that is not described is one too many. */
function closed(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(closed)
  if (typeof schema !== 'object' || schema === null) return schema
  const members = Object.fromEntries(Object.entries(schema).map(([name, member]) => [name, closed(member)]))
  return 'properties' in schema ? { ...members, additionalProperties: false } : members
}

test('the description for people lists every route, describes each on one page of parts, and runs nothing', async () => {
  const shop = shared()
  const { body: api } = await shop.call<Described>('GET', '/api/openapi.json')
  const page = async (address: string) => {
    const { body, headers } = await shop.call<string>('GET', address)
    assert.equal(headers.get('content-type'), 'text/html; charset=utf-8')
    assert.doesNotMatch(body, /<script|\son\w+=/i)
    assert.match(
      headers.get('content-security-policy')!,
      /^default-src 'none'; style-src 'sha256-[\w+/=]+'; frame-ancestors 'none'; base-uri 'none'$/,
    )
    return body
  }
  const contents = await page('/api/docs')
  const parts = new Set([...contents.matchAll(/href="(\/api\/docs\/[a-z-]+)"/g)].map(([, address]) => address!))
  const texts = await Promise.all([...parts].map(page))
  for (const operation of Object.values(api.paths).flatMap((methods) => Object.values(methods))) {
    const { operationId } = operation as { operationId: string }
    assert(contents.includes(`id="${operationId}"`), operationId)
    assert.equal(texts.filter((text) => text.includes(`<article id="${operationId}">`)).length, 1, operationId)
  }
  assertProblem(await shop.call('GET', '/api/docs/nothing'), 404, 'not_found')
})

test('the log of a busy service at its most detailed level contains nothing of buyers and sellers', async (t) => {
  const email = 'a-buyer-of-note@private.example'
  const service = await startService(t, await temporaryFolder(t), {
    DATABASE_URL: await newDatabase(t),
    LOG_LEVEL: 'trace',
    LIMITS: 'wrong_email=2/60,checkout=1000/60,status=1000/60,sandbox=1000/60,code=1/60',
  })
  const { call, productId } = service
  const key = 'key-of-a-buyer-that-nobody-else-knows'
  const { body: order } = await call(
    'POST',
    '/api/checkout',
    { productId, email },
    { headers: { 'idempotency-key': key } },
  )
  const status = (query: string) => call('GET', `/api/checkout/${order.orderId}/status?${query}`)
  await call('POST', '/api/sandbox/confirm', { clientSecret: order.clientSecret, rail: 'card' })
  const mine = `email=${encodeURIComponent(email)}`
  const paid = await eventually(
    () => status(mine),
    ({ body }) => body.paid === true,
  )
  const token = new URL(paid.body.downloads[0].url).pathname.split('/').at(-1)!
  assert.equal((await call('GET', `/api/downloads/${token}`)).status, 200)

  const statuses = [
    (await call('GET', `/api/downloads/${token}x`)).status,
    (await status('email=a-wrong-guess@private.example')).status,
    (await status('email=a-wrong-guess@private.example&sync=1')).status,
    (await status('email=a-wrong-guess@private.example')).status,
    (await status('email=x&email=a-wrong-guess@private.example')).status,
    (await call('POST', `/api/checkout/${order.orderId}/receipt`, { email: 'a-wrong-guess@private.example,x' })).status,
    (await call('POST', '/api/checkout', { productId: 'x', email })).status,
    (await call('POST', '/api/checkout', `{"email":"${email}"`)).status,
    (await call('POST', '/api/checkout', { productId, email, discountCode: 'other' }, { headers: { 'idempotency-key': key } })).status,
    (await call('POST', '/api/sandbox/confirm', { clientSecret: order.clientSecret, rail: 'card' })).status,
    (await call('POST', '/api/webhooks/sandbox', { payment: email }, { headers: { 'webhook-signature': 'v1,a-forged-signature' } })).status,
    (await call('GET', `/${email}?${mine}`, undefined, { headers: { cookie: 'session=a-stolen-cookie', authorization: 'Bearer a-stolen-token', 'user-agent': 'a-strange-browser' } })).status,
    (await call('GET', `/%zz${email}`)).status,
  ] // oxfmt-ignore
  assert.deepEqual(statuses, [403, 200, 200, 429, 400, 400, 404, 400, 409, 409, 400, 404, 400])
  const seller = await signInAndOut(service)
  service.child.kill('SIGTERM')
  while (service.child.exitCode === null) await sleep(20)
  assert.equal(service.child.exitCode, 0)

  const [announced, lines] = [[], []] as [string[], Record<string, unknown>[]]
  for (const line of service.output().split('\n').filter(Boolean)) {
    if (line.startsWith('{')) lines.push(JSON.parse(line))
    else announced.push(line)
  }
  const secrets = [
    'private.example', 'a-buyer-of-note', 'a-wrong-guess', '%40', key, order.clientSecret, order.clientSecret.split('_secret_')[1], token, token.split('.').at(-1)!,
    ...seller, 'sync=1', 'email=', 'a-forged-signature', 'a-stolen', 'a-strange-browser', 'a secret of the tests', 'postgres://',
  ] // oxfmt-ignore
  for (const secret of secrets) assert(!service.output().includes(secret), `the log holds ${secret}`)
  assert(
    announced.every((line) => /^Till is ready|^ {2}\S/.test(line)),
    announced.join('\n'),
  )

  const requests = lines.filter(({ msg }) => msg === 'request')
  for (const request of requests) {
    assert.deepEqual(Object.keys(request).sort(), [
      'level',
      'method',
      'ms',
      'msg',
      'requestId',
      'route',
      'status',
      'time',
    ])
    assert.match(String(request.route), /^(\/[\w/:.*-]*|\(none\)|\*)$/)
    assert.match(String(request.time), /^\d{4}-\d\d-\d\dT[\d:.]+Z$/)
  }
  const served = new Set(requests.map(({ method, route, status: code }) => `${method} ${route} ${code}`))
  for (const line of [
    'POST /api/checkout 201',
    'POST /api/checkout 409',
    'GET /api/downloads/:token 200',
    'GET /api/downloads/:token 403',
    'GET (none) 400',
    'POST /api/webhooks/:processor 200',
    'GET /api/checkout/:orderId/status 429',
    'POST /api/auth/otp 429',
    'POST /api/auth/otp/verify 401',
    'PUT /api/auth/password 204',
    'POST /api/auth/password 401',
    'DELETE /api/auth/sessions/:sessionId 404',
    'GET /api/auth/idp/callback 302',
  ])
    assert(served.has(line), `${line} is in the log`)
  assert(lines.some(({ msg, why }) => msg === 'closing' && why === 'SIGTERM'))
})

/** Signs in by all ways, rightly and wrongly, and signs out. Returns the secrets that must not appear anywhere. */
async function signInAndOut({ call, url }: Service): Promise<string[]> {
  const email = 'a-seller-of-note@private.example'
  const [password, mistyped, newer] = ['a password of the seller', 'a password mistyped', 'a-newer-mailbox@private.example'] // oxfmt-ignore
  const secrets = [email, password, mistyped, newer, 'a-code-from-a-provider', 'a-state-of-ours', 'Name of the seller']
  let cookies: string[] = []
  const ask = async (method: string, path: string, body?: unknown) => {
    const reply = await call(method, path, body, { headers: { cookie: cookies.join('; '), origin: url } })
    const set = (reply.headers['set-cookie'] ?? []).map((line) => line.split(';')[0]!)
    cookies = [...cookies.filter((one) => !set.some((line) => line.split('=')[0] === one.split('=')[0])), ...set]
    secrets.push(...set.map((pair) => pair.slice(pair.indexOf('=') + 1)).filter(Boolean))
    return reply
  }
  const statuses = [(await ask('POST', '/api/auth/otp', { email })).status]
  const [mail] = await eventually(
    async () => (await call('GET', `/api/outbox?to=${email}`)).body,
    ({ length }) => length > 0,
  )
  const code = mail.subject.slice(0, 6)
  const held = [...cookies]
  for (const [method, path, body] of [
    ['POST', '/api/auth/otp', { email }],
    ['POST', '/api/auth/otp/verify', { email, code: code === '123456' ? '654321' : '123456' }],
  ] as const)
    statuses.push((await ask(method, path, body)).status)
  cookies = held
  for (const [method, path, body] of [
    ['POST', '/api/auth/otp/verify', { email, code }],
    ['PUT', '/api/auth/password', { newPassword: password }],
    ['PUT', '/api/auth/password', { newPassword: password, currentPassword: mistyped }],
    ['POST', '/api/auth/password', { email, password }],
    ['POST', '/api/auth/password', { email, password: mistyped }],
    ['POST', '/api/auth/password', `{"email":"${email}","password":"${mistyped}`],
    ['PATCH', '/api/auth/seller', { name: 'Name of the seller' }],
    ['POST', '/api/auth/email', { email: newer }],
    ['GET', '/api/auth/sessions'],
    ['DELETE', '/api/auth/sessions/ses_01m7y9ddw03mvznr65rfk4ah2z'],
    ['GET', '/api/auth/idp/callback?code=a-code-from-a-provider&state=a-state-of-ours'],
    ['DELETE', '/api/auth/session'],
    ['GET', '/api/auth/session'],
  ] as const)
    statuses.push((await ask(method, path, body)).status)
  assert.deepEqual(statuses, [202, 429, 401, 200, 204, 403, 200, 401, 400, 200, 202, 200, 404, 302, 204, 401])
  return secrets
}
