import assert from 'node:assert/strict'
import net from 'node:net'
import { test } from 'node:test'
import { startService } from '../support/service.ts'
import {
  type Answer,
  type TestShop,
  assertProblem,
  newDatabase,
  sharedShop,
  startTestShop,
  temporaryFolder,
} from '../support/shop.ts'

// Tests of who may call the service: by the Host of a request, by its origin, and by its token.

const BASE_URL = 'https://api.shop.example'
const APP_URL = 'https://pay.shop.example:8443'
const PUBLIC = { PUBLIC: '1', BASE_URL, APP_URL, SMTP_URL: 'smtp://127.0.0.1:1', MAIL_FROM: 'a@b.example', TRUST_PROXY: 'none', LIMITS: 'status=1000/60' } // oxfmt-ignore
const TOKEN = 'a-token-of-the-scraper-that-is-long'
const shared = sharedShop({ env: { BASE_URL, APP_URL, DEMO: '1' } })

/** A request with any Host, which a proper client would not send. */
async function get(
  shop: { url: string },
  path: string,
  host: string | undefined,
  headers = '',
  version = host === undefined ? '1.0' : '1.1',
): Promise<Answer> {
  const socket = net.connect(Number(new URL(shop.url).port), '127.0.0.1')
  socket.setTimeout(120_000, () => socket.destroy(new Error('no answer')))
  socket.write(`GET ${path} HTTP/${version}\r\n${host === undefined ? '' : `host: ${host}\r\n`}${headers}connection: close\r\n\r\n`) // oxfmt-ignore
  let text = ''
  for await (const chunk of socket) text += String(chunk)
  const [head = '', body = ''] = text.split(/\r\n\r\n([^]*)/)
  const lines = head.split('\r\n').slice(1).map((line): [string, string] => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1).trim()]) // oxfmt-ignore
  return {
    status: Number(text.slice(9, 12)),
    headers: new Headers(lines),
    body: /json/.test(head) ? JSON.parse(body) : body,
  }
}

test('a Host that is not one of ours is refused, on every address', async () => {
  const shop = shared()
  const paths = ['/', '/outbox/', '/api/outbox', '/api/auth/providers', '/api/checkout', '/favicon.svg', '/metrics', '/nowhere'] // oxfmt-ignore
  for (const path of paths) assertProblem(await get(shop, path, 'rebound.evil.example'), 421, 'misdirected_request')
  const port = new URL(shop.url).port
  const strange = [
    `rebound.evil.example:${port}`, 'api.shop.example.evil.example', 'evilapi.shop.example', 'shop.example', 'api.shop.example:4000', 'localhost.evil.example', '127.0.0.1.evil.example',
    'evil.example@localhost', 'localhost@evil.example', '10.0.0.1', '[2001:db8::1]', '0.0.0.0', '[::]', '2130706433', 'localhost:4000:1', '[::1', 'localhost/x', '', 'api.shop.example, localhost',
  ] // oxfmt-ignore
  for (const host of strange) assert.equal((await get(shop, '/api/outbox', host)).status, 421, host)
  assert.equal((await get(shop, '/api/outbox', undefined)).status, 421, 'HTTP/1.0 without a Host')
  // a header that a page on a rebound name could send along changes nothing
  for (const header of ['x-forwarded-host: localhost', 'forwarded: host=localhost', 'x-host: localhost'])
    assert.equal((await get(shop, '/api/outbox', 'evil.example', `${header}\r\n`)).status, 421, header)
})

test('our own names are answered, with a port or without, and so is this machine under any of its names', async () => {
  const shop = shared()
  const known = [
    'api.shop.example', 'API.shop.example', 'api.shop.example:443', 'pay.shop.example', 'pay.shop.example:8443', 'localhost', 'localhost:4000', 'LOCALHOST:80', 'till.localhost:4000',
    '127.0.0.1', '127.0.0.1:9', '127.1.2.3', '[::1]', '[::1]:4000',
  ] // oxfmt-ignore
  for (const host of known) assert.equal((await get(shop, '/api/outbox', host)).status, 200, host)
})

test('a probe is answered under any Host', async () => {
  for (const path of ['/healthz', '/readyz'])
    assert.equal((await get(shared(), path, '10.1.2.3:4000')).status, 200, path)
})

test('the outbox and the sandbox answer this machine, and no proxy on it', async () => {
  const shop = shared()
  const order = await shop.checkout()
  const forwarded = ['x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto', 'forwarded', 'x-real-ip', 'via', 'cf-connecting-ip', 'cf-ray', 'cdn-loop', 'x-envoy-external-address', 'x-original-forwarded-for'] // oxfmt-ignore
  for (const name of forwarded) {
    assertProblem(await shop.call('GET', '/api/outbox', undefined, { [name]: '127.0.0.1' }), 403, 'local_only')
    for (const what of ['confirm', 'refund', 'dispute'])
      assertProblem(await shop.call('POST', `/api/sandbox/${what}`, {}, { [name]: '127.0.0.1' }), 403, 'local_only')
  }
  assert.equal((await shop.status(order.orderId)).status, 'pending')
  assert.equal((await shop.confirm(order)).status, 200)
  assert.equal((await shop.call('GET', '/api/outbox')).status, 200)
})

