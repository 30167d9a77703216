import assert from 'node:assert/strict'
import net from 'node:net'
import { test } from 'node:test'
import { newServer } from '../../src/kit/http.ts'
import { newLog } from '../../src/kit/log.ts'
import { atEnd } from '../support/ends.ts'
import { operations } from '../support/operations.ts'
import { assertProblem, type Answer, sharedShop, type TestShop } from '../support/shop.ts'

const APP_URL = 'https://pay.shop.example'
const shared = sharedShop({ env: { APP_URL, BASE_URL: 'https://api.shop.example' } })

/** Sends bytes on a bare connection, for requests that a proper client never sends. */
async function raw(shop: TestShop, request: string): Promise<{ status: number; head: string; body: string }> {
  const socket = net.connect(Number(new URL(shop.url).port), '127.0.0.1')
  socket.setTimeout(120_000, () => socket.destroy(new Error('no answer')))
  socket.write(request.replaceAll('\n', '\r\n'))
  let answer = ''
  for await (const chunk of socket) answer += String(chunk)
  const at = answer.indexOf('\r\n\r\n')
  return { status: Number(answer.slice(9, 12)), head: answer.slice(0, at), body: answer.slice(at + 4) }
}

const rawGet = (shop: TestShop, path: string, headers = '') =>
  raw(shop, `GET ${path} HTTP/1.1\nhost: localhost\nconnection: close\n${headers}\n`)

const validOrder = async (shop: TestShop) => ({ productId: await shop.product(), email: 'bob@example.com' })

test('every answer carries the headers that keep browsers safe, refusals and redirects too', async () => {
  const shop = shared()
  const { orderId } = await shop.checkout()
  const page = await shop.call<string>('GET', '/pay/')
  const asset = /\/assets\/[\w.-]+\.js\b/.exec(page.body)?.[0]
  assert(asset)
  const answers: [number, Promise<Answer>][] = [
    [200, shop.call('GET', `/api/checkout/${orderId}/status`)],
    [200, shop.call('GET', '/healthz')],
    [200, shop.call('GET', '/metrics')],
    [200, shop.call('GET', '/api/docs')],
    [200, shop.call('GET', '/')],
    [200, shop.call('GET', asset)],
    [200, shop.call('HEAD', '/pricing/')],
    [201, shop.call('POST', '/api/checkout', await validOrder(shop))],
    [200, shop.call('GET', '/sign-in/')],
    [200, shop.call('GET', '/api/auth/providers')],
    [202, shop.call('POST', '/api/auth/otp', { email: 'headers@example.com' })],
    [204, shop.call('DELETE', '/api/auth/session')],
    [302, shop.call('GET', '/api/auth/idp')],
    [302, shop.call('GET', '/api/auth/idp/callback')],
    [401, shop.call('GET', '/api/auth/session')],
    [401, shop.call('POST', '/api/auth/password', { email: 'headers@example.com', password: 'x' })],
    [403, shop.call('DELETE', '/api/auth/session', undefined, { origin: 'https://evil.example' })],
    [204, shop.call('OPTIONS', '/api/checkout')],
    [308, shop.call('GET', '/pay')],
    [400, shop.call('POST', '/api/checkout', {})],
    [400, shop.call('GET', '/%zz')],
    [403, shop.call('GET', '/api/downloads/x')],
    [404, shop.call('GET', '/nowhere')],
    [404, shop.call('GET', '/nowhere', undefined, { accept: 'text/html' })],
    [404, shop.call('GET', '/assets/nothing.js')],
    [405, shop.call('DELETE', '/api/checkout')],
    [413, shop.call('POST', '/api/checkout', 'x'.repeat(70_000))],
    [415, shop.call('POST', '/api/checkout', 'x', { 'content-type': 'text/plain' })],
  ]
  const ids = new Set<string>()
  for (const [status, answer] of answers) {
    const { headers, status: given } = await answer
    assert.equal(given, status)
    const policy = headers.get('content-security-policy') ?? ''
    assert.match(policy, /default-src 'none'/)
    assert.match(policy, /frame-ancestors 'none'/)
    assert.doesNotMatch(policy, /unsafe-eval|script-src[^;]*unsafe-inline/)
    assert.equal(headers.get('x-content-type-options'), 'nosniff')
    assert.equal(headers.get('x-frame-options'), 'DENY')
    assert.equal(headers.get('referrer-policy'), 'no-referrer')
    assert.match(headers.get('strict-transport-security') ?? '', /max-age=\d{7,}/)
    assert.equal(headers.get('server') ?? headers.get('x-powered-by'), null, 'nothing says what it runs on')
    assert.match(headers.get('x-request-id') ?? '', /^[\w-]{16}$/)
    ids.add(headers.get('x-request-id')!)
  }
  assert.equal(ids.size, answers.length, 'no two requests share an id')
})

