import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { FastifyRequest } from 'fastify'
import { bearerOf, modeOfSecret, newSecret } from './secret.ts'

test('a secret has its mode, 32 random characters and a checksum', () => {
  for (const mode of ['live', 'test'] as const) {
    const secret = newSecret(mode)
    assert.match(secret, new RegExp(`^till_${mode}_[0-9A-Za-z]{38}$`))
    assert.equal(modeOfSecret(secret), mode)
  }
  assert.equal(new Set(Array.from({ length: 1000 }, () => newSecret('live'))).size, 1000)
})

test('every character of the alphabet is used, and none much more than the others', () => {
  const text = Array.from({ length: 3000 }, () => newSecret('live').slice(10, 42)).join('')
  const counts = Map.groupBy(text, (character) => character)
  assert.equal(counts.size, 62)
  const expected = text.length / 62
  for (const [character, all] of counts)
    assert(Math.abs(all.length - expected) < expected / 4, `${character}: ${all.length} of about ${expected}`)
})

test('a mistyped secret is recognised: a wrong, a missing and a swapped character, another mode', () => {
  const secret = newSecret('live')
  for (let at = 10; at < secret.length; at++) {
    const other = secret[at] === 'a' ? 'b' : 'a'
    assert.equal(modeOfSecret(secret.slice(0, at) + other + secret.slice(at + 1)), undefined)
    assert.equal(modeOfSecret(secret.slice(0, at) + secret.slice(at + 1)), undefined)
    if (at > 10 && secret[at] !== secret[at - 1])
      assert.equal(
        modeOfSecret(secret.slice(0, at - 1) + secret[at] + secret[at - 1] + secret.slice(at + 1)),
        undefined,
      )
  }
  assert.equal(modeOfSecret(secret.replace('live', 'test')), undefined)
  for (const wrong of ['', 'till_live_', ` ${secret}`, `${secret}\n`, `${secret}0`, secret.toUpperCase()])
    assert.equal(modeOfSecret(wrong), undefined, JSON.stringify(wrong))
})

test('a bearer token is read whatever it is, and other authorizations are not', () => {
  const given = (authorization?: string) => bearerOf({ headers: { authorization } } as FastifyRequest)
  assert.equal(given('Bearer abc'), 'abc')
  assert.equal(given('bearer  abc '), 'abc')
  assert.equal(given('Bearer'), '')
  assert.equal(given('Basic abc'), undefined)
  assert.equal(given('Bearerabc'), undefined)
  assert.equal(given(undefined), undefined)
})