test('the outbox, the sandbox and the metrics are closed behind nginx with its default settings', async () => {
  const shop = shared()
  // `proxy_pass http://127.0.0.1:4000;` and nothing else
  const byNginx = (path: string) => get(shop, path, `127.0.0.1:${new URL(shop.url).port}`, '', '1.0')
  assertProblem(await byNginx('/api/outbox'), 403, 'local_only')
  assertProblem(await byNginx('/metrics'), 404, 'not_found')
  assert.equal((await byNginx('/api/auth/providers')).status, 200, 'public routes answer')
})

test('a demo on a network keeps its outbox behind the token that the start prints', async (t) => {
  const service = await startService(t, await temporaryFolder(t), { DEMO_ON_NETWORK: '1', DATABASE_URL: await newDatabase(t) }) // oxfmt-ignore
  const token = /\/outbox\/#token=(\S+)/.exec(service.output())?.[1]
  assert(token)
  const authorization = (given: string) => ({ headers: { authorization: `Bearer ${given}` } })
  const mails = (given?: string) =>
    service.call('GET', '/api/outbox', undefined, given === undefined ? {} : authorization(given))
  assert.equal((await mails(token)).status, 200)
  for (const wrong of [undefined, '', 'x', token.slice(1), `${token}x`, `${token} x`, token.toUpperCase()]) {
    const { status, body } = await mails(wrong)
    assert.deepEqual([status, body.code], [401, 'token_required'], wrong)
  }
  const port = new URL(service.url).port
  for (const host of [`192.168.7.7:${port}`, '[2001:db8::7]', `localhost:${port}`])
    assert.equal((await get(service, '/api/auth/providers', host)).status, 200, host)
  assert.equal((await get(service, '/api/auth/providers', 'evil.example')).status, 421)
  const order = await service.checkout(undefined, { headers: { 'x-forwarded-for': '192.168.7.7' } })
  assert.equal(order.status, 201)
  const paid = await service.call('POST', '/api/sandbox/confirm', { clientSecret: order.body.clientSecret, rail: 'card' }, { headers: { 'x-forwarded-for': '192.168.7.7' } }) // oxfmt-ignore
  assert.equal(paid.status, 200, 'a demo is there to be bought from')
})

const metrics = (shop: TestShop, headers?: Record<string, string>) => shop.call('GET', '/metrics', undefined, headers)

test('the metrics of a private service are for this machine', async () => {
  const shop = shared()
  assert.equal((await metrics(shop)).status, 200)
  for (const name of ['x-forwarded-for', 'forwarded', 'x-real-ip'])
    assertProblem(await metrics(shop, { [name]: '127.0.0.1' }), 404, 'not_found')
})

test('the metrics of a public service need its token, and without a token setting no client gets them', async (t) => {
  const closed = await startTestShop(t, { env: { ...PUBLIC, PROCESSORS: 'none' } })
  assertProblem(await metrics(closed), 404, 'not_found')
  assertProblem(await metrics(closed, { authorization: 'Bearer undefined' }), 404, 'not_found')
  const shop = await startTestShop(t, { env: { ...PUBLIC, PROCESSORS: 'none', METRICS_TOKEN: TOKEN } })
  for (const given of ['', `Bearer ${TOKEN}x`, `Basic ${TOKEN}`, `Bearer ${TOKEN.slice(1)}`, TOKEN])
    assertProblem(await metrics(shop, { authorization: given }), 404, 'not_found')
  assert.equal((await metrics(shop, { authorization: `Bearer ${TOKEN}` })).status, 200)
  const scraped = await get(shop, '/metrics', '10.1.2.3:4000', `authorization: Bearer ${TOKEN}\r\n`)
  assert.equal(scraped.status, 200, 'a scraper asks by the machine’s address')
})

test('a public sandbox that PROCESSORS names is open to everybody', async (t) => {
  const shop = await startTestShop(t, { env: { ...PUBLIC, PROCESSORS: 'sandbox' } })
  const order = await shop.checkout()
  const body = { clientSecret: order.clientSecret, rail: 'card' }
  assert.equal((await shop.call('POST', '/api/sandbox/confirm', body, { 'x-forwarded-for': '203.0.113.7' })).status, 200) // oxfmt-ignore
  assertProblem(await shop.call('GET', '/api/outbox'), 404, 'not_found')
})
