import assert from 'node:assert/strict'
import fs from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { analyse } from 'scslre'
import { Type } from 'typebox'
import { parseAst } from 'vite'
import { newServer } from '../../src/kit/http.ts'
import { errorForLog, newLog } from '../../src/kit/log.ts'
import { atEnd } from '../support/ends.ts'
import { sharedShop } from '../support/shop.ts'

// A pattern that backtracks takes quadratic time or worse, and blocks everything else. This test uses no clock: an analysis of each
// pattern finds the parts that can repeat, and a pattern that would take for ever never runs.

const SRC = fileURLToPath(new URL('../../src', import.meta.url))
const shop = sharedShop()

/** Searches that start again at every position, on short texts or on texts that no client sends. */
const SEARCHES = new Set([
  // cut to 4,000 characters
  'kit/log.ts',
  // our own hash
  'kit/password-hash.ts',
  // an address of at most 254 characters
  'orders/discounts/offers.ts',
  // our own guides, of some kilobytes
  'pages/guides.ts',
])

/** Finds two repetitions that can match the same text. Throws for syntax that the analysis does not know. */
const slowPlaces = (source: string, flags: string) => analyse({ source, flags }).reports

test('the analysis finds slow patterns', () => {
  for (const slow of ['^[^\\u0000]*[^\\u0000\\s][^\\u0000]*$', '^(?:a+)+$', '^\\s*\\s*x$'])
    assert(slowPlaces(slow, 'u').length > 0, slow)
  assert.deepEqual(slowPlaces('^[a-z]+$', 'u'), [])
})

test('every pattern that a client’s text meets in a schema takes a time in proportion to it', () => {
  shop().compileSchemas()
  const patterns = [...shop().schemaPatterns]
  assert(patterns.length >= 15, String(patterns.length))
  for (const pattern of patterns) assert.deepEqual(slowPlaces(pattern, 'u'), [], pattern)
})

test('so does every other pattern of the service', () => {
  const found: { file: string; pattern: string; flags: string }[] = []
  for (const file of fs.readdirSync(SRC, { recursive: true, encoding: 'utf8' })) {
    if (!file.endsWith('.ts') || file.endsWith('.test.ts')) continue
    // every node of the syntax passes by here
    JSON.stringify(parseAst(fs.readFileSync(path.join(SRC, file), 'utf8'), { lang: 'ts' }), (_name, node) => {
      if (node?.type === 'Literal' && node.regex) found.push({ file, ...node.regex })
      return typeof node === 'bigint' ? String(node) : node
    })
  }
  assert(found.length > 100)
  for (const { file, pattern, flags } of found) {
    const slow = slowPlaces(pattern, flags).filter(
      ({ type }) => !(type === 'Move' && SEARCHES.has(file.replaceAll('\\', '/'))),
    )
    assert.deepEqual(
      slow.map(({ type }) => type),
      [],
      `${file}: ${pattern}`,
    )
  }
})

test('a text that is longer than its schema allows meets no pattern, and the refusal names all problems', async (t) => {
  const server = await newServer({
    log: newLog('silent'),
    trustProxy: false,
    hosts: { addresses: ['http://shop.test'], anyAddress: false },
    appUrl: 'http://shop.test',
    sessionCookie: 'till_session',
  })
  atEnd(t, () => server.close())
  // doubles its time with each letter: run on the text below, it would not end before the sun
  const pattern = '^(?:a+)+$'
  const bounded = Type.String({ maxLength: 10, pattern })
  const body = Type.Object({ bounded, unbounded: Type.String({ pattern }), other: Type.Integer() })
  server.post('/', { schema: { body } }, async () => 'read')
  const post = async (payload: object) => {
    const { statusCode, body: answer } = await server.inject({
      method: 'POST',
      url: '/',
      headers: { host: 'shop.test' },
      payload,
    })
    return {
      statusCode,
      fields: statusCode === 400 ? JSON.parse(answer).fields.map((one: { path: string }) => one.path) : [],
    }
  }
  const long = `${'a'.repeat(20_000)}!`
  assert.deepEqual(await post({ bounded: 'aaa', unbounded: 'aaa', other: 1 }), { statusCode: 200, fields: [] })
  assert.deepEqual(await post({ bounded: long, unbounded: long, other: 'x' }), {
    statusCode: 400,
    fields: ['bounded', 'unbounded', 'other'],
  })
  assert.deepEqual(await post({ bounded: 'b', unbounded: 'b', other: 'x' }), {
    statusCode: 400,
    fields: ['bounded', 'unbounded', 'other'],
  })
})

test('an error with a client’s long text is cut before it is searched for addresses', () => {
  const { message } = errorForLog(new Error(`${'x'.repeat(5000)} bob@example.com`))
  assert.equal((message as string).length, 4000)
})