test('a request id from outside is not trusted', async () => {
  const { headers } = await shared().call('GET', '/healthz', undefined, { 'x-request-id': 'forged-by-a-client' })
  assert.notEqual(headers.get('x-request-id'), 'forged-by-a-client')
})

test('every route answers its own methods, and says which they are to all others', async () => {
  const shop = shared()
  // an operator's address does not exist for others, in any method: see test/operator/hidden.test.ts
  const shown = (await operations(shop)).filter(({ path }) => !path.startsWith('/api/operator/'))
  for (const { path, methods } of shown) {
    const own = Object.keys(methods).map((method) => method.toUpperCase())
    // addresses that only a redirected browser opens have no HEAD
    if (own.includes('GET') && !path.startsWith('/api/auth/idp')) own.push('HEAD')
    const address = path.replaceAll(/\{\w+\}/g, 'x')
    for (const method of ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'PROPFIND']) {
      if (own.includes(method)) continue
      const answer = await shop.call(method, address, undefined, { accept: 'application/json' })
      assert.equal(answer.status, 405, `${method} ${address}`)
      assert.deepEqual(answer.headers.get('allow')?.split(', ').sort(), own.sort(), `${method} ${address}`)
      if (method !== 'HEAD') assertProblem(answer, 405, 'method_not_allowed')
    }
    const { status, head, body } = await raw(
      shop,
      `TRACE ${address} HTTP/1.1\nhost: localhost\ncookie: secret\nconnection: close\n\n`,
    )
    assert.equal(status, 405)
    assert.doesNotMatch(head + body, /secret/)
  }
})

test('a path in another spelling is the same route, and open to the same pages', async () => {
  const shop = shared()
  const { orderId } = await shop.checkout()
  const change = { email: 'new@example.com', code: '123456' }
  for (const email of ['email', '%65mail', 'e%6Dail'])
    assertProblem(
      await shop.call('POST', `/api/checkout/${orderId}/${email}`, change, { origin: 'https://evil.example' }),
      403,
      'origin_not_allowed',
    )
})

test('an address that is only nearly right leads nowhere, and bypasses no check', async () => {
  const shop = shared()
  const { orderId } = await shop.checkout()
  const paths = [
    '/api/checkout/', '//api/checkout', '/api//checkout', '/api/checkout//', '/API/checkout', '/api%2fcheckout', '/api/%63heckout%2f', '/api/./checkout',
    '/api/x/../checkout', '/api/x/%2e%2e/checkout', '/api/checkout;a=b', '/api/checkout%00', '/api/checkout%20', '/api\\checkout', '/api/checkout.json',
    '/api/auth', '/api/auth/', '/api/auth/otp/', '/api/auth/OTP', '/api//auth/otp', '/api/auth//otp', '/api/auth/otp%2fverify', '/api/auth/otp/verify/', '/api/auth/session/', '/API/auth/session',
    '/api/auth/sessions/', '/api/auth/password/', '/api/auth/idp/', '/api/auth/idp/callback/', '/api/auth/providers/',
    '/api', '/api/', '/api?x', '/api/nothing', `/api/checkout/${orderId}`, `/api/checkout/${orderId}/`, `/api/checkout/${orderId}/status/`, `/api/checkout/${orderId}/Status`,
    `/api/checkout/${orderId}%2fstatus`, `/api//checkout/${orderId}/status`, `/api/products/x/public/`, '/api/downloads', '/api/downloads/', '/api/webhooks', '/healthz/',
    '/metrics/', '//healthz', '/HEALTHZ',
  ] // oxfmt-ignore
  for (const path of paths) {
    for (const method of ['GET', 'POST']) {
      const { status, head, body } = await raw(
        shop,
        `${method} ${path} HTTP/1.1\nhost: localhost\naccept: text/html\ncontent-type: application/json\ncontent-length: 2\nconnection: close\n\n{}`,
      )
      const shown = `${method} ${path}: ${head} ${body}`
      assert([400, 403, 404].includes(status), shown)
      // a person who follows a link gets a page
      const isProgram = /^\/api([/?]|$)/.test(path) && method === 'POST'
      if (isProgram) assert.match(head, /content-type: application\/problem\+json/, shown)
    }
  }
})

