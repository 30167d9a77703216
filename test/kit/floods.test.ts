import assert from 'node:assert/strict'
import { EventEmitter, once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import net from 'node:net'
import { Readable, Writable } from 'node:stream'
import { test } from 'node:test'
import { pino } from 'pino'
import { Refusal } from '../../src/kit/errors.ts'
import { type HttpOptions, newServer } from '../../src/kit/http.ts'
import { limited, registerLimits } from '../../src/kit/limits.ts'
import { newLog } from '../../src/kit/log.ts'
import { isProxy } from '../../src/kit/peers.ts'
import { atEnd } from '../support/ends.ts'
import { assertLimited, newAddress } from '../support/seller.ts'
import { type Ends, assertProblem, eventually, startTestShop } from '../support/shop.ts'

// Limits for one client before the service knows anything about it: connections, requests, and the time of a response.

/** More than the system keeps for a reader. */
const LARGE_BYTES = 400 * 65_536

const OPTIONS: HttpOptions = {
  log: newLog('silent'),
  trustProxy: false,
  hosts: { addresses: ['http://x'], anyAddress: false },
  appUrl: 'http://x',
  sessionCookie: 'till_session',
}

async function listening(t: Ends, differently: Partial<HttpOptions> = {}) {
  const server = await newServer({ ...OPTIONS, ...differently })
  atEnd(t, () => server.close())
  const answers = new EventEmitter()
  server.addHook('onResponse', (_request, _reply, done) => void (answers.emit('answer'), done()))
  server.get('/', async () => 'read')
  const large: Readable[] = []
  server.get('/large', async (_request, reply) => {
    const pieces = Array.from({ length: LARGE_BYTES / 65_536 }, () => Buffer.alloc(65_536, 'x'))
    large.push(Readable.from(pieces))
    return reply.send(large.at(-1))
  })
  server.post('/plain', async () => 'read')
  for (const streamed of [true, false])
    server.post(streamed ? '/streamed' : '/early', { config: { streamed }, onRequest: async () => refuse() }, async () => 'read') // oxfmt-ignore
  const { port } = new URL(await server.listen({ port: 0, host: '127.0.0.1' }))
  const connect = () => {
    const socket = net.connect(Number(port), '127.0.0.1').setEncoding('utf8')
    let heard = ''
    socket.on('data', (text) => (heard += text)).on('error', () => {})
    atEnd(t, () => socket.destroy())
    return { socket, closed: new Promise<void>((resolve) => socket.once('close', () => resolve())), heard: () => heard }
  }
  return { server, connect, answers, large }
}

function refuse(): never {
  throw new Refusal('not_signed_in', 'No.')
}

const begun = (path: string) =>
  `POST ${path} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 99\r\n\r\n{`
const GET = 'GET / HTTP/1.1\r\nhost: x\r\n\r\n'

test('after a refusal the service reads the rest of the body for some seconds, and within a limit of bytes', async (t) => {
  const { connect, answers } = await listening(t)
  t.mock.timers.enable({ apis: ['setTimeout'] })
  for (const path of ['/early', '/streamed']) {
    const answered = once(answers, 'answer')
    const { socket, closed, heard } = connect()
    socket.write(begun(path))
    await answered
    socket.write(' ')
    t.mock.timers.tick(5_000)
    await closed
    assert.match(heard(), /^HTTP\/1\.1 401 /, path)
    assert.equal(heard().split('HTTP/1.1').length, 2, 'one request has one answer')
  }
})

test('a client that reads nothing is cut, and one that goes on reading is not', async (t) => {
  const { connect, large } = await listening(t, { readSilenceMs: 5_000 })
  const stalled = connect()
  stalled.socket.pause().write('GET /large HTTP/1.1\r\nhost: x\r\n\r\n')
  await eventually(async () => large[0]?.destroyed, Boolean)
  stalled.socket.resume()
  await stalled.closed
  assert.match(stalled.heard(), /^HTTP\/1\.1 200 /)
  assert(stalled.heard().length < LARGE_BYTES)

  const reading = connect()
  reading.socket.write('GET /large HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n')
  await reading.closed
  assert(reading.heard().length > LARGE_BYTES)
})

test('an unsupported method gets 405 with the supported ones, with and without a session or a body', async (t) => {
  const { connect } = await listening(t)
  for (const method of ['QUERY', 'TRACE', 'PROPFIND', 'M-SEARCH', 'PUT', 'DELETE', 'GET', 'BREW', 'X!'])
    for (const body of ['', 'content-type: application/json\r\ncontent-length: 9\r\n']) {
      const { socket, closed, heard } = connect()
      socket.write(`${method} /plain?x=y HTTP/1.1\r\nhost: x\r\nconnection: close\r\n${body}\r\n${body && '{"a":123}'}`)
      await closed
      assert.match(heard(), /^HTTP\/1\.1 405 Method Not Allowed\r\n[^]*"code":"method_not_allowed"/, method)
      assert.match(heard(), /\r\nallow: POST\r\n/i, method)
    }
})

test('a request that cannot be read is logged under the id in its answer', async (t) => {
  const lines: { msg: string; requestId?: string; status?: number }[] = []
  const log = pino({ level: 'info' }, new Writable({ write: (line, _encoding, done) => (lines.push(JSON.parse(String(line))), done()) })) // oxfmt-ignore
  const { connect } = await listening(t, { log })
  const { socket, closed, heard } = connect()
  socket.write('hello\r\n\r\n')
  await closed
  const requestId = /^x-request-id: (\S+)/im.exec(heard())?.[1]
  assert.deepEqual(
    lines.filter(({ status }) => status).map((line) => [line.requestId, line.status]),
    [[requestId, 400]],
  )
})

test('a client that goes away in the middle of its body is no outage of the database', async (t) => {
  const lines: { level: number; msg: string; status?: number }[] = []
  const log = pino({ level: 'trace' }, new Writable({ write: (line, _encoding, done) => (lines.push(JSON.parse(String(line))), done()) })) // oxfmt-ignore
  const { server, connect } = await listening(t, { log })
  const arrived = once(server.server, 'request')
  const { socket } = connect()
  socket.write(begun('/plain'))
  const [raw] = (await arrived) as [IncomingMessage]
  const gone = once(raw, 'close')
  socket.resetAndDestroy()
  await gone.catch(() => {})
  connect().socket.write(GET)
  await eventually(
    async () => lines,
    (all) => all.some(({ msg }) => msg === 'request'),
  )
  assert.deepEqual(
    lines.filter(({ level }) => level > 30),
    [],
  )
})

test('a network has a limit of simultaneous connections', async (t) => {
  const { connect } = await listening(t, { connections: 2 })
  const [first, second] = [connect(), connect()]
  for (const { socket } of [first, second]) {
    socket.write(GET)
    await once(socket, 'data')
  }
  const third = connect()
  third.socket.write(GET)
  await third.closed
  assert.equal(third.heard(), '')
  first.socket.destroy()
  await eventually(
    async () => {
      const next = connect()
      next.socket.write(GET)
      await Promise.race([next.closed, once(next.socket, 'data')])
      next.socket.destroy()
      return next.heard()
    },
    (heard) => heard.startsWith('HTTP/1.1 200'),
  )
})

test('the connections of a proxy carry many clients, and are not counted', async (t) => {
  for (const trustProxy of [1, '127.0.0.1', 'loopback'] as const) {
    const { connect } = await listening(t, { connections: 1, trustProxy })
    for (const { socket } of [connect(), connect(), connect()]) {
      socket.write(GET)
      await once(socket, 'data')
    }
  }
  const cases: [Parameters<typeof isProxy>[0], string, boolean][] = [
    [false, '127.0.0.1', false], [2, '203.0.113.1', false], [1, '127.0.0.1', true], [1, '::1', true], [1, '::ffff:10.0.0.1', true], [1, '172.31.0.1', true], [1, '172.32.0.1', false], [1, 'fd00::1', true], [1, '2001:db8::1', false], ['loopback', '127.9.9.9', true], ['loopback', '::1', true], ['loopback', '::ffff:127.0.0.1', true], ['loopback', '10.0.0.1', false],
    ['10.0.0.0/8, 2001:db8::/32', '10.1.2.3', true], ['10.0.0.0/8, 2001:db8::/32', '2001:db8:1::1', true], ['10.0.0.0/8, 2001:db8::/32', '11.0.0.1', false], ['10.0.0.7', '10.0.0.8', false],
    ['uniquelocal', '192.168.1.1', true], ['uniquelocal', 'fd00::1', true], ['linklocal', '169.254.1.1', true], ['linklocal', '192.168.1.1', false], ['loopback', '', false],
  ] // oxfmt-ignore
  for (const [trustProxy, address, is] of cases)
    assert.equal(isProxy(trustProxy)(address), is, `${trustProxy} ${address}`)
})

test('with TRUST_PROXY as a number, a distant peer that connects directly is the client itself', async (t) => {
  const { server } = await listening(t, { trustProxy: 2, requests: { count: 1, seconds: 60 } })
  const status = async (remoteAddress: string, forwarded: string) =>
    (await server.inject({ url: '/', remoteAddress, headers: { host: 'x', 'x-forwarded-for': forwarded } })).statusCode
  for (const peer of ['203.0.113.9', '2001:db8::9', '::ffff:203.0.113.10', '100.64.0.1', '172.32.0.1'])
    assert.deepEqual([await status(peer, newAddress()), await status(peer, newAddress())], [200, 429], peer)
  for (const proxy of ['127.0.0.1', '::1', '::ffff:10.0.0.1', '192.168.1.1', 'fd00::1']) {
    assert.deepEqual([await status(proxy, newAddress()), await status(proxy, newAddress())], [200, 200], proxy)
    const client = newAddress()
    // the outer proxy can have any address; values that the client wrote itself do not count
    assert.equal(await status(proxy, `${newAddress()}, ${client}, 198.51.100.7`), 200)
    assert.equal(await status(proxy, `${newAddress()}, ${client}, 198.51.100.8`), 429)
  }
})

test('a client is one network whatever port a proxy forwards, and so are all clients without an address', async (t) => {
  const lines: string[] = []
  const log = pino({ level: 'warn' }, new Writable({ write: (line, _encoding, done) => (lines.push(String(line)), done()) })) // oxfmt-ignore
  const server = await newServer({ ...OPTIONS, trustProxy: '127.0.0.1', requests: { count: 2, seconds: 60 }, log })
  atEnd(t, () => server.close())
  await registerLimits(server)
  server.get('/', async () => 'read')
  server.get('/limited', { config: limited({ count: 1, seconds: 60 }) }, async () => 'read')
  const status = async (forwarded: string, url = '/') =>
    (await server.inject({ url, headers: { host: 'x', 'x-forwarded-for': forwarded } })).statusCode
  const client = newAddress()
  assert.deepEqual(
    [await status(`${client}:51324`, '/limited'), await status(`${client}:51325`, '/limited')],
    [200, 429],
  )
  assert.equal(await status(`${client}:51326`), 429)
  assert.deepEqual([await status('[2001:db8:5::1]:1'), await status('[2001:db8:5::2]:2'), await status('2001:db8:5::3')], [200, 200, 429]) // oxfmt-ignore
  assert.deepEqual(lines, [])
  assert.deepEqual([await status('unknown'), await status('hidden'), await status('_other')], [200, 200, 429])
  assert.equal(lines.length, 1, lines.join(''))
  assert.match(lines[0]!, /no IP addresses/)
})

test('a network has a limit of requests of any kind, before anything is read of them', async (t) => {
  const shop = await startTestShop(t, { env: { LIMITS: 'request=3/60', TRUST_PROXY: '1' } })
  const from = (address: string) => ({ 'x-forwarded-for': address })
  const [one, other] = [newAddress(), newAddress()]
  assertProblem(await shop.call('GET', '/nowhere', undefined, from(one)), 404, 'not_found')
  assertProblem(await shop.call('POST', '/api/checkout', {}, from(one)), 400, 'validation_failed')
  assert.equal((await shop.call('OPTIONS', '/api/checkout', undefined, from(one))).status, 204)
  const card = { productId: '4111 1111 1111 1111' }
  assertLimited(await shop.call('POST', '/api/checkout', card, from(one)), 3, 0, 60)
  assertLimited(await shop.call('GET', '/', undefined, from(one)), 3, 0, 60)
  assertProblem(await shop.call('POST', '/api/checkout', card, from(other)), 400, 'card_number_refused')
  // notifications of a processor come from few addresses, and a probe must not fail because of other clients
  for (let time = 0; time < 5; time++) {
    assertProblem(await shop.notify({}, { secret: 'a wrong secret', headers: from(one) }), 400, 'invalid_signature')
    assert.equal((await shop.call('GET', '/readyz', undefined, from(one))).status, 200)
  }
})
