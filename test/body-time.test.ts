import assert from 'node:assert/strict'
import { once } from 'node:events'
import net from 'node:net'
import { test } from 'node:test'
import { newServer } from '../src/kit/http.ts'
import { newLog } from '../src/kit/log.ts'

// No whole service runs in this process: what it waits for would be lost while the clock is the test's.

test('who begins a body has a minute for it, unless it is a file that keeps coming', async (t) => {
  const server = await newServer({
    log: newLog('silent'),
    trustProxy: false,
    hosts: { addresses: ['http://x'], anyAddress: false },
    appUrl: 'http://shop.test',
    openPaths: /./,
    sessionCookie: 'till_session',
  })
  t.after(() => server.close())
  server.post('/plain', async () => 'read')
  server.post('/streamed', { config: { streamed: true } }, () => new Promise(() => {}))
  const { port } = new URL(await server.listen({ port: 0, host: '127.0.0.1' }))
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const begin = async (path: string) => {
    const socket = net.connect(Number(port), '127.0.0.1').setEncoding('utf8')
    let heard = ''
    socket.on('data', (text) => (heard += text)).on('error', () => {})
    const closed = once(socket, 'close')
    const arrived = once(server.server, 'request')
    socket.write(`POST ${path} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 9\r\n\r\n{`)
    await arrived
    return { socket, closed, heard: () => heard }
  }
  const plain = await begin('/plain')
  const streamed = await begin('/streamed')
  t.mock.timers.tick(60_000)
  await plain.closed
  assert.match(plain.heard(), /^HTTP\/1\.1 408 [^]*application\/problem\+json/)
  assert.equal(streamed.heard(), '')
  streamed.socket.destroy()
})
