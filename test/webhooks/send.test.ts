import assert from 'node:assert/strict'
import http from 'node:http'
import https from 'node:https'
import net from 'node:net'
import { test } from 'node:test'
import { type Lookup, isPublicAddress, isWithinReach } from '../../src/kit/public-address.ts'
import { type SendOptions, type Sent, newSender, problemOfUrl } from '../../src/webhooks/send.ts'
import { atEnd } from '../support/ends.ts'
import { CERTIFICATE, KEY } from '../support/certificate.ts'
import type { Ends } from '../support/shop.ts'

const PRIVATE = [
  '0.0.0.0', '10.0.0.1', '100.64.0.1', '127.0.0.1', '127.255.255.254', '169.254.169.254', '172.16.0.1', '172.31.255.255', '192.0.0.1',
  '192.0.2.1', '192.88.99.1', '192.168.0.1', '198.18.0.1', '198.51.100.1', '203.0.113.1', '224.0.0.1', '240.0.0.1', '255.255.255.255',
  '::', '::1', '::127.0.0.1', '::7f00:1', '::ffff:127.0.0.1', '::ffff:10.0.0.1', '::ffff:8.8.8.8', '::ffff:0:127.0.0.1',
  '64:ff9b::127.0.0.1', '64:ff9b::8.8.8.8', '64:ff9b:1::1', '100::1', '2001::1', '2001:db8::1', '2002:7f00:1::', '3fff::1', '5f00::1',
  'fc00::1', 'fd00:ec2::254', 'fe80::1', 'fe80::1%eth0', 'fec0::1', 'ff02::1', '4000::1', 'no address', '',
] // oxfmt-ignore

test('only addresses of the public internet are public, in whatever notation', () => {
  for (const address of PRIVATE) assert(!isPublicAddress(address), address)
  for (const address of ['8.8.8.8', '1.1.1.1', '223.255.255.254', '2606:4700:4700::1111', '2a00:1450:4001:800::200e'])
    assert(isPublicAddress(address), address)
  assert(isWithinReach('127.0.0.1', 'loopback') && isWithinReach('::1', 'loopback') && isWithinReach('::ffff:127.0.0.1', 'loopback')) // oxfmt-ignore
  assert(!isWithinReach('10.0.0.1', 'loopback') && !isWithinReach('169.254.169.254', 'loopback'))
  assert(isWithinReach('10.0.0.1', 'any'))
})

test('an address that can never be reached is refused when it is registered', () => {
  const refused = [
    'ftp://shop.example/', 'https://', 'http://shop.example/', 'https://user:word@shop.example/', 'https://user@shop.example/',
    'https://localhost/', 'https://LOCALHOST./', 'https://till.localhost/', 'https://127.0.0.1/', 'https://2130706433/', 'https://0x7f000001/',
    'https://0x7f.1/', 'https://0177.0.0.1/', 'https://017700000001/', 'https://127.1/', 'https://127.0.0.1./', 'https://0/', 'https://10.0.0.8:8443/',
    'https://169.254.169.254/latest/meta-data', 'https://[::1]/', 'https://[::ffff:127.0.0.1]/', 'https://[::ffff:7f00:1]/', 'https://[64:ff9b::7f00:1]/',
    'https://[fe80::1%25eth0]/', 'https://[fd00:ec2::254]/', 'https://①②⑦.⓪.⓪.①/', 'https://100.100.100.200/',
  ] // oxfmt-ignore
  for (const url of refused) assert(problemOfUrl(url, 'public'), url)
  for (const url of ['https://shop.example/hook?a=1', 'https://8.8.8.8/', 'https://[2606:4700:4700::1111]:8443/'])
    assert.equal(problemOfUrl(url, 'public'), undefined, url)
  // a desk: this machine by http too, and nothing else of the network
  for (const url of ['http://localhost:3000/', 'http://127.0.0.1:3000/', 'http://[::1]:3000/', 'https://shop.example/'])
    assert.equal(problemOfUrl(url, 'loopback'), undefined, url)
  for (const url of ['http://shop.example/', 'http://10.0.0.8/', 'https://10.0.0.8/', 'https://169.254.169.254/'])
    assert(problemOfUrl(url, 'loopback'), url)
  for (const url of ['http://10.0.0.8/', 'http://shop.internal/'])
    assert.equal(problemOfUrl(url, 'any'), undefined, url)
})

/** Names for a test: each look-up takes the next of a name's answers, and the last one stays. */
const names = (answers: Record<string, string[][]>): Lookup & { asked: number } => {
  const lookup = ((hostname, _options, callback) => {
    lookup.asked++
    const list = answers[hostname]
    const addresses = (list && list.length > 1 ? list.shift() : list?.[0]) ?? []
    if (addresses.length === 0) callback(Object.assign(new Error('none'), { code: 'ENOTFOUND' }), [])
    else
      callback(
        null,
        addresses.map((address) => ({ address, family: net.isIPv6(address) ? 6 : 4 })),
      )
  }) as Lookup & { asked: number }
  lookup.asked = 0
  return lookup
}

