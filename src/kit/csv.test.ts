import assert from 'node:assert/strict'
import net, { type AddressInfo } from 'node:net'
import { test } from 'node:test'
import Fastify from 'fastify'
import { csvText, sendCsv } from './csv.ts'

/** Asks by HTTP/1.0, and returns the bytes and how the connection ended. */
async function ask(port: number): Promise<{ text: string; end: string }> {
  const socket = net.connect(port, '127.0.0.1')
  socket.setEncoding('utf8').write('GET / HTTP/1.0\r\n\r\n')
  let text = ''
  socket.on('data', (chunk) => (text += String(chunk)))
  const end = await new Promise<string>((resolve) => {
    socket.once('end', () => resolve('whole'))
    socket.once('error', ({ code }: NodeJS.ErrnoException) => resolve(String(code)))
  })
  return { text, end }
}

test('no text is a formula, also where the spreadsheet begins a cell at a semicolon', async () => {
  const escaped = {
    '=1+2': "'=1+2",
    'x;=1+2': "x;'=1+2",
    'x; =1+2': "x; '=1+2",
    'x;"=1+2': `x;"'=1+2`,
    'x; "" "@sum(1)': `x; "" "'@sum(1)`,
    'x;"=1;"-2': `x;"'=1;"'-2`,
    'x\t"\uff1d1+2': `x\t"'\uff1d1+2`,
    'x;"y=1': 'x;"y=1',
  }
  for (const [given, shown] of Object.entries(escaped)) {
    const [, line = ''] = (await csvText({ given: (text: string) => text }, [given])).split('\r\n')
    assert.equal(line.replace(/^"(.*)"$/, '$1').replaceAll('""', '"'), shown, given)
  }
})

test('a HEAD request reads no rows', async (t) => {
  let read = 0
  async function* pages() {
    yield [++read]
  }
  const server = Fastify()
  t.after(() => server.close())
  server.get<{ Querystring: { format?: 'csv' } }>('/', (request, reply) =>
    sendCsv(request, reply, 'numbers', { n: (n: number) => n }, pages()),
  )
  const { headers } = await server.inject({ method: 'HEAD', url: '/' })
  assert.equal(headers['content-type'], 'text/csv; charset=utf-8')
  assert.equal(read, 0)
  assert.match((await server.inject('/')).body, /n\r\n1\r\n$/)
  assert.equal(read, 1)
})

test('a CSV that breaks off never looks whole, also where the length is the end of the connection', async (t) => {
  const { promise: arrived, resolve } = Promise.withResolvers<void>()
  let fails = false
  async function* pages() {
    yield [1, 2]
    await arrived
    if (fails) throw new Error('the database is gone')
    yield [3]
  }
  const server = Fastify()
  t.after(() => server.close())
  server.get<{ Querystring: { format?: 'csv' } }>('/', (request, reply) =>
    sendCsv(request, reply, 'numbers', { n: (n: number) => n }, pages()),
  )
  await server.listen({ port: 0, host: '127.0.0.1' })
  const { port } = server.server.address() as AddressInfo
  setImmediate(resolve)
  const whole = await ask(port)
  assert.match(whole.text, /n\r\n1\r\n2\r\n3\r\n$/)
  assert.equal(whole.end, 'whole')
  fails = true
  assert.equal((await ask(port)).end, 'ECONNRESET')
})