test('no non-public file can be reached', async () => {
  const shop = shared()
  const paths = [
    '/.env', '/.git/config', '/.git/HEAD', '/package.json', '/package-lock.json', '/src/main.ts', '/schema/001_kit.sql', '/data/secret', '/index.html.bak', '/pay/index.html',
    '/assets', '/assets/', '/assets/..', '/assets/../index.html', '/assets/%2e%2e/%2e%2e/package.json', '/assets/..%2f..%2fpackage.json', '/assets/....//package.json',
    '/assets/..\\..\\package.json', '/assets/%00', '/assets/.vite/manifest.json', '/%2e%2e/package.json', '/../package.json', '/favicon.svg/../../package.json', '/files', '/debug',
    '/api/openapi.yaml', '/api/internal', '/server-status', '/wp-login.php',
  ] // oxfmt-ignore
  for (const path of paths) {
    const { status, body } = await rawGet(shop, path)
    assert([400, 403, 404].includes(status), `${path} ${status}`)
    assert.doesNotMatch(body, /"dependencies"|\[core\]|readConfig|create table/, path)
  }
  assertProblem(await shop.call('GET', '/assets/'), 404, 'not_found')
  const { body } = await shop.call<string>('GET', '/pay/')
  const assets = [...body.matchAll(/\/assets\/[\w.-]+\.(?:js|css)\b/g)].map(([asset]) => asset)
  assert(assets.length > 0)
  for (const asset of assets) {
    assert.equal((await rawGet(shop, `${asset}.map`)).status, 404)
    assert.doesNotMatch((await shop.call<string>('GET', asset)).body, /sourceMappingURL/)
  }
})

test('any site can make orders and read their status, but never with cookies', async () => {
  const shop = shared()
  const { orderId } = await shop.checkout()
  const productId = await shop.product()
  for (const origin of ['https://shop.example', 'null', 'https://evil.example']) {
    for (const [method, path] of [
      ['POST', '/api/checkout'],
      ['GET', `/api/checkout/${orderId}/status`],
      ['GET', `/api/checkout/${orderId}/status?email=bob@example.com`],
      ['POST', `/api/checkout/${orderId}/receipt`],
      ['POST', '/api/sandbox/confirm'],
      ['GET', `/api/products/${productId}/public`],
    ] as const) {
      const preflight = await shop.call('OPTIONS', path, undefined, {
        origin,
        'access-control-request-method': method,
        'access-control-request-headers': 'content-type,idempotency-key',
      })
      assert.equal(preflight.status, 204)
      assert.match(preflight.headers.get('access-control-allow-methods')!, new RegExp(method))
      assert.match(
        preflight.headers.get('access-control-allow-headers')!,
        /^content-type, idempotency-key, if-match, tus-/,
      )
      const answer = await shop.call(method, path, method === 'POST' ? {} : undefined, { origin })
      for (const { headers } of [preflight, answer]) {
        assert.equal(headers.get('access-control-allow-origin'), '*')
        assert.equal(headers.get('access-control-allow-credentials'), null)
      }
      assert.match(answer.headers.get('access-control-expose-headers')!, /location.*retry-after.*x-request-id/)
    }
  }
})