type Handler = (request: http.IncomingMessage, response: http.ServerResponse) => void

/** A server on this machine that counts its connections. */
async function serverOf(t: Ends, handler: Handler, tls?: { cert: string; key: string }) {
  const seen = { connections: 0, requests: 0, port: 0 }
  const listener: Handler = (request, response) => {
    seen.requests++
    handler(request, response)
  }
  const server = tls ? https.createServer(tls, listener) : http.createServer(listener)
  server.on('connection', () => seen.connections++)
  server.listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  seen.port = (server.address() as net.AddressInfo).port
  atEnd(t, () => {
    server.close()
    server.closeAllConnections()
  })
  return seen
}

async function sent(t: Ends, url: string, options: Partial<SendOptions> = {}): Promise<Sent> {
  const { send, close } = newSender({ reach: 'loopback', tryMs: 60_000, ...options })
  atEnd(t, close)
  return send({ url, headers: { 'webhook-id': 'evt_1' }, body: '{}' })
}

const ok: Handler = (_request, response) => void response.writeHead(200).end('thanks')

test('a name with one private address among public ones is not connected to', async (t) => {
  const server = await serverOf(t, ok)
  const lookup = names({
    'shop.example': [['8.8.8.8', '127.0.0.1']],
    'inside.example': [['10.0.0.8']],
    'v6.example': [['::ffff:10.0.0.8']],
  })
  for (const name of ['shop.example', 'inside.example', 'v6.example']) {
    const { error, status } = await sent(t, `https://${name}:${server.port}/`, { reach: 'public', lookup })
    assert.deepEqual({ error, status }, { error: 'blocked', status: undefined }, name)
  }
  assert.equal(server.connections, 0)
  for (const url of [`https://127.0.0.1:${server.port}/`, `https://[::ffff:127.0.0.1]:${server.port}/`])
    assert.equal((await sent(t, url, { reach: 'public' })).error, 'blocked')
  assert.equal(server.connections, 0)
})

test('a name whose address changes after the check gains nothing: it is looked up once, and the checked address is used', async (t) => {
  const server = await serverOf(t, ok, { cert: CERTIFICATE, key: KEY })
  const lookup = names({ 'receiver.test': [['127.0.0.1'], ['10.0.0.8']] })
  const url = `https://receiver.test:${server.port}/`
  assert.equal((await sent(t, url, { lookup, ca: CERTIFICATE })).status, 200)
  assert.equal(lookup.asked, 1)
  // the next connection is checked again
  assert.equal((await sent(t, url, { lookup, ca: CERTIFICATE })).error, 'blocked')
  assert.equal(server.requests, 1)
})

test('an operator’s setting opens private networks', async (t) => {
  const server = await serverOf(t, ok)
  const lookup = names({ 'inside.example': [['127.0.0.1']] })
  assert.equal((await sent(t, `http://inside.example:${server.port}/`, { reach: 'any', lookup })).status, 200)
  assert.equal((await sent(t, `http://inside.example:${server.port}/`, { reach: 'loopback', lookup })).error, 'blocked')
})

test('only a certificate that the system trusts, and of that name, is talked to', async (t) => {
  const server = await serverOf(t, ok, { cert: CERTIFICATE, key: KEY })
  const lookup = names({ 'receiver.test': [['127.0.0.1']], 'other.test': [['127.0.0.1']] })
  assert.equal((await sent(t, `https://receiver.test:${server.port}/`, { lookup })).error, 'tls')
  assert.equal((await sent(t, `https://other.test:${server.port}/`, { lookup, ca: CERTIFICATE })).error, 'tls')
  assert.equal(server.requests, 0)
  assert.equal((await sent(t, `https://receiver.test:${server.port}/`, { lookup, ca: CERTIFICATE })).status, 200)
  const plain = await serverOf(t, ok)
  assert.equal((await sent(t, `https://127.0.0.1:${plain.port}/`)).error, 'tls')
})

test('a redirect is a failure, and nobody follows it', async (t) => {
  const target = await serverOf(t, ok)
  const server = await serverOf(
    t,
    (_request, response) => void response.writeHead(302, { location: `http://127.0.0.1:${target.port}/` }).end('there'),
  )
  const { status, error, answer } = await sent(t, `http://127.0.0.1:${server.port}/`)
  assert.deepEqual({ status, error, answer }, { status: 302, error: 'status', answer: 'there' })
  assert.equal(target.connections, 0)
})

