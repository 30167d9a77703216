import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { newSigner } from '../kit/signing.ts'
import { ATTEMPT_TTL_SECONDS, type StoredAttempt, attemptCookieName, openAttempt, sealAttempt } from './attempts.ts'

const SECRET = 'a secret of the tests that is long enough'
const PURPOSE = 'sign-in attempt'
const signer = newSigner([SECRET], PURPOSE)
const NOW = Date.UTC(2030, 0, 1)
const ATTEMPT: StoredAttempt = {
  state: 's'.repeat(43),
  nonce: 'n'.repeat(43),
  verifier: 'v'.repeat(43),
  startedAt: NOW,
  returnTo: '/account/?tab=ways-in',
}

/** Any content under a good signature. */
function sign(content: unknown): string {
  const text = Buffer.from(typeof content === 'string' ? content : JSON.stringify(content)).toString('base64url')
  return `${text}.${signer.sign(text)}`
}

test('a sealed attempt opens to the same attempt, with and without the session that links', () => {
  for (const attempt of [ATTEMPT, { ...ATTEMPT, linkSessionId: 'ses_1' }, { ...ATTEMPT, returnTo: '/ü/"\\' }])
    assert.deepEqual(openAttempt(signer, sealAttempt(signer, attempt), NOW), attempt)
})

test('an attempt with a changed, missing or added bit is refused', () => {
  const sealed = sealAttempt(signer, ATTEMPT)
  for (let at = 0; at < sealed.length; at++)
    for (let bit = 0; bit < 8; bit++) {
      const changed = Buffer.from(sealed)
      changed[at]! ^= 1 << bit
      assert.equal(openAttempt(signer, changed.toString('latin1'), NOW), undefined, `${at}:${bit}`)
    }
  const [text, signature] = sealed.split('.')
  const forms = [
    undefined,
    '',
    '.',
    text,
    `${text}.`,
    `.${signature}`,
    `${signature}.${text}`,
    `${sealed}.`,
    `${sealed}=`,
    ` ${sealed}`,
  ]
  for (const form of forms) assert.equal(openAttempt(signer, form, NOW), undefined, form)
  fc.assert(fc.property(fc.string(), (any) => openAttempt(signer, any, NOW) === undefined))
})

test('an attempt is valid for ten minutes, and not before it began', () => {
  const sealed = sealAttempt(signer, ATTEMPT)
  const opensAfter = (ms: number) => openAttempt(signer, sealed, NOW + ms) !== undefined
  assert.deepEqual([0, 1, 599_999, 600_000].map(opensAfter), [true, true, true, true])
  assert.deepEqual([600_001, 3_600_000, 1e12].map(opensAfter), [false, false, false])
  // the clocks of two instances are never quite the same
  assert.deepEqual([-30_000, -30_001, -600_000].map(opensAfter), [true, false, false])
  assert.equal(ATTEMPT_TTL_SECONDS, 600)
})

test('a cookie signed for another purpose, or with another secret, is no attempt', () => {
  for (const other of [newSigner([SECRET], 'download'), newSigner([`${SECRET}!`], PURPOSE)])
    assert.equal(openAttempt(signer, sealAttempt(other, ATTEMPT), NOW), undefined)
  const rotated = newSigner([`${SECRET}!`, SECRET], PURPOSE)
  assert.deepEqual(openAttempt(rotated, sealAttempt(signer, ATTEMPT), NOW), ATTEMPT)
})

test('a cookie of another shape is no attempt, even with our signature', () => {
  const { verifier: _, ...incomplete } = ATTEMPT
  const contents: unknown[] = [
    'no JSON',
    null,
    7,
    [],
    {},
    incomplete,
    { ...ATTEMPT, more: 1 },
    { ...ATTEMPT, state: 's'.repeat(42) },
    { ...ATTEMPT, nonce: 7 },
    { ...ATTEMPT, verifier: ['v'.repeat(43)] },
    { ...ATTEMPT, startedAt: String(NOW) },
    { ...ATTEMPT, startedAt: null },
    { ...ATTEMPT, startedAt: NOW + 0.5 },
    { ...ATTEMPT, returnTo: null },
    { ...ATTEMPT, linkSessionId: null },
  ]
  assert(openAttempt(signer, sign(ATTEMPT), NOW))
  for (const content of contents)
    assert.equal(openAttempt(signer, sign(content), NOW), undefined, JSON.stringify(content))
})

test('each attempt has a cookie of its own, with a valid name', () => {
  assert.equal(attemptCookieName('abcdefghijklmnop_rest-of-it'), 'till_idp_abcdefghijklmnop')
  assert.notEqual(attemptCookieName('A'.repeat(43)), attemptCookieName('B'.repeat(43)))
  fc.assert(fc.property(fc.string(), (state) => /^till_idp_[\w-]{0,16}$/.test(attemptCookieName(state))))
  assert.match(attemptCookieName('a; Domain=evil.test\r\nX: y'), /^[\w-]+$/)
})
