import assert from 'node:assert/strict'
import http from 'node:http'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { assertProblem, sharedShop, type TestShop } from '../support/shop.ts'

const shared = sharedShop()

const validOrder = async (shop: TestShop) => ({ productId: await shop.product(), email: 'bob@example.com' })

test('a body of 64 KB is read, a larger one is refused, announced or not', async () => {
  const shop = shared()
  const order = await validOrder(shop)
  const ofBytes = (bytes: number) =>
    JSON.stringify({ ...order, note: '' }).replace(
      '""',
      `"${'x'.repeat(bytes - JSON.stringify({ ...order, note: '' }).length)}"`,
    )
  assert.equal(Buffer.byteLength(ofBytes(65_536)), 65_536)
  assert.equal((await shop.call('POST', '/api/checkout', ofBytes(65_536))).status, 201)
  for (const bytes of [65_537, 2_000_000])
    assertProblem(await shop.call('POST', '/api/checkout', ofBytes(bytes)), 413, 'body_too_large')
  assertProblem(await shop.call('POST', '/api/webhooks/sandbox', 'x'.repeat(256 * 1024 + 1)), 413, 'body_too_large')

  const request = http.request(`${shop.url}/api/checkout`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
  })
  const answered = new Promise<http.IncomingMessage>((resolve, reject) =>
    request.on('response', resolve).on('error', reject),
  )
  for (let sent = 0; sent < 80_000; sent += 8_000) request.write('x'.repeat(8_000))
  const answer = await answered
  request.on('error', () => {}).destroy()
  assert.equal(answer.statusCode, 413, 'a body without a length is counted as it comes')
})

test('only JSON in UTF-8 is read', async () => {
  const shop = shared()
  const order = JSON.stringify(await validOrder(shop))
  const types = [
    'text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x', 'text/json', 'application/json5', 'application/jsonx', 'text/html',
    'application/problem+json', 'application/xml', 'json', 'application/json; charset=latin1', 'application/json; charset=utf-16', 'application/json;charset="utf-7"',
    'application/json;x=1;charset=utf-32', 'text/plain; application/json', 'text/plain, application/json', '*/*', ' ',
  ] // oxfmt-ignore
  for (const type of types) {
    const answer = await shop.call('POST', '/api/checkout', order, { 'content-type': type })
    assertProblem(answer, 415, 'unsupported_media_type')
  }
  for (const coding of ['gzip', 'br', 'deflate', 'identity, gzip', 'x'])
    assertProblem(
      await shop.call('POST', '/api/checkout', order, { 'content-encoding': coding }),
      415,
      'unsupported_media_type',
    )
  for (const type of [
    'application/json',
    'application/json; charset=utf-8',
    'application/json;charset="UTF-8"',
    'Application/JSON',
  ])
    assert.equal((await shop.call('POST', '/api/checkout', order, { 'content-type': type })).status, 201, type)
})

test('a compressed bomb is refused before it is unpacked', async () => {
  const { url } = shared()
  const bomb = gzipSync(Buffer.alloc(10_000_000, 32))
  const response = await fetch(`${url}/api/checkout`, {
    method: 'POST',
    body: bomb,
    headers: { 'content-type': 'application/json', 'content-encoding': 'gzip' },
  })
  assert.equal(response.status, 415)
})

test('a body that two readers could understand differently is refused', async () => {
  const shop = shared()
  const { productId, email } = await validOrder(shop)
  const rest = `"productId":"${productId}","email":"${email}"`
  const bodies = [
    '', ' ', '{', '}', '{}{}', '{},', "{'a':1}", '{a:1}', '{"a":01}', '{"a":NaN}', '{"a":1,}', '[1,]', '"', 'nul', 'undefined', '\ufeff{}', `{${rest},}`, `{${rest}}x`, '{"a":"\n"}',
    `{"email":"eve@example.com",${rest}}`, `{${rest},"productId":"x"}`, `{${rest},"productId"${' '.repeat(500)}:"x"}`, `{${rest},"productId"\n\t:"x"}`,
    `{${rest},"product\\u0049d":"x"}`, `{${rest},"a":{"b":1,"b":2}}`, `{${rest},"a":[{"b":1,"b":2}]}`, `{${rest},"\\\\":1,"\\\\":2}`,
    `{${rest},"__proto__":{"amount":1}}`, `{${rest},"__proto__"${' '.repeat(500)}:1}`, `{${rest},"\\u005f_proto__":1}`, `{${rest},"a":{"__proto__":1}}`,
    `{${rest},"a":${'['.repeat(16)}${']'.repeat(16)}}`, `{${rest},"a":${'{"a":'.repeat(16)}1${'}'.repeat(16)}}`, '['.repeat(60_000), '['.repeat(30_000) + ']'.repeat(30_000),
    '{"a":'.repeat(10_000),
  ] // oxfmt-ignore
  for (const body of bodies) assertProblem(await shop.call('POST', '/api/checkout', body), 400, 'malformed_body')
  assert.equal(({} as { amount?: number }).amount, undefined)
  // as deep as is allowed; the same name in different places; strings that look like members
  for (const more of [
    `"a":${'['.repeat(15)}${']'.repeat(15)}`,
    '"a":{"b":1},"c":{"b":1}',
    '"a":["b","b","b"]',
    '"a":"\\"a\\":","b":"a"',
  ])
    assert.equal((await shop.call('POST', '/api/checkout', `{${rest},${more}}`)).status, 201, more)
})

test('bytes that are not UTF-8 are refused, or are no address', async () => {
  const { url } = shared()
  for (const bytes of [
    Buffer.from([0xff, 0xfe, 0x7b, 0x00]),
    Buffer.from('{"productId":"x","email":"b\xf6b@example.com"}', 'latin1'),
    Buffer.from([0x7b, 0xc0, 0x80, 0x7d]),
  ]) {
    const response = await fetch(`${url}/api/checkout`, {
      method: 'POST',
      body: bytes,
      headers: { 'content-type': 'application/json' },
    })
    assert.equal(response.status, 400)
    assert.match(((await response.json()) as { code: string }).code, /malformed_body|validation_failed|bad_request/)
  }
})
