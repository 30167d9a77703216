import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { returnPath } from './return-path.ts'

const HOME = '/account/'

test('paths of our own are accepted', () => {
  for (const path of [
    '/',
    '/account/',
    '/shop/products/',
    '/pay/?product=prod_01m7y8ekkx5f8aw8wbn9f0njw7',
    '/a-b/c_d?x=1&y=2.5',
  ])
    assert.equal(returnPath(path, HOME), path)
})

test('paths that could be read as another host, a script, a header or a parent folder are refused', () => {
  const texts = [
    '', '//e', '///e', '/\\e', '\\\\e', '/\\/e', '@e', '/@e', 'e', 'https:e', 'https://e', '/https:e', '%2F%2Fe', '/%2Fe', '/%2f%2fe', '/%5ce', '/%0d%0aX:', '/a\r\nX: y', '/a\n', 'javascript:alert(1)',
    'JaVaScript:alert(1)', '/javascript:alert(1)', '//own-host.evil', '/own-host.evil/', '.evil', '/..', '/../', '/a/../b', '/a/..;/b', '/.', '/;/', '/a/#x', '/a b', '/\t/e', '/ü', '/a?x=//e', '/a?x=%2f', '/a\0', ` /a`, '/a ',
    '/api', '/api/', '/api/auth/idp', '/api?x=1', `/${'a'.repeat(200)}`, 42, null, undefined, ['/a'], { toString: () => '/a' },
  ] // oxfmt-ignore
  for (const text of texts) assert.equal(returnPath(text, HOME), HOME, JSON.stringify(text))
})

test('every accepted path stays on our host when a browser follows it', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.constantFrom('', '/', '//', '/\\', '/%2f'), (text, start) => {
      const { origin, username } = new URL(returnPath(start + text, HOME), 'https://app.shop.example')
      assert.deepEqual([origin, username], ['https://app.shop.example', ''])
    }),
    { numRuns: 2000 },
  )
})