test('all other routes are only for our own pages', async () => {
  const shop = shared()
  const origins = [
    'null', 'https://evil.example', 'https://pay.shop.example.evil.example', 'https://evilpay.shop.example', 'https://payxshop.example', 'http://pay.shop.example',
    'https://pay.shop.example:8443', 'https://PAY.shop.example', 'https://api.shop.example', 'https://pay.shop.example/', '*', APP_URL,
  ] // oxfmt-ignore
  const others = [
    '/healthz',
    '/api/auth/session',
    '/api/auth/providers',
    '/api/auth/nothing',
    '/api/outbox',
    '/api/downloads/x',
    '/api/products/x',
    '/api/products/x/publicity',
    '/api/checkouts',
    '/api/webhooks/sandbox',
    '/pay/',
    '/nowhere',
  ]
  const asked = [
    ...origins.map((origin) => ['/healthz', origin]),
    ...others.map((path) => [path, 'https://evil.example']),
  ]
  for (const [path, origin] of asked as [string, string][]) {
    const { headers } = await shop.call('GET', path, undefined, { origin })
    assert.equal(headers.get('access-control-allow-origin'), APP_URL, `${path} ${origin}`)
    assert.match(headers.get('vary') ?? '', /origin/i)
  }
})

test('the refusal names wrong fields in plain words', async () => {
  const shop = shared()
  const said = async (...request: Parameters<TestShop['call']>) => {
    const answer = await shop.call(...request)
    assertProblem(answer, 400, 'validation_failed')
    return answer.body.detail
  }
  const status = `/api/checkout/${(await shop.checkout()).orderId}/status`
  assert.equal(await said('GET', `${status}?email=a&email=b`), 'The query is not valid.')
  assert.equal(await said('POST', '/api/checkout', {}), 'The body is not valid.')
  const body = { productId: 'x', email: 'a@b.example' }
  assert.equal(await said('POST', '/api/checkout', body, { 'idempotency-key': 'short' }), 'The headers are not valid.')
})

test('an id in an address that cannot exist is not found', async () => {
  const shop = shared()
  assertProblem(await shop.call('GET', '/api/checkout/none/status'), 404, 'order_not_found')
  assertProblem(await shop.call('POST', '/api/checkout/ord_none/payment', { token: 'x' }), 404, 'order_not_found')
  for (const query of ['', '?country=DE&taxId=DE123456789'])
    assertProblem(await shop.call('GET', `/api/products/%00/public${query}`), 404, 'product_not_found')
  const { status, headers } = await shop.call('GET', `/api/products/${await shop.product()}/public?country=DE&taxId=DE136695976`) // oxfmt-ignore
  assert.equal(status, 200)
  assert.equal(headers.get('cache-control'), 'no-store')
})

test('the refusal does not repeat a wrong field’s value', async () => {
  const shop = shared()
  const secret = 'a-secret-that-was-mistyped@@example.com'
  const answers = [
    await shop.call('POST', '/api/checkout', { productId: 'x', email: secret }),
    await shop.call('POST', '/api/sandbox/confirm', { clientSecret: 'x', rail: secret }),
    await shop.call('POST', '/api/auth/otp', { email: secret }),
    await shop.call('POST', '/api/auth/otp/verify', { email: secret, code: secret }),
    await shop.call('POST', '/api/auth/password', { email: secret, password: secret }),
    await shop.call('POST', '/api/auth/password', { email: 'bob@example.com', password: secret }),
    await shop.call('PUT', '/api/auth/password', { newPassword: secret }),
    await shop.call('DELETE', `/api/auth/sessions/${secret}`),
    await shop.call('GET', `/api/checkout/${secret}/status`),
    await shop.call('GET', `/api/${secret}?email=${secret}`),
    await shop.call('GET', `/api/downloads/${secret}`),
  ]
  for (const { body } of answers) assert.doesNotMatch(JSON.stringify(body), /mistyped/)
})

