import assert from 'node:assert/strict'
import { EventEmitter, once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import net from 'node:net'
import { type TestContext, test } from 'node:test'
import { bodyOf } from '../../src/kit/bodies.ts'
import { newServer } from '../../src/kit/http.ts'
import { newLog } from '../../src/kit/log.ts'
import type { PayoutRouteParts } from '../../src/operator/run-routes.ts'
import { statementRoute } from '../../src/operator/statement-route.ts'
import { type ImageParts, imageRoutes } from '../../src/products/images/routes.ts'
import { atEnd } from '../support/ends.ts'

// No whole service runs in this process: its timers would not fire while the test controls the clock.

const MINUTE_MS = 60_000
const FLOOR_BYTES = 1000

async function listening(t: TestContext, floorMs = MINUTE_MS) {
  const server = await newServer({
    log: newLog('silent'),
    trustProxy: false,
    hosts: { addresses: ['http://x'], anyAddress: false },
    appUrl: 'http://shop.test',
    sessionCookie: 'till_session',
    uploadFloor: { bytes: FLOOR_BYTES, ms: floorMs },
  })
  atEnd(t, () => {
    server.server.closeAllConnections()
    return server.close()
  })
  const read = new EventEmitter()
  server.addContentTypeParser('*', (_request: unknown, _body: unknown, done: (error: null) => void) => done(null))
  server.post('/plain', async () => 'read')
  server.post('/streamed', { config: { streamed: true } }, ({ raw }) => {
    raw.on('data', () => read.emit('bytes'))
    return new Promise(() => {})
  })
  server.post('/kept', { config: { streamed: true } }, async (request) => {
    let kept = ''
    try {
      for await (const chunk of bodyOf(request)) kept += String(chunk)
    } catch {
      read.emit('broken off', kept)
    }
    return 'read'
  })
  // routes that ask who the caller is, and here get no answer
  const never = () => new Promise<never>(() => {})
  await imageRoutes(server, { browsers: { caller: never, signedIn: never } } as unknown as ImageParts)
  await statementRoute(server, {} as PayoutRouteParts)
  const { port } = new URL(await server.listen({ port: 0, host: '127.0.0.1' }))
  const begin = async (path: string, type = 'application/octet-stream', method = 'POST') => {
    const socket = net.connect(Number(port), '127.0.0.1').setEncoding('utf8')
    let heard = ''
    socket.on('data', (text) => (heard += text)).on('error', () => {})
    atEnd(t, () => socket.destroy())
    const closed = once(socket, 'close')
    const arrived = once(server.server, 'request')
    socket.write(`${method} ${path} HTTP/1.1\r\nhost: x\r\ncontent-type: ${type}\r\ncontent-length: 9999\r\n\r\n`)
    const [{ socket: far }] = (await arrived) as [IncomingMessage]
    return { socket, far, closed, heard: () => heard }
  }
  return { begin, read }
}

const REFUSED = /^HTTP\/1\.1 408 [^]*application\/problem\+json/

test('a body must arrive within a minute, unless it is a file that keeps coming', async (t) => {
  const { begin, read } = await listening(t)
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const plain = await begin('/plain', 'application/json')
  const streamed = await begin('/streamed')
  const send = async (bytes: number) => {
    const came = once(read, 'bytes')
    streamed.socket.write('x'.repeat(bytes))
    await came
  }
  await send(FLOOR_BYTES)
  t.mock.timers.tick(MINUTE_MS)
  await plain.closed
  assert.match(plain.heard(), REFUSED)
  assert.equal(streamed.heard(), '')
  // a byte now and then holds no connection
  for (let times = 0; times < 4; times++) {
    await send(1)
    t.mock.timers.tick(MINUTE_MS / 4)
  }
  await streamed.closed
  assert.match(streamed.heard(), REFUSED)
  // a refused client cannot keep the connection half open
  for (const path of ['/plain', '/streamed']) {
    const { socket, far } = await begin(path, 'application/json')
    socket.allowHalfOpen = true
    const refused = once(socket, 'end')
    const gone = new Promise((resolve) => far.once('close', resolve))
    t.mock.timers.tick(MINUTE_MS)
    await refused
    t.mock.timers.tick(5_000)
    await gone
  }
})

test('a body at an address that cannot be decoded is cut off soon after the answer', async (t) => {
  const { begin } = await listening(t)
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const { socket, far, closed, heard } = await begin('/%zz', 'application/json')
  if (!heard()) await once(socket, 'data')
  assert.match(heard(), /^HTTP\/1\.1 400 /)
  t.mock.timers.tick(5_000)
  // now, and not when it has been idle for long
  assert(far.destroyed)
  await closed
})

test('a picture, a logo and a bank’s statement may take five minutes on a slow line', async (t) => {
  const { begin } = await listening(t)
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const slow = [
    await begin('/api/products/prod_01kakd4m2n5p8q1r3s6t9v0w2x/image', 'image/png', 'PUT'),
    await begin('/api/brand/logo', 'image/png', 'PUT'),
    await begin('/api/operator/payouts/statement', 'application/xml'),
  ]
  t.mock.timers.tick(3 * MINUTE_MS)
  const plain = await begin('/plain', 'application/json')
  t.mock.timers.tick(MINUTE_MS)
  await plain.closed
  for (const { heard } of slow) assert.equal(heard(), '')
  t.mock.timers.tick(MINUTE_MS)
  await Promise.all(slow.map(({ closed }) => closed))
  for (const { heard } of slow) assert.match(heard(), REFUSED)
})

test('the handler gets the bytes of a file that came before it became too slow', async (t) => {
  const { begin, read } = await listening(t, 10_000)
  const brokenOff = once(read, 'broken off')
  const { socket, closed, heard } = await begin('/kept')
  socket.write('the first bytes')
  await closed
  assert.match(heard(), REFUSED)
  assert.deepEqual(await brokenOff, ['the first bytes'])
})