test('of an endless answer little is read, and its beginning is kept', async (t) => {
  let written = 0
  const server = await serverOf(t, (_request, response) => {
    response.writeHead(200)
    const more = (): void => {
      if (response.destroyed || response.closed) return
      written += 16_384
      response.write('a'.repeat(16_384), () => setImmediate(more))
    }
    more()
  })
  const { status, error, answer } = await sent(t, `http://127.0.0.1:${server.port}/`)
  assert.deepEqual({ status, error, length: answer.length }, { status: 200, error: undefined, length: 2048 })
  assert(written < 50 * 1024 * 1024, 'the sender hangs up')
  const large = await serverOf(t, (_request, response) => void response.writeHead(500).end('b'.repeat(1024 * 1024)))
  const refused = await sent(t, `http://127.0.0.1:${large.port}/`)
  assert.deepEqual([refused.error, refused.status, refused.answer], ['status', 500, 'b'.repeat(2048)])
})

test('a receiver that drips, or never answers, ends with the time of the try', async (t) => {
  const timers: NodeJS.Timeout[] = []
  atEnd(t, () => timers.forEach(clearInterval))
  const silent = await serverOf(t, () => {})
  const drip = net.createServer((socket) => {
    socket.on('error', () => {})
    timers.push(setInterval(() => socket.write('H'), 20))
  })
  drip.listen(0, '127.0.0.1')
  await new Promise((resolve) => drip.once('listening', resolve))
  atEnd(t, () => drip.close())
  for (const port of [silent.port, (drip.address() as net.AddressInfo).port]) {
    const { error, status } = await sent(t, `http://127.0.0.1:${port}/`, { tryMs: 300 })
    assert(error === 'timeout' || error === 'refused', String(error))
    assert.equal(status, undefined)
  }
  assert.equal((await sent(t, `http://127.0.0.1:${silent.port}/`, { tryMs: 300 })).error, 'timeout')
})

test('a receiver that answers 101 and would change the protocol has failed, and the connection ends', async (t) => {
  const closed = Promise.withResolvers<void>()
  const server = net.createServer((socket) => {
    socket.on('error', () => {}).on('close', () => closed.resolve())
    socket.once('data', () =>
      socket.write('HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n'),
    )
  })
  server.listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  atEnd(t, () => server.close())
  const { status, error } = await sent(t, `http://127.0.0.1:${(server.address() as net.AddressInfo).port}/`)
  assert.deepEqual({ status, error }, { status: 101, error: 'status' })
  await closed.promise
})

test('an answer whose body is too slow, or breaks off, has been an answer all the same', async (t) => {
  const slow = await serverOf(t, (_request, response) => void response.writeHead(200).write('thanks'))
  const broken = await serverOf(t, (request, response) => {
    response.writeHead(200, { 'content-length': 100 }).write('thanks', () => request.socket.destroy())
  })
  for (const [{ port }, tryMs] of [
    [slow, 4_000],
    [broken, 60_000],
  ] as const) {
    const { status, error, answer } = await sent(t, `http://127.0.0.1:${port}/`, { tryMs })
    assert.deepEqual({ status, error, answer }, { status: 200, error: undefined, answer: 'thanks' })
  }
})

test('each failure has its class, and answers that are not text are kept as text', async (t) => {
  const closed = await serverOf(t, (request) => void request.socket.destroy())
  assert.equal((await sent(t, `http://127.0.0.1:${closed.port}/`)).error, 'refused')
  const lookup = names({})
  assert.equal((await sent(t, 'https://nowhere.example/', { lookup })).error, 'dns')
  const gone = await serverOf(
    t,
    (_request, response) => void response.writeHead(410).end(Buffer.from([0, 255, 104, 105])),
  )
  const { status, error, answer } = await sent(t, `http://127.0.0.1:${gone.port}/`)
  assert.deepEqual({ status, error }, { status: 410, error: 'status' })
  assert(!answer.includes('\0') && answer.endsWith('hi'))
  const busy = await serverOf(t, (_request, response) => void response.writeHead(503, { 'retry-after': '120' }).end())
  assert.equal((await sent(t, `http://127.0.0.1:${busy.port}/`)).retryAfterSeconds, 120)
})

test('a connection that the receiver closes between two deliveries costs no failure', async (t) => {
  const server = await serverOf(t, (request, response) => {
    response.writeHead(204).end()
    response.on('finish', () => setImmediate(() => request.socket.destroy()))
  })
  const { send, close } = newSender({ reach: 'loopback' })
  atEnd(t, close)
  for (let n = 0; n < 20; n++) {
    const { status } = await send({ url: `http://127.0.0.1:${server.port}/`, headers: {}, body: '{}' })
    assert.equal(status, 204)
  }
})