test('broken HTTP is refused in plain words, and other clients are still served', async () => {
  const shop = shared()
  const post = 'POST /api/checkout HTTP/1.1\nhost: localhost\nconnection: close\ncontent-type: application/json\n'
  const requests: [RegExp, string][] = [
    [/431/, `GET /healthz HTTP/1.1\nhost: localhost\nx: ${'a'.repeat(100_000)}\n\n`],
    [/431/, `GET /healthz HTTP/1.1\nhost: localhost\n${'x: y\n'.repeat(20_000)}\n`],
    [/431/, `GET /${'a'.repeat(100_000)} HTTP/1.1\nhost: localhost\n\n`],
    [/400/, 'BREW /coffee HTTP/1.1\nhost: localhost\n\n'],
    [/400/, 'GET / HTTP/9.9\nhost: localhost\n\n'],
    [/400/, 'hello\n\n'],
    [/400/, 'GET / HTTP/1.1\nhost: localhost\nbad header\n\n'],
    [/400/, 'GET / HTTP/1.1\nconnection: close\n\n'],
    [/400/, `${post}content-length: 2\ntransfer-encoding: chunked\n\n{}`],
    [/400/, `${post}content-length: 2\ncontent-length: 3\n\n{}`],
    [/400/, `${post}content-length: -1\n\n{}`],
    [/400/, `${post}transfer-encoding: chunked\n\nnothex\n{}`],
    [/400|501/, `${post}transfer-encoding: gzip, chunked\n\n0\n\n`],
    [/417/, `${post}expect: miracles\ncontent-length: 2\n\n{}`],
  ]
  for (const [status, request] of requests) {
    const answer = await raw(shop, request)
    assert.match(String(answer.status), status, request.slice(0, 80))
    assert.doesNotMatch(answer.body, /HPE_|node:|<html/)
    if (answer.body.startsWith('{')) {
      assert.match(answer.head, /content-type: application\/problem\+json/)
      assert.match(answer.head, /x-content-type-options: nosniff/i)
      const problem = JSON.parse(answer.body)
      assert.equal(problem.status, answer.status)
      assert.equal(/^x-request-id: (\S+)/im.exec(answer.head)?.[1], problem.requestId)
    }
  }
  assert.equal((await shop.call('GET', '/healthz')).status, 200)
})

test('a client that sends slowly, or nothing, does not hold a connection for long', async (t) => {
  const server = await newServer({
    log: newLog('silent'),
    trustProxy: false,
    hosts: { addresses: [], anyAddress: false },
    appUrl: APP_URL,
    sessionCookie: 'till_session',
  })
  atEnd(t, () => server.close())
  const { headersTimeout, requestTimeout, keepAliveTimeout } = server.server
  assert.deepEqual(
    { headersTimeout, requestTimeout, keepAliveTimeout },
    // the platform's own limit of a whole request is one for all, and a large file takes longer
    { headersTimeout: 10_000, requestTimeout: 0, keepAliveTimeout: 72_000 },
  )
})

test('a forged Host appears in no response', async () => {
  const shop = shared()
  const { productId, email } = await validOrder(shop)
  const body = JSON.stringify({ productId, email })
  const forged =
    'host: api.shop.example\nx-forwarded-host: evil.example\nx-forwarded-proto: gopher\nx-original-url: /evil.example\n'
  const answers = [
    await raw(
      shop,
      `POST /api/checkout HTTP/1.1\n${forged}connection: close\ncontent-type: application/json\ncontent-length: ${body.length}\n\n${body}`,
    ),
    await raw(shop, `GET /pay?x HTTP/1.1\n${forged}connection: close\n\n`),
    await raw(shop, `GET http://evil.example/pay HTTP/1.1\n${forged}connection: close\n\n`),
    await raw(shop, `GET /pay/?product=${productId} HTTP/1.1\n${forged}connection: close\n\n`),
  ]
  assert.deepEqual(
    answers.map(({ status }) => status),
    [201, 308, 308, 200],
  )
  for (const { head, body: text } of answers) assert.doesNotMatch(head + text, /evil|gopher/)
  const misdirected = await raw(shop, `GET /pay?x HTTP/1.1\nhost: evil.example\nconnection: close\n\n`)
  assert.equal(misdirected.status, 421)
  assert.doesNotMatch(misdirected.head + misdirected.body, /evil/)
  assert.match(answers[0]!.head, /location: https:\/\/api\.shop\.example\/api\/checkout\/ord_/i)
})
